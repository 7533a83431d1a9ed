/** Everything that is kept belongs to a capability: `state check` finds what nobody answers for. */
import t, { type Test } from 'tap'
import { capabilities } from '../../src/fabric/capabilities.js'
import { verifyOwnership } from '../../src/fabric/ownership.js'
import {
  isPaid, ownerOfKind, ownerOfRuntime, type Capability,
} from '../../src/governance/capability.js'
import { registerArtifact } from '../../src/governance/artifacts.js'
import { bootstrapLedger } from '../../src/governance/ledger/account.js'
import { markContacted, reserve, settle } from '../../src/governance/ledger/steps.js'
import { collections, type Task } from '../../src/governance/rows.js'
import { signIn, taskAt } from '../support/tasks.js'
import { World, type StateWorld } from '../world/world.js'

/** A capability whose work costs nothing, with the kind and the labels that these tests write. */
const free: Capability = {
  name: 'free',
  taskKinds: ['free.v1'],
  runtimes: ['free_native'],
  sources: {},
  artifactLabels: ['test.input', 'test.answer'],
  receipt: null,
  operationMsMax: 120_000,
  rows: async () => ({ collections: [], rules: [] }),
}
const registry = [...capabilities, free]

const codesOf = (world: StateWorld): string[] =>
  verifyOwnership(registry)(world.view()).map(({ code }) => code)

const running = async (t: Test): Promise<{ world: StateWorld, task: Task }> => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const task = await taskAt(world, session, 'running')
  await world.transact((tx, now) => bootstrapLedger(tx, now, 1_000))
  return { world, task }
}

const alter = (world: StateWorld, task: Task, change: Partial<Task>): Promise<void> =>
  world.transact((tx) => tx.put(collections.openTasks, task.task_id, { ...task, ...change }))

t.test('no two capabilities have one name, kind, runtime or artifact label', async (t) => {
  const own = (of: (one: Capability) => readonly string[]): void => {
    const all = capabilities.flatMap(of)
    t.equal(new Set(all).size, all.length, all.join(' '))
  }
  own(({ name }) => [name])
  own(({ taskKinds }) => taskKinds)
  own(({ runtimes }) => runtimes)
  own(({ artifactLabels }) => artifactLabels)
  const all = await Promise.all(capabilities.map((one) => one.rows()))
  const names = all.flatMap(({ collections: specs }) => specs.map(({ name }) => name))
  t.equal(new Set(names).size, names.length, 'nor a collection')
})

t.test('A-013 A-015 the owner of a kind and of a runtime is found by its record', async (t) => {
  t.equal(ownerOfKind(capabilities, 'inference.alpha-text.v1')?.name, 'alpha')
  t.equal(ownerOfRuntime(capabilities, 'alpha_text_native')?.name, 'alpha')
  t.equal(ownerOfRuntime(capabilities, 'gateway_route')?.name, 'gateway')
  t.equal(ownerOfRuntime(capabilities, 'free_native'), undefined)
  t.strictSame(registry.filter(isPaid).map(({ name }) => name), ['alpha', 'gateway'])
})

t.test('a task of a kind that no capability has is found', async (t) => {
  const { world, task } = await running(t)
  t.strictSame(codesOf(world), [])
  await alter(world, task, { kind: 'another.v1' })
  t.strictSame(codesOf(world), ['task_kind_unknown'])
})

t.test('A-194 a task with more time left than its capability gives is found', async (t) => {
  const { world, task } = await running(t)
  await alter(world, task, { budget_left_ms: 120_000 })
  t.strictSame(codesOf(world), [])
  await alter(world, task, { budget_left_ms: 120_001 })
  t.strictSame(codesOf(world), ['task_budget_beyond'])
})

t.test('work that costs nothing has no reservation, whatever became of it', async (t) => {
  const { world, task } = await running(t)
  const states = ['running', 'blocked', 'succeeded', 'failed'] as const
  for (const state of states) {
    await alter(world, task, { kind: 'free.v1', state })
    t.strictSame(codesOf(world), [], state)
  }
  await world.transact((tx, now) => reserve(tx, now, {
    operationId: task.operation_id, runtime: 'free_native', profile: 'free', bound: 5,
    taskId: task.task_id, principal: task.owner,
  }))
  t.strictSame(codesOf(world), ['task_money_mismatch'])
  await alter(world, task, { state: 'succeeded' })
  t.strictSame(codesOf(world), ['task_money_mismatch'])
})

t.test('A-125 a finished task of paid work has a charge that is known, or no hold', async (t) => {
  const { world, task } = await running(t)
  const binding = {
    operationId: task.operation_id, runtime: 'alpha_text_native', profile: 'alpha.text',
    sources: { provider_billing_costs: { usage: false } },
  }
  await alter(world, task, { state: 'succeeded' })
  t.strictSame(codesOf(world), ['task_money_mismatch'], 'an answer without a charge')
  await world.transact((tx, now) => reserve(tx, now, {
    ...binding, taskId: task.task_id, principal: task.owner, bound: 5,
  }))
  await alter(world, task, { state: 'failed' })
  t.strictSame(codesOf(world), ['task_money_mismatch'], 'an end that holds money')
  await world.transact((tx, now) => {
    markContacted(tx, now, binding)
    settle(tx, now, {
      ...binding, chargedMicrousd: 3, evidence: { source: 'provider_billing_costs' },
    })
  })
  for (const state of ['succeeded', 'failed'] as const) {
    await alter(world, task, { state })
    t.strictSame(codesOf(world), [], state)
  }
})

t.test('A-118 a charge of a foreign runtime or of a foreign source is found', async (t) => {
  const { world, task } = await running(t)
  const charge = async (operationId: string, runtime: string, source: string): Promise<void> => {
    const binding = { operationId, runtime, profile: 'p', sources: { [source]: { usage: true } } }
    await world.transact((tx, now) => {
      reserve(tx, now, { ...binding, taskId: null, principal: task.owner, bound: 5 })
      markContacted(tx, now, binding)
      settle(tx, now, { ...binding, chargedMicrousd: 1, evidence: { source } })
    })
  }
  await charge('op_1', 'gateway_route', 'gateway_usage')
  t.strictSame(codesOf(world), [])
  await charge('op_2', 'gateway_route', 'provider_billing_costs')
  t.strictSame(codesOf(world), ['ledger_source_foreign'])
  await charge('op_3', 'unheard_of', 'gateway_usage')
  t.strictSame(codesOf(world).sort(), [
    'ledger_runtime_unknown', 'ledger_runtime_unknown', 'ledger_source_foreign',
  ])
})

t.test('a private artifact of a type that no capability keeps is found', async (t) => {
  const { world, task } = await running(t)
  const ref = world.gov.store.artifacts.write('svc.stray.v1', Buffer.from('stray'))
  await world.transact((tx, now) => registerArtifact(tx, now, {
    label: 'svc.stray.v1', ref, owner: task.owner, taskId: null, adopted: true,
  }))
  t.strictSame(codesOf(world), ['artifact_label_unknown'])
})
