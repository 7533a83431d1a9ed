import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import type { Test } from 'tap'
import type { FaultOptions } from '../../src/sandbox/faults/board.js'
import { ask, askGateway, askedId, bill } from '../support/sandbox/asks.js'
import { jsonOf } from '../support/sandbox/https-post.js'
import type { Ask, Reply } from '../support/sandbox/https-post.js'
import { World } from '../world/world.js'
import type { Sandbox } from '../../src/sandbox/start.js'
import { timeOf } from '../support/speed.js'
import { t } from '../support/tests-in-slices.js'

interface Way {
  readonly title: string
  readonly prefix: string
  readonly service: FaultOptions['service']
  go(sandbox: Sandbox, how?: Partial<Ask>): Promise<Reply>
}

const ways: readonly Way[] = [
  {
    title: 'completion',
    prefix: '',
    service: 'provider',
    go: (sandbox, how) => ask(sandbox, {}, how),
  },
  {
    title: 'gateway',
    prefix: '',
    service: 'gateway',
    go: (sandbox, how) => askGateway(sandbox, {}, how),
  },
  {
    title: 'billing',
    prefix: 'billing_',
    service: 'provider',
    go: (sandbox, how) => bill(sandbox, '6ba7b810-9dad-51d1-80b4-00c04fd430c8', how),
  },
]

type Check = (t: Test, reply: Reply, honest: Reply) => void

const status =
  (code: number): Check =>
  (t, reply) => {
    t.equal(reply.status, code)
    t.equal(reply.headers['retry-after'], '1')
    t.equal(reply.whole, true)
  }

const redirect =
  (code: number): Check =>
  (t, reply) => {
    t.equal(reply.status, code)
    t.match(reply.headers.location, /^https:\/\/127\.0\.0\.1:\d+\/v1\/redirected$/)
  }

const encoded =
  (token: string, decode: (bytes: Buffer) => Buffer): Check =>
  (t, reply) => {
    t.equal(reply.headers['content-encoding'], token)
    t.type(JSON.parse(decode(reply.body).toString()), 'object')
  }

const gaveUp: Check = (t, reply) => t.equal(reply.error, 'gave_up')

const notJson: Check = (t, reply) => {
  t.equal(reply.status, 200)
  t.throws(() => jsonOf(reply), { name: 'SyntaxError' })
}

const half: Check = (t, reply, honest) => {
  t.equal(reply.status, 200)
  t.equal(reply.whole, false)
  t.equal(reply.body.length, honest.body.length >> 1)
}

const checks: Readonly<Record<string, Check>> = {
  hang_before_headers: (t, reply) => {
    gaveUp(t, reply, reply)
    t.equal(reply.status, null)
  },
  hang_mid_body: (t, reply, honest) => {
    gaveUp(t, reply, reply)
    half(t, reply, honest)
  },
  close_before_headers: (t, reply) => t.hasStrict(reply, { status: null, error: 'ECONNRESET' }),
  reset_before_headers: (t, reply) => t.hasStrict(reply, { status: null, error: 'ECONNRESET' }),
  reset_mid_body: (t, reply) => t.hasStrict(reply, { whole: false, error: 'ECONNRESET' }),
  truncate: half,
  // Node's own client takes the first two for replies and reads over a NUL.
  first_line_http2: (t, reply, honest) => t.equal(reply.body.length, honest.body.length),
  first_line_foreign: (t, reply, honest) => t.equal(reply.body.length, honest.body.length),
  first_line_nul: (t, reply, honest) => t.equal(reply.body.length, honest.body.length),
  switching: (t, reply) => t.hasStrict(reply, { status: null, error: 'gave_up' }),
  chunked: (t, reply, honest) => {
    t.equal(reply.headers['transfer-encoding'], 'chunked')
    t.equal(reply.body.length, honest.body.length)
    t.equal(reply.whole, true)
  },
  ...Object.fromEntries([301, 302, 303, 307, 308].map((at) => [`redirect_${at}`, redirect(at)])),
  ...Object.fromEntries([404, 429, 500, 503].map((at) => [`status_${at}`, status(at)])),
  gzip: encoded('gzip', gunzipSync),
  br: encoded('br', brotliDecompressSync),
  deflate: encoded('deflate', inflateSync),
  encoding_unnamed_gzip: (t, reply) => {
    t.notOk('content-encoding' in reply.headers)
    t.type(JSON.parse(gunzipSync(reply.body).toString()), 'object')
  },
  not_json: notJson,
  malformed: notJson,
  trailing: notJson,
  empty_body: (t, reply) => t.equal(reply.body.length, 0),
  duplicate_key: (t, reply) => {
    const [key] = Object.keys(jsonOf(reply))
    t.equal(reply.body.toString().split(`"${key}":`).length, 3)
  },
  deep: (t, reply) => t.match(reply.body.toString(), '['.repeat(2000)),
  bom: (t, reply) => t.equal(reply.body.subarray(0, 3).toString('hex'), 'efbbbf'),
  bad_utf8: (t, reply) => t.ok(reply.body.includes(0xff)),
  lone_surrogate: (t, reply) => t.match(reply.body.toString(), '\\ud800'),
}

for (const way of ways) {
  t.test(`each transport fault does to a ${way.title} what its name says`, async (t) => {
    const { sandbox } = await World.in(t).sandbox()
    const honest = await way.go(sandbox)
    for (const [name, check] of Object.entries(checks)) {
      sandbox.faults.set(`${way.prefix}${name}`, { times: 1, service: way.service ?? 'provider' })
      const patience = /^(hang|switching)/.test(name) ? { giveUpMs: timeOf(8) } : {}
      const reply = await way.go(sandbox, patience)
      await t.test(name, async (t) => check(t, reply, honest))
    }
    t.strictSame(sandbox.faults.list(), [])
    t.strictSame(sandbox.log.violations(), [])
  })
}

t.test('an oversize body has the asked or the smallest forbidden size', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const id = await askedId(sandbox)
  sandbox.faults.set('oversize', { times: 1 })
  const one = await ask(sandbox)
  t.equal(one.body.length, 262_145)
  t.equal(one.headers['content-length'], '262145')
  sandbox.faults.set('oversize_chunked', { times: 1, value: 300_000 })
  const two = await ask(sandbox)
  t.equal(two.body.length, 300_000)
  t.notOk('content-length' in two.headers)
  sandbox.faults.set('billing_oversize', { times: 1 })
  t.equal((await bill(sandbox, id)).body.length, 16_385)
  sandbox.faults.set('billing_oversize_chunked', { times: 1 })
  t.type(jsonOf(await bill(sandbox, id)), 'object')
})

t.test('delay and drip follow the sandbox’s clock', async (t) => {
  const slept: number[] = []
  const clock = {
    wallMs: () => 1_700_000_000_999,
    monotonicMs: () => 5,
    sleep: async (ms: number) => void slept.push(ms),
  }
  const { sandbox } = await World.in(t).sandbox({ clock })
  sandbox.faults.set('delay', { times: 1, value: 60_000 })
  t.equal(jsonOf(await ask(sandbox)).created, 1_700_000_000)
  t.strictSame(slept, [60_000])
  slept.length = 0
  sandbox.faults.set('drip', { times: 1, value: 9 })
  const reply = await ask(sandbox)
  t.equal(reply.whole, true)
  // The client may close as soon as it has the last byte.
  t.ok(slept.length >= reply.body.length - 1)
  t.ok(slept.every((ms) => ms === 9))
  t.equal(sandbox.log.all()[0]?.receivedAtMs, 5)
})
