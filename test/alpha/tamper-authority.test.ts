/**
 * Everything that a contact rests on, altered in the stored rows between two steps of an ask: who
 * asks, from where, for what, by what right. Each alone stops it before the first request byte.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { alphaSetupCollection } from '../../src/alpha/setup.js'
import type { AlphaTextSetup } from '../../src/alpha/setup.js'
import { routeCollection, type RouteRecord } from '../../src/contact/routes.js'
import { revisionId } from '../../src/governance/policy/head.js'
import {
  collections, type Consent, type Goal, type PolicyRevision, type Principal, type Root,
  type Task, type TrustDecision,
} from '../../src/governance/rows.js'
import type { Tx } from '../../src/state/types.js'
import {
  change, releasedNothing, remove, tampering, type Alter, type TamperBench,
} from '../support/alpha/tamper.js'
import { slice } from '../support/slice.js'
import { roomy } from '../world/alpha.js'
import { World } from '../world/world.js'

let bench: TamperBench
t.before(async () => {
  const world = World.in(t).sandbox().state().session().alpha({ money: roomy })
  bench = (await world.with(tampering)).bench
})

const past = '2020-01-01T00:00:00.000Z'

/** Before anything is decided, right after it, and at the last moment before a byte. */
const queued = 'ask.queued'
const decided = ['ask.reserved', 'ask.before_first_byte']
const everywhere = [queued, 'ask.before_first_byte']

/** One alteration under many names, at each step; `status` is the exit status it may end with. */
const refuses = (
  title: string, steps: readonly string[], status: readonly number[],
  cases: Readonly<Record<string, Alter>>,
): void => {
  t.test(title, async (t) => {
    const cells = Object.entries(cases).flatMap(([name, alter]) =>
      steps.map((step) => ({ name, alter, step })))
    for (const { name, alter, step } of slice(title, cells, {
      axesOf: (one) => [one.name, one.step],
    })) {
      await t.test(`${name} at ${step}`, async (t) => {
        bench.reset()
        const ran = await bench.askWith(t, step, alter)
        bench.sentNothing(t)
        t.ok(status.includes(ran.status), `exit ${ran.status}: ${ran.stderr}`)
        await releasedNothing(t, bench, ran)
        await checkHold(t)
      })
    }
  })
}

/** Nothing was sent, so nothing may stay held or be charged once the next verb has run. */
const checkHold = async (t: Test): Promise<void> => {
  const account = await bench.withStore((store) =>
    store.read().all(collections.ledgerAccounts)[0]?.doc)
  t.equal(account?.settled_microusd, 0, 'nothing is charged')
  t.ok((account?.held_microusd ?? 0) <= 50_000)
}

const onTask = (with_: Partial<Task> | ((task: Task) => Partial<Task>)): Alter =>
  change(collections.openTasks, (task) => task.task_id, with_)
const onPrincipal = (with_: Partial<Principal>): Alter =>
  change(collections.principals, (task) => task.owner, with_)
const onRoot = (with_: Partial<Root>): Alter =>
  change(collections.roots, (task) => task.original_root, with_)
const onGoal = (with_: Partial<Goal> | ((goal: Goal) => Partial<Goal>)): Alter =>
  change(collections.goals, (task) => task.goal_id, with_)
const onConsent = (with_: Partial<Consent> | ((one: Consent) => Partial<Consent>)): Alter =>
  change(collections.consents, (task) => task.purpose.consent_id, with_)
const onRoute = (with_: Partial<RouteRecord>): Alter =>
  change(routeCollection, (task) => task.operation_id, with_)
const onSetup = (with_: Partial<AlphaTextSetup>): Alter =>
  change(alphaSetupCollection, () => 'the', with_)
const onDecision = (
  with_: Partial<TrustDecision> | ((one: TrustDecision) => Partial<TrustDecision>),
): Alter => (tx, task) => {
  const id = tx.get(routeCollection, task.operation_id)?.decision_id ?? ''
  change(collections.decisions, () => id, with_)(tx, task)
}
const onPolicy = (
  with_: Partial<PolicyRevision> | ((one: PolicyRevision) => Partial<PolicyRevision>),
): Alter => (tx, task) => {
  const revision = tx.get(collections.policyHead, 'the')?.revision ?? 0
  change(collections.policy, () => revisionId(revision), with_)(tx, task)
}

const provenance = (with_: Partial<Task['provenance']>): Alter =>
  onTask((task) => ({ provenance: { ...task.provenance, ...with_ } }))
const purpose = (with_: Partial<Task['purpose']>): Alter =>
  onTask((task) => ({ purpose: { ...task.purpose, ...with_ } }))
const lease = (with_: Partial<NonNullable<Task['lease']>>): Alter =>
  onTask((task) => (task.lease === null ? {} : { lease: { ...task.lease, ...with_ } }))

refuses('A-154 A-185 the principal must be the task\'s owner, known and not disabled',
  everywhere, [4, 7], {
    'another owner': onTask({ owner: 'prn_another' }),
    'the owner disabled': onPrincipal({ disabled_at: past }),
    'the owner removed': remove(collections.principals, (task) => task.owner),
    'the owner\'s row another\'s': onPrincipal({ principal_id: 'prn_another' }),
  })

refuses('A-154 the provenance must be that of this session and face', everywhere, [4, 7], {
  'another face': provenance({ face: 'service' }),
  'another principal': provenance({ principal: 'prn_another' }),
  'another root': provenance({ root: 'root_another' }),
  'no root': provenance({ root: null }),
})

refuses('A-154 A-156 A-185 the root must be the original one, live', everywhere, [4, 7], {
  'another original root': onTask({ original_root: 'root_another' }),
  'another current root': onTask({ current_root: 'root_another' }),
  'the root ended': onRoot({ ended: { at: past, reason: 'logout' } }),
  'the root expired': onRoot({ expires_at: past }),
  'the root of another': onRoot({ principal_id: 'prn_another' }),
  'the root removed': remove(collections.roots, (task) => task.original_root),
})

refuses('A-154 A-156 the goal must be the task\'s, open and of its revision', everywhere, [4, 7], {
  'a later goal': onGoal((goal) => ({ revision: goal.revision + 1 })),
  'a closed goal': onGoal({ state: 'closed' }),
  'a foreign goal': onGoal({ owner: 'prn_another' }),
  'no goal': remove(collections.goals, (task) => task.goal_id),
  'another goal of the task': onTask({ goal_id: 'goal_another' }),
  'another revision of the task': onTask((task) => ({ goal_revision: task.goal_revision + 1 })),
})

const purposeTitle = 'A-154 A-156 the task\'s purpose must be the consent that admitted it'
refuses(purposeTitle, everywhere, [4, 7], {
  'another consent': purpose({ consent_id: 'con_another' }),
  'another purpose': purpose({ purpose: 'gateway.vision' }),
  'another root': purpose({ root: 'root_another' }),
  'an expired purpose': purpose({ expires_at: past }),
  'a purpose before the grant': purpose({ revision: 0 }),
  'a purpose after today': purpose({ revision: 99 }),
})

refuses('A-070 A-066 the consent must be granted and bound to the active revision',
  everywhere, [4, 7], {
    'bound to the revision before': onConsent((one) => ({
      bound_revision: one.bound_revision - 1,
    })),
    'bound to one to come': onConsent((one) => ({ bound_revision: one.bound_revision + 1 })),
    'granted at another revision': onConsent((one) => ({
      granted_revision: one.granted_revision - 1,
    })),
    'revoked': onConsent({ state: 'revoked' }),
    'withdrawn': onConsent({ state: 'withdrawn' }),
    'expired': onConsent({ expires_at: past }),
    'for another purpose': onConsent({ purpose: 'gateway.vision' }),
    'of another route': onConsent({ route: 'gateway' }),
    'removed': remove(collections.consents, (task) => task.purpose.consent_id),
  })

const rollBackPolicy = (by: number): Alter =>
  change(collections.policyHead, () => 'the', (head) => ({ revision: head.revision - by }))

refuses('A-070 A-158 the policy must be the active head that the witness vouches for',
  everywhere, [4, 7, 12], {
    'rolled back by one': rollBackPolicy(1),
    'rolled back by two': rollBackPolicy(2),
    'revoked in its row': onPolicy({ state: 'revoked' }),
    'another epoch': onPolicy((one) => ({ epoch: one.epoch + 1 })),
    'the fence lifted over the consent': onPolicy((one) => ({ fence: one.revision })),
    'the revision removed': (tx: Tx) => {
      const revision = tx.get(collections.policyHead, 'the')?.revision ?? 0
      tx.remove(collections.policy, revisionId(revision))
    },
    'a later revision out of thin air': (tx: Tx) => {
      const revision = tx.get(collections.policyHead, 'the')?.revision ?? 0
      const policy = tx.get(collections.policy, revisionId(revision))
      if (!policy) throw new Error('no policy')
      const made = { ...policy, revision: revision + 2, state: 'active' as const }
      tx.put(collections.policy, revisionId(made.revision), made)
      tx.put(collections.policyHead, 'the', { revision: made.revision })
    },
  })

refuses('A-157 A-016 the setup must name the fixed profile, model, URL and key',
  everywhere, [4, 7], {
    'another model': onSetup({ model_id: 'another/model' }),
    'another base': onSetup({ api_base: 'https://127.0.0.1:1/v1' }),
    'another key': onSetup({ credential_fingerprint: 'another' }),
    'disabled': onSetup({ enabled: false }),
    'consent of another revision': onSetup({ plaintext_egress_consent_revision: 1 }),
  })

refuses('A-086 A-097 A-040 ceiling, cap and bound of the setup are read again at contact',
  everywhere, [4, 7], {
    'another ceiling than the ledger\'s': onSetup({ spend_ceiling_microusd: 999_999 }),
    'a cap below the task\'s': onSetup({ max_output_tokens: 1 }),
    'a bound above the ceiling': onSetup({
      request_cost_bound_microusd: 1_000_000_000, spend_ceiling_microusd: 1_000_000,
    }),
  })

refuses('A-157 A-155 the stored route must be the fixed one', decided, [7], {
  'another runtime': onRoute({ runtime: 'gateway_route' }),
  'another profile': onRoute({ profile: 'alpha.other' }),
  'another provider': onRoute({ provider: 'another' }),
  'another model': onRoute({ model: 'another/model' }),
  'another URL': onRoute({ url: 'https://127.0.0.1:1/v1/chat/completions' }),
  'another operation': onRoute({ operation_id: 'op_another' }),
  'no route': remove(routeCollection, (task) => task.operation_id),
})

refuses('A-155 the lease must be this process\'s, held and not expired', decided, [7], {
  'no lease': onTask({ lease: null }),
  'an expired lease': lease({ expires_at: past }),
  'a foreign holder': lease({ holder: 'op_another' }),
  'a later fence': lease({ fence: 2 }),
  'a lease for ever': lease({ expires_at: past, holder: 'op_another', fence: 9 }),
})

refuses('A-159 a decision is never taken from its row or its name', decided, [7], {
  'an invented id': onRoute({ decision_id: 'dec_invented' }),
  'the decision removed': (tx, task) => {
    tx.remove(collections.decisions,
      tx.get(routeCollection, task.operation_id)?.decision_id ?? '')
  },
  'a denial': onDecision({ outcome: 'deny', reasons: ['forged'] }),
  'a denial without reasons': onDecision({ outcome: 'deny' }),
  'reasons beside an allowance': onDecision({ reasons: ['forged'] }),
  'another request': onDecision((one) => ({ request: { ...one.request, amount_microusd: 1 } })),
  'another digest': onDecision({ request_digest: '0'.repeat(64) }),
  'another operation': onDecision({ operation_id: 'op_another' }),
})

refuses('A-159 A-009 an allowance forged in advance grants nothing', [queued], [4, 7], {
  'without a consent': (tx, task) => {
    forgeAllowance(tx, task)
    onConsent({ state: 'revoked' })(tx, task)
  },
  'without a live root': (tx, task) => {
    forgeAllowance(tx, task)
    onRoot({ ended: { at: past, reason: 'logout' } })(tx, task)
  },
  'without a policy': (tx, task) => {
    forgeAllowance(tx, task)
    onPolicy({ state: 'revoked' })(tx, task)
  },
})

/** A route and a decision that say: allowed. */
const forgeAllowance = (tx: Tx, task: Task): void => {
  tx.put(collections.decisions, 'dec_forged', {
    decision_id: 'dec_forged', operation_id: task.operation_id, outcome: 'allow', reasons: [],
    request: { allowed: true }, request_digest: '0'.repeat(64), made_at: past,
  })
  tx.put(routeCollection, task.operation_id, {
    operation_id: task.operation_id, runtime: 'alpha_text_native', profile: 'alpha.text',
    provider: 'sandbox', model: 'sandbox/plain-answer-1', url: 'https://127.0.0.1/v1',
    decision_id: 'dec_forged', policy_revision: task.purpose.revision, contacted_at: null,
    outcome: null,
  })
}

refuses('A-154 the task must be this one, running, with its own job', decided, [4, 5, 7, 12], {
  'another kind': onTask({ kind: 'gateway.report' }),
  'another operation': onTask({ operation_id: 'op_another' }),
  'another job': onTask({ job_id: 'job_another' }),
  'queued again': onTask({ state: 'queued' }),
  'a deadline gone by': onTask({ deadline_at: past }),
  'the job of another task': change(collections.jobs, (task) => task.job_id, {
    task_id: 'task_another',
  }),
  'the job of another operation': change(collections.jobs, (task) => task.job_id, {
    operation_id: 'op_another',
  }),
})

const inputRef = (tx: Tx, task: Task) => tx.get(collections.artifacts, task.input_artifact_id)?.ref

const flipInput: Alter = (tx, task) => {
  const stored = inputRef(tx, task)?.stored_sha256 ?? ''
  const path = join(bench.rig.place.stateDir, 'artifacts', stored.slice(0, 2), stored)
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
  writeFileSync(path, bytes)
}

/** Another input, sealed as it should be, under the task's own id. */
const otherInput = (text: string) => async (): Promise<Alter> => {
  const ref = await bench.withStore((store) =>
    store.artifacts.write('svc.alpha.text.input.v1', Buffer.from(text)))
  return change(collections.artifacts, (task) => task.input_artifact_id, { ref })
}

refuses('A-100 an altered input artifact is noticed before anything is sent',
  everywhere, [6, 7, 12], {
    'a flipped bit': flipInput,
    'the file removed': (tx, task) => {
      const stored = inputRef(tx, task)?.stored_sha256 ?? ''
      rmSync(join(bench.rig.place.stateDir, 'artifacts', stored.slice(0, 2), stored))
    },
    'another digest in its row': change(collections.artifacts, (task) => task.input_artifact_id,
      (row) => ({ ref: { ...row.ref, sha256: '0'.repeat(64) } })),
    'another length in its row': change(collections.artifacts, (task) => task.input_artifact_id,
      (row) => ({ ref: { ...row.ref, bytes: 1 } })),
    'another record type': change(collections.artifacts, (task) => task.input_artifact_id, {
      label: 'svc.another.v1',
    }),
    'the row removed': remove(collections.artifacts, (task) => task.input_artifact_id),
    'another artifact named': onTask({ input_artifact_id: 'art_another' }),
  })

for (const [name, input] of Object.entries({
  'another question': {
    schema: 'svc.alpha.text.input.v1', question: 'Another?', max_output_tokens: 256,
  },
  'another length': {
    schema: 'svc.alpha.text.input.v1', question: 'MARK-QUESTION: what is a sally port?',
    max_output_tokens: 255,
  },
})) {
  t.test(`A-100 ${name}, sealed properly, is not sent instead and stops the ask`, async (t) => {
    for (const step of everywhere) {
      bench.reset()
      const alter = await otherInput(JSON.stringify(input))()
      const ran = await bench.askWith(t, step, alter)
      bench.sentNothing(t)
      t.equal(ran.status, 7, ran.stderr)
      t.equal(ran.error().reason, 'input_altered')
    }
  })
}

t.test('without an alteration the same steps end in an answer', async (t) => {
  for (const step of everywhere) {
    bench.reset()
    const ran = await bench.askWith(t, step, onTask({ updated_at: past }))
    t.equal(ran.status, 0, ran.stderr)
    t.equal(bench.rig.inferences().length, 1)
  }
})
