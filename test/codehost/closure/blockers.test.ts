/**
 * Each reason that a follow-through job may be left occupied with, by something that brings it
 * about: the state is as it was, byte for byte, and only reads were sent. What only a publication
 * can end with is shown beside it; an account is never so large that it is refused but by a limit
 * of the test (rules.test.ts).
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { fail } from '../../../src/base/errors.js'
import {
  closureBlocked, closureBlockers, type ClosureBlocker,
} from '../../../src/codehost/closure/blockers.js'
import { closureLabel, planLabel } from '../../../src/codehost/constants.js'
import type { ReadLimits } from '../../../src/codehost/closure/closure-limits.js'
import {
  appendEntry, checkpointHistory, effectHistory,
} from '../../../src/codehost/jobs/histories.js'
import { jobCollection, type Job } from '../../../src/codehost/jobs/job-rows.js'
import { registerArtifact } from '../../../src/governance/artifacts.js'
import type { Gov } from '../../../src/governance/context.js'
import { ContactError } from '../../../src/net/contact-error.js'
import { historyHead } from '../../../src/state/history/read-history.js'
import { must } from '../../support/must.js'
import { closeWith, type Instead } from '../../support/codehost/close-with.js'
import { closing, type Closing } from '../../support/codehost/closing.js'
import { repositoryBody } from '../../support/codehost/plain-host.js'
import { t } from '../../support/tests-in-slices.js'
import type { Loose } from '../../world/place.js'

/** With which limits, steps and parts something is closed. */
interface How {
  readonly limits?: Partial<ReadLimits>
  readonly step?: (name: string) => void
  readonly instead?: Instead
}

/** How a reason comes about: what is done before, and with what is closed. */
interface Cause {
  readonly before?: (at: Closing, job: string) => unknown
  readonly request?: Loose
  readonly how?: (at: Closing) => How
}

const fault = (name: string, after: number, value?: number): Cause => ({
  before: (at) => at.sandbox.faults.set(name, {
    service: 'codehost', times: 1, after, ...(value === undefined ? {} : { value }),
  }),
})

const answer = (route: 'repository' | 'issue', status: number, body: unknown): Cause => ({
  before: (at) => at.sandbox.faults.reply(
    { status, body: JSON.stringify(body) }, { service: 'codehost', route, times: 1 }),
})

const row = (change: (job: Job) => Partial<Job>): Cause => ({
  before: (at, job) => at.transact((tx) => {
    const now = at.job(job)
    tx.put(jobCollection, job, { ...now, ...change(now) })
  }),
})

const times = { at: '2026-01-01T00:00:00.000Z', attempt: 1, operation_id: 'op', fence: 1 }

const ledger = (entry: Parameters<typeof appendEntry>[3]): Cause => ({
  before: (at, job) => at.transact((tx) => appendEntry(tx, effectHistory, job, entry as never)),
})

const full: Cause = {
  before: (at, job) => at.transact((tx) => {
    const head = historyHead(tx, checkpointHistory, job)
    tx.append(checkpointHistory, job, head, Array.from({ length: 4_096 - head.entries }, () =>
      ({ ...times, what: 'released' as const, operation_id: null, reason: null })))
  }),
}

/** A plan of one more effect, of a kind that nobody knows. */
const unknownKind: Cause = {
  before: (at, job) => {
    const ref = at.gov.store.artifacts.write(planLabel, Buffer.from(JSON.stringify({
      effects: [{ action: 'issue.create' }, { action: 'issue.delete' }],
    })))
    return at.transact((tx, now) => {
      const { plan, owner, ...rest } = at.job(job)
      const { artifact_id } = registerArtifact(tx, now, {
        label: planLabel, ref, owner, taskId: null, adopted: true,
      })
      tx.put(jobCollection, job, { ...rest, owner, plan: { ...plan, artifact_id } })
    })
  },
}

const nobody: Instead = {
  client: {
    request: async () => {
      throw new ContactError('connect_failed', 'none', 'Nobody listens.')
    },
  },
}

/** The same with some members of its own; methods stay those of the one behind it. */
const over = <T extends object>(behind: T, own: Partial<T>): T => new Proxy(behind, {
  get: (target, name) => {
    if (name in own) return own[name as keyof T]
    const value: unknown = Reflect.get(target, name, target)
    return typeof value === 'function' ? (value.bind(target) as unknown) : value
  },
})

/** Other bytes lie under the name of the account. */
const otherBytes = (store: Gov['store']): Gov['store'] => over(store, {
  artifacts: over(store.artifacts, {
    write: (label, ...rest) => {
      if (label === closureLabel) throw fail.damaged('artifact_damaged', 'Other bytes.')
      return store.artifacts.write(label, ...rest)
    },
  }),
})

const late = (at: Closing): How => {
  let replies = 0
  return {
    step: (step) => {
      if (step === 'closure.replied' && (replies += 1) === 1) at.clock.advance(120_000)
    },
  }
}

/** Of a job whose number is known. */
const numbered = {
  remote_id_differs: { request: { remote_id: 7 } },
  remote_not_found: fault('read_not_there', 1),
  readback_differs: fault('issue_other_body', 0),
  readback_other_time: fault('read_old_time', 1),
  readback_time_missing: fault('read_no_time', 1),
  readback_other_author: fault('read_other_author', 1),
  readback_author_missing: fault('read_no_author', 1),
  readback_ambiguous: answer('issue', 200, []),
  readback_malformed: fault('read_malformed', 1),
  readback_encoded: fault('read_gzip', 1),
  readback_redirected: fault('read_redirect_301', 1),
  readback_too_large: fault('read_oversize_chunked', 1, 1_048_577),
  readback_truncated: fault('read_truncate', 1),
  host_failed: fault('read_status_500', 1),
  host_unreachable: { how: () => ({ instead: nobody }) },
  reply_lost: fault('read_close_before_headers', 1),
  rate_limited: fault('read_limit_spent', 1),
  token_refused: answer('issue', 401, { message: 'Bad credentials' }),
  repository_replaced: answer('repository', 200,
    repositoryBody({ full_name: 'operator/notes', name: 'notes', id: 99 })),
  deadline_elapsed: { how: late },
  gets_exceeded: { how: () => ({ limits: { getsMax: 1 } }) },
  bytes_exceeded: { how: () => ({ limits: { rawBytesMax: 10 } }) },
  prepared_bytes_missing: row(({ plan }) => ({ plan: { ...plan, artifact_id: 'art_none' } })),
  prepared_bytes_altered: row(({ plan }) => ({ plan: { ...plan, sha256: '0'.repeat(64) } })),
  effect_kind_unknown: unknownKind,
  inventory_incomplete: row(() => ({ contacted: 2 })),
  artifact_conflict: { how: () => ({ instead: { store: otherBytes } }) },
  unidentified_intent: ledger({
    ...times, type: 'contacted', effect: 2, body_sha256: 'a'.repeat(64),
  }),
} as const satisfies Partial<Record<ClosureBlocker, Cause>>

/** Every file of artifacts/, named or not: nothing is staged where no record is begun. */
const stored = ({ place: { stateDir } }: Closing): readonly string[] =>
  readdirSync(join(stateDir, 'artifacts'), { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(stateDir, 'artifacts', name)).isFile()).sort()

const isUnchanged = async (
  t: Test, at: Closing, job: string, reason: string, { before, request, how }: Cause,
): Promise<void> => {
  await before?.(at, job)
  const [bytes, files] = [at.bytes(), stored(at)]
  let told = ''
  const seen = await at.during(async () => {
    if (how !== undefined) {
      const { limits = {}, step, instead } = how(at)
      told = await closeWith(at, job, limits, step, instead)
    } else {
      const ran = await at.close(job, at.request(job, request))
      t.equal(ran.status, 7, `${reason}: ${ran.stderr}`)
      told = ran.error().reason ?? ''
    }
  })
  at.sandbox.faults.clear()
  t.equal(told, reason)
  t.ok(seen.length <= 2 && seen.every((one) => one.startsWith('GET ')), `${reason}: ${seen.join()}`)
  t.strictSame([...at.bytes()], [...bytes], `${reason}: byte for byte`)
  t.strictSame(stored(at), files, `${reason}: nothing is staged`)
  t.equal(at.connection().active_job_id, job, reason)
}

t.test('C-094 C-202 C-217 each reason for which a numbered job stays occupied leaves the state as it was, byte for byte', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Blocked', 'numbered')
  const whole = at.job(job)
  for (const [reason, cause] of Object.entries(numbered)) {
    await isUnchanged(t, at, job, reason, cause)
    await at.transact((tx) => tx.put(jobCollection, job, whole))
  }
})

t.test('C-192 C-273 so does each reason for which one without a number does, or one with local work in its ledger', async (t) => {
  const at = await closing(t)
  const first = await at.unknown('Alike')
  must(await at.close(first, at.request(first, { remote_id: 1 })))
  const job = await at.unknown('Alike')
  await isUnchanged(t, at, job, 'remote_id_required', {})
  await isUnchanged(t, at, job, 'remote_taken', { request: { remote_id: 1 } })
  await isUnchanged(t, at, job, 'producer_unproved', ledger({
    ...times, type: 'spawn', producer_id: 'prd', binding_sha256: 'a'.repeat(64),
  }))
})

t.test('C-073 so does a history without room', async (t) => {
  const at = await closing(t)
  await isUnchanged(t, at, await at.unknown('Full', 'numbered'), 'history_full', full)
})

t.test('the reasons shown here are of the closed list', async (t) => {
  for (const reason of Object.keys(numbered)) t.ok(reason in closureBlockers, reason)
})

t.test('whoever is asked for a number is told the flag of an issue and that of a publication', (t) => {
  const asking = (Object.keys(closureBlockers) as ClosureBlocker[])
    .map((reason) => closureBlocked(reason, 'job_1').next ?? '')
    .filter((next) => next.includes('-id N') || next.includes('-number N'))
  for (const next of asking) {
    for (const flag of ['--remote-id N', '--pr-number N']) {
      t.match(next, `close-capacity job_1 --idempotency-key UUID ${flag}`)
    }
  }
  t.equal(asking.length, 4)
  t.end()
})
