/** Where the account of a closure is stored: no link is followed, and nothing is replaced. */
import {
  copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync,
  unlinkSync, writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { closureCollection } from '../../../src/codehost/jobs/closed/closed-job-rows.js'
import { collections } from '../../../src/governance/rows.js'
import type { Ran } from '../../world/place.js'
import { failure, must } from '../../support/must.js'
import { closing, type Closing } from '../../support/codehost/closing.js'
import { onCall } from '../../support/codehost/on-call.js'
import { t } from '../../support/tests-in-slices.js'

/** Acts just before the account gets its name: it is the last of what a closure stores. */
const beforeAccount = async (
  at: Closing, job: string, act: (path: string, bytes: string) => void,
): Promise<Ran> => {
  let stored = 0
  let ran: Ran | undefined
  await onCall('linkSync', (_number, [from, to]) => {
    const name = basename(String(to))
    if (!/^[0-9a-f]{64}$/.test(name)) return
    stored += 1
    if (stored === 2) {
      act(join(at.place.stateDir, 'artifacts', name.slice(0, 2), name), String(from))
    }
  }, async () => void (ran = await at.close(job, at.request(job))))
  if (ran === undefined || stored < 2) throw new Error('a journal and an account were stored')
  return ran
}

const isOpen = (at: Closing, job: string): boolean => at.connection().active_job_id === job
  && at.view().all(closureCollection).length === 0

t.test('C-259 a link under the name of an account is neither followed nor replaced, and what it names is untouched', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Link', 'numbered')
  const outside = at.place.write('outside', 'untouched')
  let planted = ''
  const ran = await beforeAccount(at, job, (path) => {
    planted = path
    symlinkSync(outside, path)
  })
  t.not(ran.status, 0)
  t.ok(isOpen(at, job))
  t.equal(readFileSync(outside, 'utf8'), 'untouched')
  t.strictSame(readdirSync(join(planted, '..'), { withFileTypes: true })
    .filter((one) => one.name === basename(planted)).map((one) => one.isSymbolicLink()), [true])
  unlinkSync(planted)
  must(await at.close(job, at.request(job)))
})

t.test('C-259 a link in the place of a shard, or of the whole folder, is not followed either', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Shards', 'numbered')
  const { stateDir } = at.place
  const [artifacts, away] = [join(stateDir, 'artifacts'), at.place.path('away')]
  const before = at.bytes()
  const ways: Readonly<Record<string, () => void>> = {
    shards: () => {
      renameSync(artifacts, away)
      mkdirSync(artifacts)
      for (let number = 0; number < 256; number += 1) {
        const name = number.toString(16).padStart(2, '0')
        mkdirSync(join(away, name), { recursive: true })
        symlinkSync(join(away, name), join(artifacts, name))
      }
    },
    folder: () => {
      renameSync(artifacts, away)
      symlinkSync(away, artifacts)
    },
  }
  for (const [name, replace] of Object.entries(ways)) {
    let held: string[] = []
    const ran = await at.close(job, at.request(job), {
      at: (step) => {
        if (step !== 'closure.proved') return
        replace()
        held = readdirSync(away, { recursive: true }).map(String).sort()
      },
    })
    t.not(ran.status, 0, name)
    t.strictSame(readdirSync(away, { recursive: true }).map(String).sort(), held,
      `${name}: nothing was written behind a link`)
    rmSync(artifacts, { recursive: true })
    cpSync(away, artifacts, { recursive: true })
    rmSync(away, { recursive: true })
    t.ok(isOpen(at, job), name)
  }
  t.strictSame([...at.bytes()], [...before])
  must(await at.close(job, at.request(job)))
})

t.test('C-260 the same bytes under the name of an account let the closure go on', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Same', 'numbered')
  must(await beforeAccount(at, job, (path, own) => copyFileSync(own, path)))
  t.notOk(isOpen(at, job))
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout)
})

t.test('C-261 other bytes under the name of an account fail the closure, and stay', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Other', 'numbered')
  let planted = ''
  const ran = await beforeAccount(at, job, (path) => {
    planted = path
    writeFileSync(path, 'other bytes')
  })
  t.hasStrict(failure(ran), { status: 7, code: 'closure_blocked' })
  t.equal(ran.error().reason, 'artifact_conflict')
  t.equal(readFileSync(planted, 'utf8'), 'other bytes')
  t.ok(isOpen(at, job))
  unlinkSync(planted)
  must(await at.close(job, at.request(job)))
})

t.test('C-217 C-218 an account without a record is no evidence and closes nothing, whoever retries', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Orphan', 'numbered')
  const request = at.request(job)
  const stored = () => readdirSync(join(at.place.stateDir, 'artifacts'), { recursive: true }).length
  const before = stored()
  const died = await at.close(job, request, {
    at: (step) => {
      if (step === 'closure.staged') throw new Error('the process dies here')
    },
  })
  t.match(died.stderr, 'the process dies here')
  t.ok(isOpen(at, job))
  t.strictSame(await at.json(['codehost', 'closures']), [])
  t.hasStrict(await at.json(['codehost', 'inspect', job]), { verdict: 'inconclusive' })
  t.ok(stored() > before, 'journal and account lie there')
  const names = at.view().all(collections.artifacts).length
  at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 2 })
  t.hasStrict((await at.close(job, request)).error(), { reason: 'remote_not_found' })
  at.sandbox.faults.clear()
  t.equal(at.view().all(collections.artifacts).length, names)
  must(await at.close(job, request))
})
