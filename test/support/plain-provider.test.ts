import { readFile } from 'node:fs/promises'
import t from 'tap'
import { v5 } from 'uuid'
import { jsonOf, post } from './sandbox/https-post.js'
import { plainBillingId, startPlainProvider } from './plain-provider.js'

t.test('the plain provider answers a completion and bills it once it is recorded', async (t) => {
  const provider = await startPlainProvider({ dir: t.testdir({}), zeroesFirst: 1 })
  t.teardown(() => provider.stop())
  const profile = JSON.parse(await readFile(provider.profileFile, 'utf8')) as {
    provider: { base_url: string; model_id: string }
  }
  const base = profile.provider.base_url
  const ca = provider.caPem
  const messages = [{ role: 'user', content: 'hello' }]
  const body = { model: profile.provider.model_id, messages, n: 1, max_tokens: 16 }
  const answer = await post({ url: `${base}/chat/completions`, ca, body })
  const uuid = v5(String(jsonOf(answer).id), v5.DNS)
  t.equal(answer.headers['inference-id'], uuid)
  const costs = { url: `${base}/billing/costs`, ca, body: { requestIds: [uuid] } }
  t.hasStrict(jsonOf(await post(costs)), { requests: [{ requestId: uuid, costNanoUsd: 0 }] })
  t.hasStrict(
    jsonOf(await post(costs)), { requests: [{ requestId: uuid, costNanoUsd: 2_345_678 }] }
  )
  t.equal((await post({ url: `${base}/other`, ca })).status, 404)
  t.equal(provider.requests.length, 4)
  t.equal(provider.connections(), 4)
})

t.test('its hand-made version 5 UUIDs are those of the library', async (t) => {
  for (const id of ['x', 'chatcmpl-1', 'é–𝄞', '']) t.equal(plainBillingId(id), v5(id, v5.DNS))
})
