import t from 'tap'
import { newFaultBoard } from '../../src/sandbox/faults/board.js'
import { faultTable } from '../../src/sandbox/faults/table.js'
import { ask, askGateway, askedId, bill } from '../support/sandbox/asks.js'
import { jsonOf } from '../support/sandbox/https-post.js'
import { World } from '../world/world.js'

t.test('names are unique, plain words and described', async (t) => {
  t.equal(new Set(faultTable.map((one) => one.name)).size, faultTable.length)
  for (const { name, summary, services } of faultTable) {
    t.match(name, /^[a-z][a-z0-9_]+$/)
    t.ok(summary.length > 5 && services.length > 0)
  }
})

t.test('a fault strikes so many requests and no more', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  sandbox.faults.set('status_503', { times: 2 })
  const statuses = []
  for (let at = 0; at < 3; at += 1) statuses.push((await ask(sandbox)).status)
  t.strictSame(statuses, [503, 503, 200])
  t.strictSame(sandbox.faults.list(), [])
})

t.test('a fault can let requests pass first', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  sandbox.faults.set('status_500', { after: 1, times: 1 })
  const statuses = []
  for (let at = 0; at < 3; at += 1) statuses.push((await ask(sandbox)).status)
  t.strictSame(statuses, [200, 500, 200])
})

t.test('a fault without a count strikes until it is cleared', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  sandbox.faults.set('status_404')
  sandbox.faults.set('gzip')
  t.equal((await ask(sandbox)).status, 404)
  t.equal((await ask(sandbox)).status, 404)
  t.equal(sandbox.faults.clear('status_404'), 1)
  t.equal((await ask(sandbox)).headers['content-encoding'], 'gzip')
  t.equal(sandbox.faults.clear(), 1)
  t.notOk('content-encoding' in (await ask(sandbox)).headers)
})

t.test('a fault strikes its own service and route only', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const id = await askedId(sandbox)
  sandbox.faults.set('status_500', { service: 'gateway' })
  t.equal((await ask(sandbox)).status, 200)
  t.equal((await bill(sandbox, id)).status, 200)
  t.equal((await askGateway(sandbox)).status, 500)
  sandbox.faults.clear()
  sandbox.faults.set('billing_status_429')
  t.equal((await ask(sandbox)).status, 200)
  t.equal((await bill(sandbox, id)).status, 429)
})

t.test('faults on one request add up and are recorded', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  sandbox.faults.set('bom')
  sandbox.faults.set('wrong_model')
  const reply = await ask(sandbox)
  t.equal(reply.body[0], 0xef)
  t.match(reply.body.toString(), /another-model/)
  t.strictSame(sandbox.log.all()[0]?.faults, ['wrong_model', 'bom'])
})

t.test('a fault leaves the refusal of a bad request a refusal', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  sandbox.faults.set('two_choices')
  sandbox.faults.set('usage_cost', { service: 'gateway' })
  t.hasStrict(jsonOf(await ask(sandbox, { n: 2 })), { error: { code: 400 } })
  t.hasStrict(jsonOf(await askGateway(sandbox, { n: 2 })), { error: { code: 400 } })
})

t.test('wrong names, services and numbers are refused with a reason', async (t) => {
  const board = newFaultBoard()
  const code = (run: () => unknown, wanted: string) => t.throws(run, { code: wanted })
  code(() => board.set('nonsense'), 'sandbox_fault_unknown')
  code(() => board.clear('nonsense'), 'sandbox_fault_unknown')
  code(() => board.set('billing_float', { service: 'gateway' }), 'sandbox_fault_service')
  code(() => board.set('gzip', { times: 0 }), 'sandbox_fault_count')
  code(() => board.set('gzip', { times: 1.5 }), 'sandbox_fault_count')
  code(() => board.set('gzip', { after: -1 }), 'sandbox_fault_count')
  code(() => board.set('gzip', { value: 3 }), 'sandbox_fault_value')
  code(() => board.set('delay', { value: 0.5 }), 'sandbox_fault_value')
  code(() => board.set('delay', { value: -1 }), 'sandbox_fault_value')
  t.strictSame(board.list(), [])
})

t.test('the list shows what is on', async (t) => {
  const board = newFaultBoard()
  board.set('delay', { times: 2, after: 1 })
  board.reply({ status: 200 }, { route: 'billing' })
  t.strictSame(board.list(), [
    { name: 'delay', service: 'provider', route: 'completion', times: 2, after: 1, value: 2000 },
    { name: 'reply', service: 'provider', route: 'billing', times: null, after: 0, value: null },
  ])
  t.equal(board.clear('reply'), 1)
})
