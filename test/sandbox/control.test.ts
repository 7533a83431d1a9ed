import t from 'tap'
import type { Sandbox } from '../../src/sandbox/start.js'
import { ask } from '../support/sandbox/asks.js'
import { jsonOf, post } from '../support/sandbox/https-post.js'
import type { Ask, Reply } from '../support/sandbox/https-post.js'
import { World } from '../world/world.js'

const control = (
  sandbox: Sandbox,
  method: string,
  path: string,
  how: Partial<Ask> = {},
): Promise<Reply> =>
  post({
    url: `https://127.0.0.1:${sandbox.ports.control}${path}`,
    ca: sandbox.caPem,
    method,
    ...how,
    headers: { authorization: `Bearer ${sandbox.controlToken}`, ...how.headers },
  })

t.test('faults are set and cleared on a running sandbox', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const body = { name: 'status_500', service: 'provider', times: 2, after: 0, value: 7 }
  const set = await control(sandbox, 'POST', '/faults', { body })
  const on = { name: 'status_500', service: 'provider', times: 2, value: 7 }
  t.hasStrict(jsonOf(set), { cleared: 0, faults: [on] })
  const reply = await ask(sandbox)
  t.hasStrict(reply, { status: 500, headers: { 'retry-after': '7' } })
  const one = { body: { name: 'status_500' } }
  t.strictSame(jsonOf(await control(sandbox, 'POST', '/faults/clear', one)), {
    cleared: 1,
    faults: [],
  })
  t.hasStrict(jsonOf(await control(sandbox, 'POST', '/faults/clear')), { cleared: 0 })
  t.equal((await ask(sandbox)).status, 200)
})

t.test('status counts requests and shows no content of them', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  sandbox.faults.set('gzip', { times: 5 })
  await ask(sandbox, { messages: [{ role: 'user', content: 'kumquat' }], n: 2 })
  const status = await control(sandbox, 'GET', '/status')
  t.hasStrict(jsonOf(status), {
    pid: process.pid,
    ports: sandbox.ports,
    faults: [{ name: 'gzip', times: 4 }],
    requests: 1,
    in_progress: 0,
    max_concurrent: 1,
    services: { provider: { requests: 1, connections: 1 }, gateway: { requests: 0 } },
    violations: ['#1 provider: n is not 1'],
  })
  t.notMatch(status.body.toString(), /kumquat|any-key/)
  t.equal(sandbox.log.count(), 1)
})

t.test('without the token nothing is told and nothing changes', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  for (const authorization of ['', 'Bearer x', `Bearer ${sandbox.controlToken}x`]) {
    const how = { headers: { authorization }, body: { name: 'gzip' } }
    t.equal((await control(sandbox, 'POST', '/faults', how)).status, 401)
    t.equal((await control(sandbox, 'GET', '/status', how)).status, 401)
  }
  t.strictSame(sandbox.faults.list(), [])
})

t.test('a control request that is wrong is refused with a reason', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const bodies: readonly (readonly [unknown, string])[] = [
    [{}, 'sandbox_fault_unknown'],
    [{ name: 'nonsense' }, 'sandbox_fault_unknown'],
    [{ name: 5 }, 'sandbox_control_body'],
    [{ name: 'gzip', service: 'codehost' }, 'sandbox_fault_service'],
    [{ name: 'gzip', times: '2' }, 'sandbox_control_body'],
    [{ name: 'gzip', times: 0 }, 'sandbox_fault_count'],
    [{ name: 'gzip', extra: 1 }, 'sandbox_control_body'],
    [[], 'sandbox_control_body'],
    [{ name: 'x'.repeat(20_000) }, 'sandbox_control_body'],
  ]
  for (const [body, code] of bodies) {
    const reply = await control(sandbox, 'POST', '/faults', { body })
    t.equal(reply.status, 422)
    t.matchStrict(jsonOf(reply), { code, message: /\w/ })
  }
  const bytes = Buffer.from('{')
  t.equal((await control(sandbox, 'POST', '/faults', { bytes })).status, 422)
  t.equal((await control(sandbox, 'GET', '/other')).status, 404)
  t.strictSame(sandbox.faults.list(), [])
})
