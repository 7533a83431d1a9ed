import t, { type Test } from 'tap'
import { digestOf } from '../../src/base/canonical.js'
import { fail, SallyportError } from '../../src/base/errors.js'
import { routeCollection, type RouteRecord } from '../../src/contact/routes.js'
import { markContacted, release, reserve } from '../../src/governance/ledger/steps.js'
import { bootstrapLedger, setCeiling } from '../../src/governance/ledger/account.js'
import {
  collections, type Consent, type Goal, type Job, type PolicyRevision, type Principal, type Root,
  type Task, type TrustDecision,
} from '../../src/governance/rows.js'
import { storeDecision } from '../../src/governance/judge/decision.js'
import { effectCase, effectFacts } from '../../src/governance/judge/effect.js'
import { denied, judge, type Denial } from '../../src/governance/judge/fact.js'
import type { FixedRoute, TrustRequest } from '../../src/governance/judge/request.js'
import { policyHead } from '../../src/governance/policy/head.js'
import { judgePolicy } from '../../src/governance/policy/policy-status.js'
import type { WitnessStatus } from '../../src/governance/policy/witness.js'
import type { CollectionSpec, Tx, View } from '../../src/state/types.js'
import { Memory } from '../support/governance/memory.js'

const now = '2026-11-20T10:00:00.000Z'
const soon = '2026-11-20T10:01:00.000Z'
const past = '2026-11-20T09:59:59.999Z'
const nowMs = Date.parse(now)

const fixed: FixedRoute = {
  capability: 'inference.alpha-text.v1',
  purpose: 'alpha.text',
  runtime: 'alpha_text_native',
  route: 'alpha',
  profile: 'alpha.text',
  provider: 'example',
  model: 'fixed-model',
  url: 'https://provider.example/v1/chat/completions',
  acknowledges: '1'.repeat(64),
  paid: true,
}
const binding = { operationId: 'op_1', runtime: fixed.runtime, profile: fixed.profile } as const

const principal: Principal = {
  principal_id: 'prn_1', name: 'owner', passphrase: null, created_at: now, disabled_at: null,
}
const root: Root = {
  root_id: 'root_1', principal_id: 'prn_1', token_digest: '0'.repeat(64), issued_at: now,
  idle_ms: 1000, expires_at: soon, ended: null,
}
const goal: Goal = {
  goal_id: 'goal_1', revision: 2, owner: 'prn_1', title: 'g', state: 'open', is_default: true,
  created_at: now, updated_at: now,
}
const consent: Consent = {
  consent_id: 'con_1', route: 'alpha', purpose: 'alpha.text', state: 'granted',
  granted_revision: 3, bound_revision: 7, principal: 'prn_giver', root: 'root_0', granted_at: now,
  expires_at: null, statement_sha256: '1'.repeat(64),
  acknowledgments: [{ owner: 'prn_1', statement_sha256: '1'.repeat(64), at: now }],
}
const policy: PolicyRevision = {
  revision: 7, state: 'active', reason: 'save', epoch: 1, fence: 1, carries_from: 7,
  published_at: now, principal: 'prn_1', consents: [],
}
const task: Task = {
  task_id: 'task_1', revision: 4, kind: fixed.capability, place: null, attempt: 1, lease_fence: 1,
  owner: 'prn_1', goal_id: 'goal_1', goal_revision: 2,
  original_root: 'root_1', current_root: 'root_1', input_artifact_id: 'art_1',
  idempotency_key: 'k', request_digest: '2'.repeat(64), job_id: 'job_1', operation_id: 'op_1',
  state: 'running', blocked: null, reason: null, cancel_requested_at: null,
  lease: { holder: 'h', fence: 1, expires_at: soon },
  provenance: { face: 'cli', principal: 'prn_1', root: 'root_1' },
  purpose: {
    consent_id: 'con_1', purpose: 'alpha.text', revision: 5, root: 'root_1', expires_at: soon,
  },
  deadline_at: soon, budget_left_ms: 1000, review: 'none', done_at: null,
  result_artifact_id: null, recovered: [], created_at: now, updated_at: now,
}
const job: Job = {
  job_id: 'job_1', task_id: 'task_1', attempt: 1, attempt_id: 'att_1', request_id: 'req_1',
  operation_id: 'op_1', receipt: null, progress: {}, created_at: now, updated_at: now,
}
const request: TrustRequest = {
  capability: fixed.capability,
  principal: 'prn_1',
  provenance: { face: 'cli', principal: 'prn_1', root: 'root_1' },
  resource: {
    runtime: fixed.runtime, profile: fixed.profile, provider: fixed.provider, model: fixed.model,
    url: fixed.url,
  },
  authority: {
    root: 'root_1', goal_id: 'goal_1', goal_revision: 2, consent_id: 'con_1',
    consent_revision: 7, policy_revision: 7,
  },
  task_id: 'task_1', job_id: 'job_1', operation_id: 'op_1',
  lease: { holder: 'h', fence: 1 },
  amount_microusd: 100,
}
/** What is not in the rows: live sessions, and what witness file and anchor say. */
interface About {
  readonly liveRoot: () => Root
  readonly witness: WitnessStatus
  readonly anchored: boolean
}
const facts: About = { liveRoot: () => root, witness: 'ok', anchored: true }

const keyOf = () => ({ present: true, fingerprint: 'fp', opens: () => true })

const judged = (
  view: View, one: TrustRequest, about: About, phase: 'preflight' | 'contact' | 'adopt',
): readonly Denial[] => {
  const policy = judgePolicy(policyHead(view), about.witness, about.anchored)
  const moment = {
    view, nowMs, policy, liveRoot: about.liveRoot, rootEndsMs: () => nowMs + 1, keyOf,
  }
  const route = view.get(routeCollection, one.operation_id)
  return judge(effectFacts, effectCase(moment, fixed, one, route), phase)
}

/** Judges, stores the decision and, for an allowed one, the route row that names it. */
const decide = (tx: Tx, one: TrustRequest, about = facts): TrustDecision => {
  const denials = judged(tx, one, about, 'preflight')
  const decision = storeDecision(tx, nowMs, {
    operationId: one.operation_id, request: one, denials,
  })
  if (denials.length === 0) {
    tx.put(routeCollection, one.operation_id, {
      operation_id: one.operation_id, ...one.resource, model: fixed.model ?? '',
      decision_id: decision.decision_id, policy_revision: one.authority.policy_revision,
      contacted_at: null, outcome: null,
    })
  }
  return decision
}

const refuse = (denials: readonly Denial[]): void => {
  if (denials.length === 0) return
  throw denied(denials, { code: 'trust_denied', message: 'Not allowed.', next: 'Look at it.' })
}

/** Rows under which `request` is allowed. */
const sound = (): Memory => {
  const memory = new Memory()
  memory.transact((tx) => {
    bootstrapLedger(tx, now, 1000)
    tx.put(collections.principals, 'prn_1', principal)
    tx.put(collections.principals, 'prn_giver', { ...principal, principal_id: 'prn_giver' })
    tx.put(collections.roots, 'root_1', root)
    tx.put(collections.goals, 'goal_1', goal)
    tx.put(collections.consents, 'con_1', consent)
    tx.put(collections.policy, '000000000007', policy)
    tx.put(collections.policyHead, 'the', { revision: 7 })
    tx.put(collections.openTasks, 'task_1', task)
    tx.put(collections.jobs, 'job_1', job)
  })
  return memory
}

const alter = <T>(
  memory: Memory, spec: CollectionSpec<T>, id: string, change: Partial<T> | null,
): void =>
  memory.transact((tx) => {
    const doc = tx.get(spec, id)
    if (doc === undefined) throw new Error('no such document')
    if (change === null) tx.remove(spec, id)
    else tx.put(spec, id, { ...doc, ...change })
  })

/** Allowed, reserved, and about to be contacted. */
const decided = (): Memory => {
  const memory = sound()
  memory.transact((tx) => decide(tx, request))
  memory.transact((tx) =>
    reserve(tx, now, { ...binding, taskId: 'task_1', principal: 'prn_1', bound: 100 }))
  return memory
}

const refusal = (run: () => unknown): { kind: string; code: string; reasons: string[] } => {
  try {
    run()
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    const reasons = String(error.details['reasons'] ?? '').split(',')
    return { kind: error.kind, code: error.code, reasons }
  }
  return { kind: 'none', code: 'none', reasons: [] }
}

const contactReasons = (memory: Memory, one = request, about = facts): string[] =>
  judged(memory.view(), one, about, 'contact').map(({ name }) => name)

const evaluated = (memory: Memory, one: TrustRequest, about = facts): readonly string[] =>
  judged(memory.view(), one, about, 'preflight').map(({ name }) => name)

t.test('A-153 A-154 a request whose every fact stands in the rows is allowed', async (t) => {
  const memory = sound()
  const decision = memory.transact((tx) => decide(tx, request))
  t.hasStrict(
    decision, { outcome: 'allow', reasons: [], request, request_digest: digestOf(request) }
  )
  t.strictSame(memory.view().get(collections.decisions, decision.decision_id), decision)
  t.hasStrict(memory.view().get(routeCollection, 'op_1'), {
    ...request.resource, decision_id: decision.decision_id, contacted_at: null,
  })
  t.strictSame(contactReasons(memory), ['reservation_missing'], 'no contact without its hold')
  t.strictSame(contactReasons(decided()), [])
})

interface Case {
  readonly title: string
  readonly reason: string
  readonly rows?: (memory: Memory) => void
  readonly claim?: Partial<TrustRequest>
  readonly facts?: Partial<About>
}

/** Each case must deny both before the reserve and at contact. */
const denies = (t: Test, cases: readonly Case[]): void => {
  for (const one of cases) {
    const claim = { ...request, ...one.claim }
    const about = { ...facts, ...one.facts }
    const before = sound()
    one.rows?.(before)
    t.strictSame(evaluated(before, claim, about), [one.reason], `${one.title}, before the reserve`)
    const after = decided()
    one.rows?.(after)
    const reasons = contactReasons(after, claim, about)
    const rest = reasons.filter((reason) =>
      reason !== 'decision_not_genuine' && reason !== 'reservation_mismatch')
    t.strictSame(rest, [one.reason], `${one.title}, at contact`)
  }
}

const set = <T>(spec: CollectionSpec<T>, id: string, change: Partial<T> | null) =>
  (memory: Memory): void => alter(memory, spec, id, change)
const setTask = (change: Partial<Task>) => set(collections.openTasks, 'task_1', change)
const { authority, resource, provenance } = request

t.test('A-154 the actual principal and provenance must be those of the task', async (t) => {
  denies(t, [
    { title: 'another principal', claim: { principal: 'prn_2' }, reason: 'principal_mismatch' },
    {
      title: 'a disabled principal', reason: 'principal_disabled',
      rows: set(collections.principals, 'prn_1', { disabled_at: past }),
    },
    {
      title: 'no principal', reason: 'principal_missing',
      rows: set(collections.principals, 'prn_1', null),
    },
    {
      title: 'another face', reason: 'provenance_mismatch',
      claim: { provenance: { ...provenance, face: 'service' } },
    },
    {
      title: 'a root of another', reason: 'provenance_mismatch',
      claim: { provenance: { ...provenance, root: 'root_2' } },
    },
    {
      title: 'an altered record', reason: 'provenance_mismatch',
      rows: setTask({ provenance: { ...provenance, face: 'job' } }),
    },
  ])
})

t.test('A-155 the native runtime, a running task and a live lease of its own', async (t) => {
  denies(t, [
    {
      title: 'another runtime', reason: 'runtime_mismatch',
      claim: { resource: { ...resource, runtime: 'gateway_route' } },
    },
    { title: 'no lease', reason: 'lease_missing', rows: setTask({ lease: null }) },
    {
      title: 'an expired lease', reason: 'lease_expired',
      rows: setTask({ lease: { holder: 'h', fence: 1, expires_at: now } }),
    },
    {
      title: 'a foreign holder', reason: 'lease_foreign',
      rows: setTask({ lease: { holder: 'x', fence: 1, expires_at: soon } }),
    },
    {
      title: 'a later fence', reason: 'lease_foreign', claim: { lease: { holder: 'h', fence: 0 } },
    },
    { title: 'a task that waits', reason: 'task_not_running', rows: setTask({ state: 'queued' }) },
    {
      title: 'a cancelled task', reason: 'cancel_requested',
      rows: setTask({ cancel_requested_at: now }),
    },
    { title: 'a late task', reason: 'deadline_passed', rows: setTask({ deadline_at: now }) },
    {
      title: 'another capability', reason: 'capability_mismatch', rows: setTask({ kind: 'other' }),
    },
    { title: 'another job', reason: 'job_binding_mismatch',
      rows: set(collections.jobs, 'job_1', { operation_id: 'op_2' }) },
    { title: 'no job', reason: 'job_binding_mismatch',
      rows: set(collections.jobs, 'job_1', null) },
    { title: 'another operation', reason: 'task_binding_mismatch',
      rows: setTask({ operation_id: 'op_2' }) },
  ])
  const memory = sound()
  memory.transact((tx) => tx.remove(collections.openTasks, 'task_1'))
  t.strictSame(evaluated(memory, request), ['task_missing'])
})

t.test('A-156 the original root must be live and the current one', async (t) => {
  const gone = (): Root => {
    throw fail.unauthorized('session_idle', 'idle')
  }
  denies(t, [
    { title: 'a root that is not live', reason: 'root_not_live', facts: { liveRoot: gone } },
    {
      title: 'a live root of another', reason: 'root_not_live',
      facts: { liveRoot: () => ({ ...root, root_id: 'root_2' }) },
    },
    {
      title: 'an ended root', reason: 'root_not_live',
      rows: set(collections.roots, 'root_1', { ended: { at: past, reason: 'logout' } }),
    },
    {
      title: 'an expired root', reason: 'root_not_live',
      rows: set(collections.roots, 'root_1', { expires_at: now }),
    },
    {
      title: 'a root of another owner', reason: 'root_foreign',
      rows: set(collections.roots, 'root_1', { principal_id: 'prn_2' }),
    },
    {
      title: 'a recovered task', reason: 'root_recovered',
      rows: setTask({ current_root: 'root_2' }),
    },
    {
      title: 'a claim of another root', reason: 'root_mismatch',
      claim: { authority: { ...authority, root: 'root_2' } },
    },
  ])
})

t.test('A-156 the goal must be the owner\'s, open, and at the revision of the task', async (t) => {
  denies(t, [
    {
      title: 'a changed goal', reason: 'goal_changed',
      rows: set(collections.goals, 'goal_1', { revision: 3 }),
    },
    {
      title: 'a closed goal', reason: 'goal_not_open',
      rows: set(collections.goals, 'goal_1', { state: 'closed' }),
    },
    {
      title: 'a foreign goal', reason: 'goal_foreign',
      rows: set(collections.goals, 'goal_1', { owner: 'prn_2' }),
    },
    {
      title: 'a claim of another revision', reason: 'goal_mismatch',
      claim: { authority: { ...authority, goal_revision: 3 } },
    },
  ])
})

t.test('A-156 the purpose must rest on this consent, granted and current', async (t) => {
  const consents = (change: Partial<Consent>) => set(collections.consents, 'con_1', change)
  const purpose = (change: Partial<Task['purpose']>) =>
    setTask({ purpose: { ...task.purpose, ...change } })
  denies(t, [
    ...(['revoked', 'cleared', 'withdrawn'] as const).map((state) => ({
      title: `a ${state} consent`, reason: 'consent_not_current', rows: consents({ state }),
    })),
    {
      title: 'a consent granted at the fence', reason: 'consent_not_current',
      rows: set(collections.policy, '000000000007', { fence: 3 }),
    },
    {
      title: 'a consent granted anew since', reason: 'consent_not_current',
      rows: consents({ granted_revision: 6 }),
    },
    {
      title: 'a purpose from the future', reason: 'consent_not_current',
      rows: purpose({ revision: 8 }),
    },
    { title: 'an expired purpose', reason: 'purpose_expired', rows: purpose({ expires_at: now }) },
    { title: 'an expired consent', reason: 'purpose_expired', rows: consents({ expires_at: now }) },
    {
      title: 'another purpose', reason: 'purpose_mismatch',
      rows: consents({ purpose: 'gateway.vision' }),
    },
    { title: 'another route', reason: 'purpose_mismatch', rows: consents({ route: 'gateway' }) },
    { title: 'a purpose of another root', reason: 'consent_mismatch',
      rows: purpose({ root: 'root_2' }) },
    {
      title: 'a claim of an older binding', reason: 'consent_mismatch',
      claim: { authority: { ...authority, consent_revision: 5 } },
    },
  ])
  const memory = sound()
  alter(memory, collections.consents, 'con_1', { bound_revision: 5 })
  const older = { ...request, authority: { ...authority, consent_revision: 5 } }
  t.strictSame(evaluated(memory, older), ['consent_not_current'], 'not carried to this revision')
})

t.test('A-009 A-156 a consent is its giver’s, and whoever asks acknowledged it', async (t) => {
  const consents = (change: Partial<Consent>) => set(collections.consents, 'con_1', change)
  const mine = { owner: 'prn_1', statement_sha256: '1'.repeat(64), at: now }
  const missing = 'acknowledgment_missing'
  denies(t, [
    {
      title: 'a giver who is disabled', reason: 'consent_giver_disabled',
      rows: set(collections.principals, 'prn_giver', { disabled_at: past }),
    },
    {
      title: 'a giver who is gone', reason: 'consent_giver_missing',
      rows: set(collections.principals, 'prn_giver', null),
    },
    { title: 'no acknowledgment', reason: missing, rows: consents({ acknowledgments: [] }) },
    {
      title: 'the acknowledgment of another', reason: missing,
      rows: consents({ acknowledgments: [{ ...mine, owner: 'prn_giver' }] }),
    },
    {
      title: 'an acknowledgment of other words', reason: missing,
      rows: consents({ acknowledgments: [{ ...mine, statement_sha256: '3'.repeat(64) }] }),
    },
  ])
})

t.test('A-157 profile, provider, model and URL are exactly the fixed ones', async (t) => {
  for (const name of ['profile', 'provider', 'model', 'url'] as const) {
    denies(t, [{
      title: `a claim of another ${name}`, reason: `${name}_mismatch`,
      claim: { resource: { ...resource, [name]: `${resource[name]}/x` } },
    }])
    const memory = decided()
    alter<RouteRecord>(memory, routeCollection, 'op_1', { [name]: 'https://other.example/' })
    t.strictSame(contactReasons(memory), [`${name}_mismatch`], `an altered ${name} in the record`)
    t.strictSame(evaluated(memory, request), [`${name}_mismatch`])
  }
  const memory = decided()
  alter<RouteRecord>(memory, routeCollection, 'op_1', { runtime: 'gateway_route' })
  t.strictSame(contactReasons(memory), ['runtime_mismatch'])
})

t.test('A-158 only an active policy that the witness vouches for allows', async (t) => {
  const onPolicy = (change: Partial<PolicyRevision>) =>
    set(collections.policy, '000000000007', change)
  denies(t, [
    { title: 'no witness', reason: 'witness_mismatch', facts: { witness: 'missing' } },
    {
      title: 'a witness that is behind', reason: 'witness_mismatch',
      facts: { witness: 'behind_by_one' },
    },
    { title: 'an anchor ahead', reason: 'store_behind_anchor', facts: { anchored: false } },
    {
      title: 'a revoked policy', reason: 'policy_revoked',
      rows: onPolicy({ state: 'revoked', reason: 'operator_revoke' }),
    },
    {
      title: 'a save under way', reason: 'save_in_progress',
      rows: onPolicy({ state: 'revoked', reason: 'save_begin' }),
    },
    {
      title: 'a save that was interrupted', reason: 'save_interrupted',
      rows: onPolicy({ state: 'revoked', reason: 'save_interrupted' }),
    },
    {
      title: 'a claim of another revision', reason: 'policy_revision_mismatch',
      claim: { authority: { ...authority, policy_revision: 6 } },
    },
  ])
  const memory = sound()
  memory.transact((tx) => tx.remove(collections.policyHead, 'the'))
  const expected = { kind: 'damaged', code: 'policy_missing' }
  t.hasStrict(refusal(() => evaluated(memory, request)), expected,
    'no policy at all')
})

t.test('the ledger must be ready and the hold the request\'s own', async (t) => {
  const memory = sound()
  memory.transact((tx) => setCeiling(tx, now, 99))
  t.strictSame(evaluated(memory, request), ['ceiling_exceeded'])
  for (const { id } of memory.view().all(collections.ledgerAccounts)) {
    alter(memory, collections.ledgerAccounts, id, null)
  }
  t.strictSame(evaluated(memory, request), ['ledger_not_unique'])
  const held = decided()
  t.strictSame(contactReasons(held, { ...request, amount_microusd: 99 }),
    ['decision_not_genuine', 'reservation_mismatch'])
  t.strictSame(evaluated(held, request), [], 'a hold of its own is no obstacle')
  held.transact((tx) => release(tx, now, { ...binding, proof: 'never_contacted' }))
  t.strictSame(contactReasons(held), ['reservation_not_held'])
  const altered = decided()
  for (const { id, doc } of altered.view().all(collections.ledgerRows)) {
    if (doc.kind === 'reserve') {
      alter(altered, collections.ledgerRows, id, { runtime: 'gateway_route' })
    }
  }
  t.strictSame(contactReasons(altered), ['reservation_binding_mismatch'])
})

t.test('after the contact mark the same request stands, but is never decided anew', async (t) => {
  const memory = decided()
  memory.transact((tx) => markContacted(tx, now, binding))
  alter<RouteRecord>(memory, routeCollection, 'op_1', { contacted_at: now })
  t.strictSame(contactReasons(memory), [], 'the check before the first byte')
  const again = memory.transact((tx) => decide(tx, request))
  t.hasStrict(again, { outcome: 'deny', reasons: ['already_contacted', 'reservation_not_held'] })
  t.not(memory.view().get(routeCollection, 'op_1')?.decision_id, again.decision_id)
})

t.test('A-159 a forged decision grants nothing', async (t) => {
  const allowed = (memory: Memory): TrustDecision => {
    const id = memory.view().get(routeCollection, 'op_1')?.decision_id ?? ''
    const found = memory.view().get(collections.decisions, id)
    if (!found) throw new Error('no decision')
    return found
  }
  const forge = (change: Partial<TrustDecision>): string[] => {
    const memory = decided()
    alter(memory, collections.decisions, allowed(memory).decision_id, change)
    return contactReasons(memory)
  }
  t.strictSame(forge({ outcome: 'deny' }), ['decision_not_genuine'])
  t.strictSame(forge({ reasons: ['x'] }), ['decision_not_genuine'])
  t.strictSame(forge({ operation_id: 'op_2' }), ['decision_not_genuine'])
  t.strictSame(forge({ request_digest: '3'.repeat(64) }), ['decision_not_genuine'])
  t.strictSame(forge({ request: { ...request, allowed: true } }), ['decision_not_genuine'])
  t.strictSame(forge({ decision_id: 'dec_forged' }), ['decision_missing'])
  const invented = decided()
  alter<RouteRecord>(invented, routeCollection, 'op_1', { decision_id: 'dec_invented' })
  t.strictSame(contactReasons(invented), ['decision_missing'])
  const missing = decided()
  alter(missing, routeCollection, 'op_1', null)
  t.strictSame(contactReasons(missing), ['decision_missing'])
})

t.test('A-070 A-168 a save that has not ended suspends a consent, and nothing else does', (t) => {
  const memory = decided()
  memory.transact((tx) => {
    tx.put(collections.policy, '000000000008', {
      ...policy, revision: 8, state: 'revoked', reason: 'save_begin',
    })
    tx.put(collections.policyHead, 'the', { revision: 8 })
  })
  const now8 = { ...request, authority: { ...authority, policy_revision: 8 } }
  const reasons = (phase: 'preflight' | 'contact' | 'adopt', about = facts) =>
    judged(memory.view(), now8, about, phase).map(({ name }) => name)
  const nothing = ['save_in_progress', 'consent_not_current']
  t.strictSame(reasons('preflight'), nothing, 'nothing is decided on it')
  t.strictSame(reasons('contact').slice(0, 2), nothing, 'nothing is sent on it')
  t.strictSame(reasons('adopt'), ['save_in_progress'], 'what it paid for is not lost')
  const unwitnessed = { ...facts, witness: 'missing' } as const
  t.strictSame(
    reasons('adopt', unwitnessed), ['witness_mismatch', 'consent_not_current'],
    'a save that nobody vouches for suspends nothing',
  )
  t.end()
})

t.test('A-158 A-159 a save after the decision stops the contact, and is told as no forgery', (t) => {
  const memory = decided()
  const [policy] = memory.view().all(collections.policy).slice(-1)
  memory.transact((tx) => {
    if (!policy) throw new Error('there is a policy')
    tx.put(collections.policy, '000000000008', { ...policy.doc, revision: 8 })
    tx.put(collections.policyHead, 'the', { revision: 8 })
    tx.put(collections.consents, 'con_1', {
      ...tx.get(collections.consents, 'con_1') as Consent, bound_revision: 8,
    })
  })
  const now8 = {
    ...request, authority: { ...authority, policy_revision: 8, consent_revision: 8 },
  }
  t.strictSame(contactReasons(memory, now8), ['policy_moved'])
  const id = memory.view().get(routeCollection, 'op_1')?.decision_id ?? ''
  alter(memory, collections.decisions, id, { request_digest: '3'.repeat(64) })
  t.strictSame(contactReasons(memory, now8), ['decision_not_genuine'], 'an untrue one still is')
  t.end()
})

t.test('A-159 a complete forgery of an allowing decision does not replace the facts', async (t) => {
  const memory = decided()
  alter(memory, collections.consents, 'con_1', { state: 'revoked' })
  const denied = memory.transact((tx) => decide(tx, request))
  t.strictSame(denied.reasons, ['consent_not_current'])
  alter(memory, collections.decisions, denied.decision_id, { outcome: 'allow', reasons: [] })
  alter<RouteRecord>(memory, routeCollection, 'op_1', { decision_id: denied.decision_id })
  t.strictSame(contactReasons(memory), ['consent_not_current'])
})

t.test('A-159 A-160 a request has no place for an id, a flag or a proof', async (t) => {
  const memory = decided()
  const extras = [
    { allowed: true }, { decision_id: 'dec_1' }, { proof: { slot: 'chat' } },
    { proof_id: 'prf_1' }, { outcome: 'allow' },
  ]
  for (const extra of extras) {
    const forged = { ...request, ...extra }
    t.hasStrict(refusal(() => evaluated(memory, forged)), {
      kind: 'rejected', code: 'trust_request_malformed',
    }, JSON.stringify(extra))
    t.hasStrict(refusal(() => contactReasons(memory, forged)), {
      code: 'trust_request_malformed',
    })
  }
  const nested = { ...request, authority: { ...authority, allowed: true } }
  const free = { ...request, amount_microusd: 0 }
  for (const one of [nested, free]) {
    t.equal(refusal(() => evaluated(memory, one)).code, 'trust_request_malformed')
  }
})

t.test('a denial tells every reason, and its kind follows the first', async (t) => {
  const memory = sound()
  alter(memory, collections.consents, 'con_1', { state: 'revoked' })
  alter(memory, collections.openTasks, 'task_1', { lease: null })
  const decision = memory.transact((tx) => decide(tx, request))
  t.strictSame(decision.reasons, ['consent_not_current', 'lease_missing'])
  t.equal(memory.view().get(routeCollection, 'op_1'), undefined, 'nothing is to be contacted')
  const refused = (of: Memory) =>
    refusal(() => refuse(judged(of.view(), request, facts, 'preflight')))
  t.hasStrict(refused(memory), { kind: 'unauthorized', code: 'trust_denied' })
  const blocked = sound()
  alter(blocked, collections.openTasks, 'task_1', { lease: null })
  t.hasStrict(refused(blocked), { kind: 'blocked', reasons: ['lease_missing'] })
})

t.test('A-159 a decision that an earlier version stored is still the decision of its request', async (t) => {
  const memory = decided()
  const stored = {
    decision_id: 'dec_older', operation_id: 'op_1', outcome: 'allow' as const, reasons: [],
    request: {
      amount_microusd: 100,
      authority: {
        consent_id: 'con_1', consent_revision: 7, goal_id: 'goal_1', goal_revision: 2,
        policy_revision: 7, root: 'root_1',
      },
      capability: 'inference.alpha-text.v1', job_id: 'job_1', lease: { fence: 1, holder: 'h' },
      operation_id: 'op_1', principal: 'prn_1',
      provenance: { face: 'cli', principal: 'prn_1', root: 'root_1' },
      resource: {
        model: 'fixed-model', profile: 'alpha.text', provider: 'example',
        runtime: 'alpha_text_native', url: 'https://provider.example/v1/chat/completions',
      },
      task_id: 'task_1',
    },
    request_digest: '0251adc83cc96d7287540a23d77e29576d602e0c8b13118d1de7de98d4cf11d0',
    made_at: now,
  }
  memory.transact((tx) => tx.put(collections.decisions, 'dec_older', stored))
  alter<RouteRecord>(memory, routeCollection, 'op_1', { decision_id: 'dec_older' })
  t.strictSame(contactReasons(memory), [])
})

t.test('an effect that is not paid for names neither a model nor an amount', async (t) => {
  const { runtime, profile, provider, url } = fixed
  const place = { runtime, profile, provider, url }
  const { capability, purpose, route } = fixed
  const free: FixedRoute = { capability, purpose, route, ...place, paid: false }
  const { task_id, job_id, operation_id, lease } = request
  const unpaid: TrustRequest = {
    capability, principal: 'prn_1', provenance, resource: place, authority, task_id, job_id,
    operation_id, lease,
  }
  const reasons = (memory: Memory, one: TrustRequest, of: FixedRoute): string[] => {
    const view = memory.view()
    const policy = judgePolicy(policyHead(view), 'ok', true)
    const moment = { view, nowMs, policy, liveRoot: () => root, rootEndsMs: () => nowMs + 1, keyOf }
    return judge(effectFacts, effectCase(moment, of, one, undefined), 'preflight')
      .map(({ name }) => name)
  }
  const memory = sound()
  for (const { id } of memory.view().all(collections.ledgerAccounts)) {
    alter(memory, collections.ledgerAccounts, id, null)
  }
  t.strictSame(reasons(memory, unpaid, free), [], 'it needs no ledger')
  t.strictSame(reasons(sound(), unpaid, fixed), ['model_mismatch', 'amount_mismatch'])
  t.strictSame(reasons(sound(), request, free), ['model_mismatch', 'amount_mismatch'])
  const revoked = sound()
  alter(revoked, collections.consents, 'con_1', { state: 'revoked' })
  t.strictSame(reasons(revoked, unpaid, free), ['consent_not_current'], 'all the rest it does need')
})

t.test('a defect in a callback is not taken for a refusal', async (t) => {
  const broken = (): Root => {
    throw new TypeError('defect')
  }
  t.throws(() => evaluated(sound(), request, { ...facts, liveRoot: broken }),
    new TypeError('defect'))
})
