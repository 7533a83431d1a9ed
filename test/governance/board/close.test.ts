/** A task that an unknown charge had blocked ends once a person has said what it cost. */
import { closedByHand } from '../../../src/governance/board/close.js'
import { anchorOf } from '../../support/anchor.js'
import { failure, must } from '../../support/must.js'
import { t } from '../../support/tests-in-slices.js'
import { limits } from '../../world/alpha.js'
import { World, type AlphaWorld } from '../../world/world.js'

const unknown = async (at: AlphaWorld): Promise<{ task: string; operation: string }> => {
  at.sandbox.faults.set('billing_status_500', { service: 'provider' })
  const { task_id: task, operation_id: operation } = (await at.ask()).error().details
  at.sandbox.faults.clear()
  return { task, operation }
}

const settle = (at: AlphaWorld, operation: string, amount: number) =>
  at.run(['ledger', 'settle', operation, '--amount-microusd', String(amount), '--yes'])

t.test('A-123 A-124 a task whose unknown charge was settled is closed by hand, and status stops counting it', async (t) => {
  const at = await World.in(t).sandbox().state({ owner: 'ada' }).session().alpha()
  const { task, operation } = await unknown(at)
  const close = ['task', 'close', task, '--json']
  const open = await at.run(close)
  t.strictSame(failure(open), { status: 7, code: 'charge_open', out: '' })
  t.match(open.error().next[0]?.command, `sallyport ledger settle ${operation} `)
  must(await settle(at, operation, limits.boundMicrousd + 1))
  const disputed = await at.run(close)
  t.strictSame(failure(disputed), { status: 7, code: 'charge_open', out: '' },
    'an overrun waits for its review first')
  t.equal(disputed.error().next[0]?.command, `sallyport ledger review ${operation}`)
  must(await at.run(['ledger', 'review', operation, '--reject']))
  t.strictSame((await at.json(['status'])).tasks, { blocked: 1 })
  const before = anchorOf(at.place)
  const closed = must(await at.run(close)).json()
  t.not(anchorOf(at.place), before, 'an old copy does not wait for it again')
  t.hasStrict(closed, { state: 'failed', blocked: null, reason: closedByHand })
  t.strictSame((await at.json(['status'])).tasks, {})
  t.strictSame(must(await at.run(close)).json().revision, closed.revision, 'once')
  t.equal((await at.run(['alpha', 'output', task])).status, 5)
  t.equal((await at.run(['state', 'check'])).status, 0)
  t.equal(at.inferences().length, 1)
})

t.test('A-123 a task that no charge blocks is not closed by hand', async (t) => {
  const at = await World.in(t).sandbox().state({ owner: 'ada' }).session().alpha()
  const { id } = must(await at.ask()).json().task
  t.strictSame(failure(await at.run(['task', 'close', id, '--json'])),
    { status: 5, code: 'task_not_closable', out: '' })
  t.equal((await at.run(['task', 'close', 'task_none'])).status, 6)
})

t.test('A-189 another owner closes only what a disabled one left', async (t) => {
  const at = await World.in(t).sandbox().state({ owner: 'ada' }).session().alpha()
  const { task, operation } = await unknown(at)
  must(await settle(at, operation, 5))
  const file = at.place.write('bob', 'correct horse battery')
  must(await at.run(['principal', 'add', 'bob', '--passphrase-file', file]))
  must(await at.run(['login', '--owner', 'bob', '--passphrase-file', file]))
  t.equal((await at.run(['task', 'close', task])).status, 6, 'as absent as a missing one')
  must(await at.run(['principal', 'disable', 'ada', '--yes']))
  t.hasStrict(must(await at.run(['task', 'close', task, '--json'])).json(), { state: 'failed' })
})

t.test('A-127 A-189 an overrun of a disabled owner is rejected by another, and never accepted', async (t) => {
  const at = await World.in(t).sandbox().state({ owner: 'ada' }).session().alpha()
  at.sandbox.faults.set('billing_overrun', { service: 'provider', value: limits.boundMicrousd })
  const { task_id: task, operation_id: operation } = (await at.ask()).error().details
  const file = at.place.write('bob', 'correct horse battery')
  must(await at.run(['principal', 'add', 'bob', '--passphrase-file', file]))
  must(await at.run(['login', '--owner', 'bob', '--passphrase-file', file]))
  const review = (verdict: string) => at.run(['ledger', 'review', operation, verdict, '--json'])
  t.equal((await review('--reject')).status, 6, 'while its owner can decide')
  must(await at.run(['principal', 'disable', 'ada', '--yes']))
  t.equal((await review('--accept')).status, 6, 'its answer is nobody else’s')
  t.hasStrict(must(await review('--reject')).json(), { overrun: 'rejected' })
  t.strictSame((await at.json(['status'])).attention, {
    unknown_charges: 0, overrun_reviews: 0, unknown_effects: 0, interrupted: 0,
  })
  t.equal((await at.run(['alpha', 'output', task])).status, 6)
  t.equal((await at.run(['state', 'check'])).status, 0)
})
