/** The stage of a producer on its disk: durable with its names, and in no folder of others. */
import {
  existsSync, mkdirSync, readFileSync, readdirSync, readlinkSync, renameSync, statSync,
  symlinkSync, unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../../src/base/canonical.js'
import { loadEvidence } from '../../../src/codehost/producer/evidence.js'
import { createStage, removeStage } from '../../../src/codehost/producer/stage.js'
import { onCall } from '../../support/codehost/on-call.js'
import { madeFor, shipped, type Produced } from '../../support/codehost/producing.js'
import { t } from '../../support/tests-in-slices.js'

const person = { name: 'a', email: 'a', date: '2024-01-01T00:00:00Z' }

/** Makes the stage of a job anew. */
const makeAgain = ({ binding, job, run, stateDir, plan }: Produced): unknown => {
  const { node, git, addon } = binding
  const helper = { path: shipped(), sha256: sha256Hex(readFileSync(shipped())) }
  return createStage(stateDir, {
    tools: { helper, node, git, addon }, job, manifest: run.manifest, tokenOf: () => 'token',
    commit: {
      message: 'One\n', tree: plan.tree.id, parents: ['1'.repeat(40), '2'.repeat(40)],
      author: person, committer: person,
    },
  })
}

const foldersBelow = (dir: string): readonly string[] => [dir, ...readdirSync(dir)
  .map((name) => join(dir, name)).filter((path) => statSync(path).isDirectory())
  .flatMap(foldersBelow)]

t.test('each file of a stage and each name in its folders is synced once it is bound', async (t) => {
  const produced = await madeFor(t)
  const [names, files] = [new Map<string, readonly string[]>(), new Set<string>()]
  await onCall('fsyncSync', (_number, [fd]) => {
    const path = readlinkSync(`/proc/self/fd/${String(fd)}`)
    if (statSync(path).isDirectory()) names.set(path, readdirSync(path))
    else files.add(path)
  }, async () => makeAgain(produced))
  const { stage } = produced
  for (const folder of foldersBelow(stage)) {
    t.strictSame(names.get(folder) ?? [], readdirSync(folder), folder.slice(stage.length))
    for (const name of readdirSync(folder)) {
      const path = join(folder, name)
      t.ok(statSync(path).isDirectory() || files.has(path), path.slice(stage.length))
    }
  }
  t.ok(names.has(join(stage, 'objects/11')), 'the stand-ins of both parents')
})

t.test('a link in the place of a folder that stages need leads nobody into another one', async (t) => {
  const produced = await madeFor(t)
  const { stateDir, job: { job_id: job }, dir } = produced
  const outside = join(dir, 'outside')
  const acts: Readonly<Record<string, () => unknown>> = {
    'made': () => makeAgain(produced), 'removed': () => removeStage(stateDir, job),
    'loaded': () => loadEvidence(stateDir, job),
  }
  for (const [folder, names] of [
    ['stages', ['loaded', 'made', 'removed']], ['run', ['made', 'removed']],
  ] as const) {
    const own = join(stateDir, folder)
    if (!existsSync(own)) mkdirSync(own)
    renameSync(own, outside)
    symlinkSync(outside, own)
    const before = readdirSync(outside, { recursive: true })
    for (const name of names) {
      t.throws(acts[name] ?? (() => undefined), {
        code: 'folder_replaced', details: { folder },
      }, `${folder}: ${name}`)
    }
    t.strictSame(readdirSync(outside, { recursive: true }), before)
    unlinkSync(own)
    renameSync(outside, own)
  }
  t.ok(loadEvidence(stateDir, job).binding, 'and it is there as before')
})
