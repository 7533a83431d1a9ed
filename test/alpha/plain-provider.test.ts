/**
 * The shipped program against a provider that shares no code with it: `init --profile FILE`, set
 * up, ask, read. What goes over the wire is compared byte by byte.
 */
import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import type { Place, Ran } from '../world/place.js'
import { World } from '../world/world.js'
import {
  plainBillingId, startPlainProvider, type PlainProvider, type PlainProviderOptions,
} from '../support/plain-provider.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'

const apiKey = 'plain-key-5511'
const asked = 'What is "a sally port"?\n\tTwo lines, é and 門.\n'
const answered = 'A door with two leaves.\nOne is always shut: "è", 門.\n'

/** A deployment whose commands run as `how` says: as processes, or faster in this one. */
const deploy = async (
  t: Test, how: 'run' | 'spawn', options: Partial<PlainProviderOptions> = {},
): Promise<{ place: Place; provider: PlainProvider }> => {
  const provider = await startPlainProvider({ dir: t.testdir({}), answer: answered, ...options })
  t.teardown(() => provider.stop())
  const place = World.in(t).place
  const command = (...argv: string[]): Promise<Ran> => place[how](argv)
  writeFileSync(place.path('key'), `${apiKey}\n`)
  must(await command('init', '--profile', provider.profileFile))
  must(await command('login'))
  must(await command(
    'alpha', 'setup', '--enable', '--acknowledge-plaintext-egress',
    '--api-key-file', place.path('key'), '--max-output-tokens', '200', '--timeout-seconds', '20',
    '--request-cost-bound-microusd', '50000', '--spend-ceiling-microusd', '1000000',
    '--expected-policy-revision', '1',
  ))
  t.equal(provider.connections(), 0, 'setting up contacts nobody')
  return { place, provider }
}

const checkWire = (t: Test, provider: PlainProvider, billingUuid: string): void => {
  t.equal(provider.requests.length, 2, 'one completion and one billing request')
  t.equal(provider.connections(), 2, 'each on a connection of its own')
  const [inference, billing] = provider.requests
  t.strictSame([inference?.method, inference?.path], ['POST', '/v1/chat/completions'])
  t.equal(inference?.body, '{"model":"plain/model-7","messages":[{"role":"user","content":'
    + `${JSON.stringify(asked)}}],"n":1,"max_tokens":77,"stream":false}`)
  t.strictSame([billing?.method, billing?.path], ['POST', '/v1/billing/costs'])
  t.equal(billing?.body, `{"requestIds":["${billingUuid}"]}`)
  for (const request of provider.requests) {
    t.equal(request.headers.authorization, `Bearer ${apiKey}`)
    t.equal(request.headers['accept-encoding'], 'identity')
    t.equal(request.headers['content-type'], 'application/json')
    t.equal(request.headers['content-length'], String(Buffer.byteLength(request.body)))
    t.equal(request.headers.host, `127.0.0.1:${provider.port}`)
  }
}

t.test('A-001 A-003 A-019 A-021 A-099 A-131 A-138 set up, ask and read as processes', async (t) => {
  const { place, provider } = await deploy(t, 'spawn')
  const flags = ['--max-output-tokens', '77']
  const ran = must(await place.spawn(['alpha', 'ask', '-', '--json', ...flags], { stdin: asked }))
  const { task, answer, receipt } = ran.json()
  t.equal(answer, answered, 'the exact answer')
  const billingUuid = plainBillingId(`plain-1-${process.pid}`)
  checkWire(t, provider, billingUuid)
  t.equal(receipt.provider_billing_uuid, billingUuid)
  t.equal(receipt.cost.amount_microusd, 2346, 'nano-USD rounded up')
  t.strictSame([receipt.provider, receipt.model], ['plain', 'plain/model-7'])
  const output = must(await place.spawn(['alpha', 'output', task.id]))
  t.strictSame(output.bytes, Buffer.from(answered), 'read back byte for byte')
  t.match(output.stderr, /\$0\.002346 \(2,346 µUSD\)/, 'the receipt is on stderr')
  const read = must(await place.spawn(['alpha', 'output', task.id, '--json'])).json()
  t.strictSame(read.receipt, receipt)
  t.equal(must(await place.spawn(['state', 'check', '--json'])).json().ok, true)
  t.equal(provider.requests.length, 2, 'reading contacts nobody')
})

t.test('A-136 a cost that is not recorded yet is asked for once more', async (t) => {
  const { place, provider } = await deploy(t, 'run', { zeroesFirst: 1 })
  const ran = must(await place.run(['alpha', 'ask', '-', '--json'], { stdin: asked }))
  t.equal(ran.json().receipt.cost.amount_microusd, 2346)
  t.strictSame(provider.requests.map(({ path }) => path), [
    '/v1/chat/completions', '/v1/billing/costs', '/v1/billing/costs',
  ])
  t.equal(provider.requests[1]?.body, provider.requests[2]?.body)
})

t.test('A-138 one charge settles one question: an id that was given before is an unknown charge',
  async (t) => {
  const { place, provider } = await deploy(t, 'run', { repeatsId: true })
  must(await place.run(['alpha', 'ask', '-', '--json'], { stdin: asked }))
  const second = await place.run(['alpha', 'ask', '-', '--json'], { stdin: 'Another question.' })
  t.equal(second.status, 7)
  t.equal(second.error().reason, 'alpha_cost_readback_required')
  t.strictSame(provider.requests.map(({ path }) => path), [
    '/v1/chat/completions', '/v1/billing/costs', '/v1/chat/completions',
  ], 'a bill that belongs to another question is not even asked for')
  const { ledger } = must(await place.run(['status', '--json'])).json()
  t.hasStrict(ledger, { settled_microusd: 2346, unknown_microusd: 50_000 })
  must(await place.run(['state', 'check']))
})
