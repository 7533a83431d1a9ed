/**
 * Preparing and previewing a publication of 2,000 files and 64 MiB, once text and once
 * incompressible: the folder read, sealed and planned, the plan sealed and opened again, beside
 * `git add`, `write-tree` and `commit-tree` on the same files. `npm run bench -- prepare`.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '../src/base/ids.js'
import { publicationLabel, sourceLabel } from '../src/codehost/constants.js'
import { emptyTree } from '../src/codehost/git/tree.js'
import { appendEntry, effectHistory } from '../src/codehost/jobs/histories.js'
import { publicationKind } from '../src/codehost/jobs/kinds.js'
import { registerJobArtifact } from '../src/codehost/jobs/prepared.js'
import { sealPublication } from '../src/codehost/jobs/publication/seal.js'
import { shownPublication } from '../src/codehost/jobs/publication/shown.js'
import { authorityDigest } from '../src/codehost/jobs/digests.js'
import type { Job } from '../src/codehost/jobs/job-rows.js'
import { planPublication, type PublicationInput } from '../src/codehost/plan/publication.js'
import type { ProducerTools } from '../src/codehost/producer/tools.js'
import { readSource } from '../src/codehost/source/read-folder.js'
import { createStore, openStore } from '../src/state/store.js'
import type { Store } from '../src/state/types.js'
import { median } from './pairs.js'
import { peakMib } from './peak.js'
import type { BenchRow } from './types.js'

const files = 2_000
const fileBytes = Math.floor((64 * 1024 * 1024) / files)
const rounds = 5
const ratioMax = 0.75
const peakMibMax = 300

/** Words in no order that repeats soon, as source text has them. */
const textOf = (seed: number): Buffer => {
  let [text, at] = ['', 0]
  while (text.length < fileBytes) {
    const hex = createHash('sha1').update(`${seed} ${at}`).digest('hex')
    const [name, of, value] = [hex.slice(0, 5), hex.slice(5, 8), hex.slice(8, 12)]
    text += `  const ${name} = read(${of}, 'value of ${value}')\n`
    at += 1
  }
  return Buffer.from(text.slice(0, fileBytes))
}

const makeFolder = (dir: string, kind: 'text' | 'incompressible'): void => {
  for (let n = 0; n < files; n += 1) {
    const folder = join(dir, `part-${n % 40}`, `of-${n % 7}`)
    mkdirSync(folder, { recursive: true })
    const bytes = kind === 'text' ? textOf(n) : randomBytes(fileBytes)
    writeFileSync(join(folder, `file-${n}.txt`), bytes)
  }
}

const person = { name: 'B', email: 'b@c', date: '2026-01-02T03:04:05Z' }

const tool = { path: '/usr/bin/none', version: '0', sha256: '0'.repeat(64) }
const tools: ProducerTools = {
  helper: { path: tool.path, sha256: tool.sha256 }, addon: { path: tool.path, sha256: tool.sha256 },
  node: tool, git: tool,
}

/** Everything of a preparation behind the reads of the host; gives the job. */
const prepareOnce = async (store: Store, source: string): Promise<Job> => {
  const draft = await readSource({
    dir: source, base: emptyTree, artifacts: store.artifacts, ownFolders: [store.dir],
  })
  const input: PublicationInput = {
    host: { base: 'https://api.example', loopback: true, earlierPosts: 0 },
    repository: { owner: 'o', name: 'r' },
    base: { branch: 'main', commit: '0'.repeat(40), tree: emptyTree },
    files: draft.files, branch: 'b', title: 'T', body: '',
    commit: { author: person, committer: person, message: 'M\n' }, historyEntryBytes: () => 900,
  }
  const plan = planPublication(input)
  const contents = draft.seal()
  const jobId = newId('job')
  const sealed = await sealPublication(store.artifacts, {
    jobId, repository: 'o/r', input, plan, marks: draft.marks, tools, contents,
  })
  const artifactId = newId('art')
  const bare = {
    job_id: jobId, owner: 'prn', repository: 'o/r',
    native_kind: publicationKind, connection_id: 'cnn', root: 'root',
    plan: { artifact_id: artifactId, sha256: sealed.plan.sha256, effects: plan.posts.length },
  } as Job
  const job = { ...bare, authority_sha256: authorityDigest(bare) }
  await store.transact('bench', (tx) => {
    const now = new Date().toISOString()
    registerJobArtifact(tx, now, job, { artifactId, label: publicationLabel, ref: sealed.plan })
    registerJobArtifact(tx, now, job, {
      artifactId: sealed.contentsId, label: sourceLabel, ref: contents,
    })
    appendEntry(tx, effectHistory, jobId, {
      type: 'plan', at: now, artifact_id: artifactId, sha256: job.plan.sha256,
      effects: job.plan.effects, authority_sha256: job.authority_sha256,
    })
  })
  return job
}

/** In a process of its own: prepares and previews once; milliseconds and peak memory in MiB. */
export const prepareInChild = async (
  dir: string, configDir: string, source: string,
): Promise<string> => {
  const store = openStore({ dir, configDir, mode: 'write' })
  const start = performance.now()
  const job = await prepareOnce(store, source)
  const prepared = performance.now()
  const shown = shownPublication({ store }, store.read(), job)
  const ms = performance.now() - start
  if (shown.changes.length !== files) throw new Error('the preview lacks files')
  store.close()
  return JSON.stringify({
    ms, preview: performance.now() - prepared, peak: peakMib(),
  })
}

const gitOnce = (base: string, source: string, n: number): number => {
  const gitDir = join(base, `git-${n}`)
  const env = {
    PATH: process.env['PATH'], HOME: base, GIT_DIR: gitDir, GIT_WORK_TREE: source,
    GIT_CONFIG_NOSYSTEM: '1',
  }
  const run = (...args: string[]): string =>
    execFileSync('git', args, { env, cwd: source, encoding: 'utf8' }).trim()
  execFileSync('git', ['init', '-q', '--bare', gitDir], { env: { PATH: process.env['PATH'] } })
  const start = performance.now()
  run('add', '-A', '.')
  const tree = run('write-tree')
  run('-c', 'user.name=B', '-c', 'user.email=b@c', 'commit-tree', tree, '-m', 'M')
  const ms = performance.now() - start
  rmSync(gitDir, { recursive: true })
  return ms
}

const rowsFor = (base: string, kind: 'text' | 'incompressible'): BenchRow[] => {
  const source = join(base, kind)
  makeFolder(source, kind)
  const place = { dir: join(base, `state-${kind}`), configDir: join(base, 'config') }
  createStore({ ...place, profile: {} }).close()
  const program = join(base, 'prepare.mjs')
  writeFileSync(program, `import { prepareInChild } from ${JSON.stringify(import.meta.url)}\n` +
    'console.log(await prepareInChild(...process.argv.slice(2)))\n')
  const [ours, theirs]: [number[], number[]] = [[], []]
  const [peaks, previews]: [number[], number[]] = [[], []]
  for (let n = 0; n < rounds; n += 1) {
    theirs.push(gitOnce(base, source, n))
    const child = spawnSync(process.execPath, [program, place.dir, place.configDir, source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const { ms, peak, preview } = JSON.parse(child.stdout.toString()) as {
      ms: number
      peak: number
      preview: number
    }
    ours.push(ms)
    previews.push(preview)
    peaks.push(peak)
  }
  const ratio = median(ours) / median(theirs)
  const peak = Math.max(...peaks)
  return [
    {
      name: `prepare: ${files} files, 64 MiB, ${kind}, over git add, write-tree, commit-tree`,
      ratio, target: `at most ${ratioMax}`, pass: ratio <= ratioMax,
      detail: `${median(ours).toFixed(0)} ms over ${median(theirs).toFixed(0)} ms; read, sealed, `
        + `synced, planned, and ${median(previews).toFixed(0)} ms of it previewed`,
    },
    {
      name: `prepare: peak MiB of the process, ${kind}`, ratio: peak,
      target: `at most ${peakMibMax}`, pass: peak <= peakMibMax,
      detail: 'the whole of Node and the plan included',
    },
  ]
}

/** Both kinds of content. */
export const run = async (): Promise<BenchRow[]> => {
  const base = mkdtempSync(join(tmpdir(), 'sallyport-prepare-'))
  try {
    return [...rowsFor(base, 'text'), ...rowsFor(base, 'incompressible')]
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}
