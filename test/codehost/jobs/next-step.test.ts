/**
 * The way on of any job that there can be: it is what the page says of its state, its verb takes
 * the job as it stands, and a script that follows it comes to an end.
 */
import * as fc from 'fast-check'
import t from 'tap'
import { SallyportError } from '../../../src/base/errors.js'
import { closableStates } from '../../../src/codehost/closure/eligible.js'
import { isGivenUpPartly, isIdle, isUnread, unreadEnd } from '../../../src/codehost/jobs/change.js'
import { jobDocument } from '../../../src/codehost/jobs/jobs-contract.js'
import { followThroughKind, publicationKind } from '../../../src/codehost/jobs/kinds.js'
import { requireState } from '../../../src/codehost/jobs/reconcile-checks.js'
import type { Job } from '../../../src/codehost/jobs/job-rows.js'
import { nextStep } from '../../../src/codehost/jobs/next-step.js'
import { publishStep } from '../../../src/codehost/jobs/publish.js'
import type { View } from '../../../src/state/types.js'
import { rowIsOf, rowOf, stateRows, verbOfWay } from '../../support/codehost/states-table.js'

const sha = 'a'.repeat(64)
const at = '2026-11-24T12:00:00.000Z'

const like = (more: Partial<Job>): Job => ({
  job_id: 'job_x', revision: 7, native_kind: followThroughKind,
  capability: 'work.codehost-followthrough.v1', state: 'prepared', reason: null, owner: 'p',
  root: 'root_x', goal_id: 'g', goal_revision: 1, connection_id: 'cnn_x',
  repository: 'octo-org/hello', repository_id: 7,
  consent: {
    consent_id: 'con_x', binding_sha256: sha, revision: 1, policy_fence: 0, expires_at: at,
  },
  vault: { id: 'v', owner: 'p', name: 'n', updates: 1, sealed_sha256: sha, sha256: sha },
  token_fingerprint: 'f', actions: ['issue.create'], authority_sha256: sha, input_sha256: sha,
  run_sha256: null, idempotency_key: 'k', request_sha256: sha,
  plan: { artifact_id: 'art_x', sha256: sha, effects: 1 }, preview_sha256: sha, approval: null,
  task_id: null, attempt: 0, fence: null, reserved: false, contacted: 0, created: 0, remote: null,
  receipt_id: null, closed: null, created_at: at, updated_at: at, ...more,
})

const reasons = [
  null, 'interrupted_after_contact', 'interrupted_before_contact', 'interrupted_after_spawn',
  'incomplete', 'goal_changed', 'cancelled_by_owner', 'remote_taken', 'reset', 'status_422',
  'status_500', 'reply_differs', 'reply_other_time', 'codehost_rate_limited',
  'codehost_token_refused', 'producer_start_missing', 'producer_not_begun', 'not_sent',
  'records_unread',
]

/** Reasons that a state has only where something else holds, too. */
const fits = ({ state, reason, contacted, reserved }: Job): boolean => {
  if (reason === 'interrupted_after_spawn' || reason?.startsWith('producer_') === true) {
    return contacted === 0
  }
  if (reason === 'records_unread') {
    return ['cancelled', 'unknown_external_effect'].includes(state)
      || (state === 'blocked' && contacted === 0 && !reserved)
  }
  if (reason === 'cancelled_by_owner') return state === 'cancelled' || contacted > 0
  return reason !== 'remote_taken' || (state === 'blocked' && contacted > 0)
}

const counts = fc.tuple(
  fc.boolean(), fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 6 }),
  fc.integer({ min: 0, max: 6 }), fc.boolean(),
)

/** Any job that records of this program leave: every state, with what it implies. */
const anyJob: fc.Arbitrary<Job> = fc.record({
  state: fc.constantFrom(
    'prepared', 'approved', 'running', 'succeeded', 'unknown_external_effect', 'blocked',
    'failed', 'cancelled',
  ), reason: fc.constantFrom(...reasons), counts, held: fc.boolean(), closed: fc.boolean(),
  until: fc.constantFrom(undefined, at),
} as const).map(({ state, reason, counts: [isFollow, planned, sent, made, numbered], ...of }) => {
  const effects = isFollow ? 1 : Math.max(planned, 4)
  const isIdle = ['prepared', 'approved', 'cancelled'].includes(state)
  const contacted = state === 'succeeded' ? effects : isIdle ? 0 : Math.min(sent, effects)
  const isWhole = state === 'succeeded' || (state === 'blocked' && contacted > 0)
  const created = isWhole ? contacted : Math.min(made, contacted)
  const reserved = state === 'running' || state === 'unknown_external_effect'
    || ((state === 'blocked' || state === 'failed') && (contacted > 0 || of.held))
  const isNumbered = contacted === effects && (numbered || created === effects)
  const mayClose = reserved && closableStates.includes(state) && of.closed
  return like({
    native_kind: isFollow ? followThroughKind : publicationKind, state, reason, contacted, created,
    plan: { artifact_id: 'art_x', sha256: sha, effects },
    reserved: reserved && !mayClose, fence: reserved ? 3 : null,
    remote: isNumbered ? { effect: effects, id: 12 } : null,
    ...(of.until === undefined ? {} : { retry_at: of.until }),
    closed: mayClose ? { closure_id: 'cls_x', at, fence: 3 } : null,
  })
}).filter((job) => fits(job) && !(job.state === 'failed' && job.reserved && job.contacted === 0))

const rows = stateRows()

t.test('the page has a row for every state, and no row that no job is in', async (t) => {
  t.strictSame(rows.map(({ state }) => state), [...new Set(rows.map(({ state }) => state))])
  t.strictSame(rows.map(({ state }) => state).sort(), Object.keys(rowIsOf).sort())
  // A count of what was met, so not by the chance of a run: some rows are one job of a thousand.
  const jobs = fc.sample(anyJob, { numRuns: 20_000, seed: 1 })
  const seen = new Set(jobs.map((job) => rowOf(job, rows).state))
  // What only its task tells.
  seen.add('`succeeded`, read back after its run')
  t.strictSame([...seen].sort(), Object.keys(rowIsOf).sort())
})

t.test('C-020 C-022 the way on of any job is that of its row on the page: its command, and what holds its connection', async (t) => {
  const verbs = new Set<string | undefined>()
  fc.assert(fc.property(anyJob, fc.constantFrom(undefined, 4), (job, revision) => {
    const { connection, commands, state } = rowOf(job, rows)
    const { command, forGood, text } = nextStep(job, revision)
    if (text === '' || text.includes('undefined') || text.includes('null')) throw new Error(text)
    if ((connection !== 'free') !== job.reserved) throw new Error(`${state}: ${job.reserved}`)
    if ((connection === 'occupied for good') !== forGood) throw new Error(`${state}: ${forGood}`)
    const [, words] = /^sallyport codehost (.*)/.exec(command ?? '') ?? []
    const verb = words === undefined ? undefined : verbOfWay(words)
    verbs.add(verb)
    const shows = verb === 'jobs' && job.state === 'running'
    if (!shows && (verb === undefined ? commands.length > 0 : !commands.includes(verb))) {
      throw new Error(`${state} names ${command}, and not one of ${commands.join()}`)
    }
  }), { numRuns: 10_000 })
  t.ok(verbs.has(undefined) && verbs.size > 5, `they name ${[...verbs].join()}`)
})

const passes = (work: () => void): boolean => {
  try {
    work()
    return true
  } catch (error) {
    if (error instanceof SallyportError) return false
    throw error
  }
}

const noRows = { get: () => undefined } as unknown as View

/** Whether a verb takes a job as it stands, by the rules of the verbs themselves. */
const takes = (verb: string, job: Job): boolean => {
  switch (verb) {
    case 'run': return job.state === 'approved'
    case 'resume': return job.state === 'blocked' && !isGivenUpPartly(job) && !isUnread(job)
    case 'cancel': return isIdle(job)
    case 'reconcile': return passes(() => requireState(noRows, job))
    case 'close-capacity': return job.reserved && closableStates.includes(job.state)
    case 'preview': return job.state === 'prepared'
      || (job.state === 'blocked' && job.native_kind === publicationKind && !job.reserved)
    case 'closures': return job.closed !== null
    default: return verb === 'connect' || verb === 'jobs'
  }
}

t.test('no way on names a line that its verb would refuse, or one that lacks a flag that it needs', async (t) => {
  const needed: Readonly<Record<string, readonly string[]>> = {
    reconcile: ['--expected-revision 4'],
    'close-capacity': ['--expected-job-revision 7', '--expected-connection-revision 4',
      '--expected-connection-fence 3'],
    connect: ['--repo octo-org/hello', '--token-file F'],
  }
  const verbs = new Set<string>()
  fc.assert(fc.property(anyJob, (job) => {
    const { command } = nextStep(job, 4)
    if (command === null) return
    const verb = verbOfWay(command.replace('sallyport codehost ', ''))
    verbs.add(verb)
    if (!takes(verb, job)) throw new Error(`${verb} does not take ${job.state} (${job.reason})`)
    for (const flag of needed[verb] ?? []) {
      if (!command.includes(flag)) throw new Error(`${command} lacks ${flag}`)
    }
    if (verb === 'close-capacity') {
      const lost = job.remote === null && job.contacted === job.plan.effects
      const flag = job.native_kind === followThroughKind ? '--remote-id N' : '--pr-number N'
      if (command.includes(' N') !== lost || (lost && !command.endsWith(flag))) {
        throw new Error(command)
      }
    }
  }), { numRuns: 10_000 })
  t.ok(verbs.size > 5, `lines of ${[...verbs].join()}`)
})

t.test('a script that runs what it may, and stops at an exit other than 0, comes to an end from every state', async (t) => {
  const ends = new Map<string, number>()
  fc.assert(fc.property(anyJob, (job) => {
    let here = job
    for (let steps = 0; steps < 3; steps += 1) {
      const { command, unattended } = jobDocument(here, nextStep(here, 4)).way_on
      const isVerb = /^sallyport codehost (?:run|recover reconcile) [^A-Z]*$/.test(command ?? '')
      if (unattended !== isVerb) throw new Error(`${command}: ${unattended}`)
      if (!unattended) return void ends.set(here.state, (ends.get(here.state) ?? 0) + 1)
      // Each of the three ends with 0 where the job is done, and only there.
      here = { ...here, state: 'succeeded', reserved: false, reason: null,
        contacted: here.plan.effects, created: here.plan.effects }
    }
    throw new Error(`${job.state} (${job.reason}) has no end`)
  }), { numRuns: 10_000 })
  t.ok(ends.size >= 7, [...ends].join('; '))
})

t.test('C-045 behind lost records no job that could go on does, and none is told as one that was not sent', async (t) => {
  const ends = new Set<string>()
  fc.assert(fc.property(anyJob, (job) => {
    const end = unreadEnd(job)
    const mayGoOn = job.closed === null && (['prepared', 'approved'].includes(job.state)
      || (job.state === 'blocked' && job.created < job.plan.effects))
    if ((end !== null) !== mayGoOn) throw new Error(`${job.state}, ${job.created}: ${end?.state}`)
    if (end === null) return
    const after = { ...job, ...end }
    ends.add(`${job.reserved} ${end.state}`)
    const { text, command } = nextStep(after, 4)
    if (/othing of it was|never sent/.test(text)) throw new Error(text)
    if (/ run | preview /.test(command ?? '')) throw new Error(command ?? '')
    if (publishStep(after) !== 'unsettled') throw new Error(publishStep(after))
  }), { numRuns: 10_000 })
  t.strictSame([...ends].sort(), ['false blocked', 'true unknown_external_effect'])
})
