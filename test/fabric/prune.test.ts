/** Removing what is old: what goes, what stays for ever, and that nothing is sent again. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { billingUuidCollection } from '../../src/alpha/billing-uuids.js'
import { routeOf } from '../../src/contact/routes.js'
import { balances } from '../../src/governance/ledger/find-reservation.js'
import { collections } from '../../src/governance/rows.js'
import type { View } from '../../src/state/types.js'
import { ask, keyOf } from '../support/fabric/copies.js'
import { must } from '../support/must.js'
import {
  agingWorld, approved, filesOf, isSound, muchLater, prune,
} from '../support/fabric/pruned.js'
import { t } from '../support/tests-in-slices.js'
import type { Loose } from '../world/place.js'
import type { AlphaWorld } from '../world/world.js'

/** Every byte of records and snapshots. */
const bytesOf = ({ place: { stateDir } }: AlphaWorld): string =>
  ['wal', 'collections'].flatMap((folder) => readdirSync(join(stateDir, folder))
    .map((name) => readFileSync(join(stateDir, folder, name), 'latin1'))).join('')

/** Everything of money, and what else no prune ever touches. */
const keptIn = (view: View): Loose => [
  balances(view), ...[
    collections.ledgerRows, collections.closedReservations, collections.openReservations,
    collections.policy, collections.consents, billingUuidCollection,
  ].map((spec) => view.all<unknown>(spec)),
]

t.test('a prune removes old ended tasks with all that hangs on them, last their sealed files, and '
  + 'nothing else: the state is sound and the money is what it was', async (t) => {
  const rig = await agingWorld(t)
  const gone = await approved(rig, 0)
  const { job_id: job = '', operation_id: operation = '' } =
    rig.view().get(collections.closedTasks, gone) ?? {}
  t.not(routeOf(rig.view(), operation), undefined)
  t.equal(bytesOf(rig).includes(job), true)
  const waits = must(await ask(rig, keyOf(1))).json().task.id
  rig.sandbox.faults.set('billing_status_500', { service: 'provider' })
  await ask(rig, keyOf(2))
  rig.sandbox.faults.clear()
  const files = filesOf(rig).length
  await muchLater(rig)
  const young = await approved(rig, 3)
  const kept = keptIn(rig.view())

  const told = must(await prune(rig, ['--dry-run'])).json()
  t.hasStrict(told, {
    dry_run: true, tasks: { succeeded: 1, failed: 0, cancelled: 0 }, artifacts: 2, asides: 0,
    bytes_after: null,
  })
  t.equal(filesOf(rig).length, files + 2, 'it only told')
  const done = must(await prune(rig)).json()
  t.hasStrict(done, {
    dry_run: false, tasks: { succeeded: 1, failed: 0, cancelled: 0 }, artifacts: 2, swept: 0,
  })
  t.equal(filesOf(rig).length, files)
  const view = rig.view()
  t.equal(view.get(collections.closedTasks, gone), undefined)
  t.equal(routeOf(view, operation), undefined)
  t.not(view.get(collections.closedTasks, waits), undefined, 'its review is open')
  t.not(view.get(collections.closedTasks, young), undefined, 'it is young')
  t.equal(view.all(collections.openTasks).length, 1, 'its charge is unknown')
  t.hasStrict(view.get(collections.idempotency, keyOf(0)), { task_id: gone })
  t.hasStrict(view.all(collections.taskPrunes).map(({ doc }) => doc), [{ succeeded: 1, failed: 0 }])
  t.equal(bytesOf(rig).includes(job), false, 'no log and no segment holds what was removed')
  t.match(bytesOf(rig), 'state.pruned', 'the audit tells of it')
  t.strictSame(keptIn(view), kept)
  await isSound(t, rig)
})

t.test('a key whose task was pruned stays spent: the same request is result_pruned, another one or '
  + 'another owner is a conflict, and nothing is sent', async (t) => {
  const rig = await agingWorld(t)
  await approved(rig, 0)
  await muchLater(rig)
  must(await prune(rig))
  const posts = rig.inferences().length
  const held = balances(rig.view())
  const same = await ask(rig, keyOf(0))
  t.strictSame([same.status, same.error().code], [6, 'result_pruned'])
  const other = await rig.ask({
    args: ['--idempotency-key', keyOf(0)], stdin: 'Another question.',
  })
  t.strictSame([other.status, other.error().code], [5, 'idempotency_conflict'])
  t.equal(rig.inferences().length, posts)
  t.strictSame(balances(rig.view()), held)
  t.equal((await ask(rig, keyOf(1))).status, 0, 'a new key asks anew')
})

t.test('after a prune every verb tells of what is left, and of what is gone as of what never was', async (t) => {
  const rig = await agingWorld(t)
  const gone = await approved(rig, 0)
  const left = must(await ask(rig, keyOf(1))).json().task.id
  await muchLater(rig)
  const told = async () => Promise.all([
    rig.json(['ledger', 'show']), rig.json(['ledger', 'reservations']),
    rig.json(['policy', 'show']),
  ])
  const before = await told()
  must(await prune(rig))
  t.strictSame(await told(), before)
  for (const line of [['task', 'list'], ['alpha', 'tasks']]) {
    t.strictSame((await rig.json(line)).map(({ id }: { id: string }) => id), [left], line.join(' '))
  }
  for (const line of [
    ['task', 'show', gone], ['task', 'recover', gone], ['alpha', 'output', gone],
    ['alpha', 'task', gone], ['task', 'cancel', gone], ['task', 'close', gone],
  ]) {
    const ran = await rig.run([...line, '--json'])
    t.strictSame([ran.status, ran.error().code], [6, 'task_not_found'], line.join(' '))
  }
  must(await rig.run(['task', 'recover', left]))
  t.equal((await rig.json(['alpha', 'output', left])).task.id, left)
  const names = (await rig.json(['audit', 'list', '--limit', '100']))
    .map(({ what }: { what: string }) => what)
  t.ok(names.includes('state.prune_begun') && names.includes('state.pruned'))
  t.ok(names.filter((what: string) => what === 'task.admitted').length === 2, 'both are told of')
})
