/** What a service answers devices of a state that several machines share. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Clock } from '../../src/base/clock.js'
import { authenticateEdge } from '../../src/edge/credential.js'
import { edgeUpload } from '../../src/edge/edge-contract.js'
import { beginUpload } from '../../src/edge/upload.js'
import { newStop } from '../../src/governance/stops/act.js'
import { deviceStop } from '../../src/governance/stops/stop.js'
import { followWithin } from '../../src/service/following.js'
import { openStore } from '../../src/state/store.js'
import type { FreshView, Store } from '../../src/state/types.js'
import { must } from '../support/must.js'
import { firstMachine, nextMachine } from '../support/place/machines.js'
import { startPostgres } from '../support/place/postgres.js'
import { headOf, pairOver, sendOver } from '../support/service/devices.js'
import { readAround } from '../support/service/read-around.js'
import { serving, takesNothingIn } from '../support/service/serving.js'

const body = Buffer.concat([
  Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(19 * 1024 * 1024),
])

t.test('S-198 a pairing that another machine ended sends and reads nothing more, and gets no further piece', async (t) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  const two = await nextMachine(t, one)
  const at = await serving(t, one, { takesIn: takesNothingIn })
  const { credential, device_id: device } = await pairOver(one, at)
  const sent = await sendOver(at, credential, body, headOf(body, 1))
  t.equal(sent.status, 201)
  const path = `/api/edge/artifacts/${sent.json().artifact_id}`
  const asked = async (what: string) => (await at.ask('GET', what, { token: credential })).status
  t.equal(await asked(path), 200)
  t.ok(await readAround(at, `${path}/bytes`, credential, async () => undefined) > body.length)
  await server.stop()
  const away = await at.ask('GET', path, { token: credential })
  t.equal(away.json().error.code, 'place_unreachable')
  for (const token of [null, `spe_${'A'.repeat(43)}`]) {
    const stranger = await at.ask('GET', '/api/edge/pairing', { token })
    t.equal(stranger.status, 401, 'nobody is asked for a stranger, or told where the server is')
  }
  await server.start()
  const read = await readAround(at, `${path}/bytes`, credential, async () => {
    must(await two.run(['edge', 'revoke', device]))
    // Between two pieces others are asked once a second.
    await sleep(1_100)
  })
  t.ok(read < body.length, `${read} behind a revocation elsewhere`)
  for (const what of [path, `${path}/bytes`, '/api/edge/pairing']) {
    const got = await at.ask('GET', what, { token: credential })
    t.equal(got.json().error.code, 'edge_credential_revoked', what)
  }
  const other = await sendOver(at, credential, body, headOf(body, 2))
  t.equal(other.json().error.code, 'edge_credential_revoked')
})

t.test('S-198 a body whose pairing another machine stops while it comes is not stored', async (t) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  const two = await nextMachine(t, one)
  const at = await serving(t, one, { takesIn: takesNothingIn })
  const { credential, device_id: device } = await pairOver(one, at)
  const gov = { ...one.gov, store: one.open('write') }
  const small = body.subarray(0, 100_000)
  await gov.store.fresh()
  const party = authenticateEdge(gov, gov.store.read(), credential)
  const upload = await beginUpload(gov, party, edgeUpload.request(headOf(small, 1)))
  if (upload.kind !== 'new') throw new Error('it is known')
  const before = gov.store.artifacts.list()
  upload.write(small)
  // As it lies there before it is recorded.
  const { stateDir: dir, configDir } = two.place
  const elsewhere = openStore({ dir, configDir, mode: 'write' })
  t.teardown(() => elsewhere.close())
  await elsewhere.stops.put(newStop(gov.clock, { kind: deviceStop, target: device },
    { principal: null, root: null, verb: 'edge revoke' }))
  await t.rejects(upload.finish(), { code: 'edge_credential_revoked' })
  t.strictSame(gov.store.artifacts.list(), before)
})

t.test('requests that come at once share a look, and none takes one that was begun before it', async (t) => {
  const waiting: (() => void)[] = []
  let nowMs = 0
  const clock = { monotonicMs: () => nowMs } as Clock
  const store = {
    machine: 'first',
    fresh: () => new Promise<FreshView>((resolve) => {
      waiting.push(() => resolve({} as FreshView))
    }),
  } as unknown as Store
  const ended: string[] = []
  const ask = (name: string, withinMs = 0): Promise<unknown> =>
    followWithin(store, clock, withinMs).then(() => ended.push(name))
  const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve) })
  const first = ask('first')
  await turn()
  const later = Promise.all([ask('second'), ask('third')])
  await turn()
  t.equal(waiting.length, 1, 'the second waits for its own')
  waiting[0]?.()
  await first
  await turn()
  t.strictSame(ended, ['first'])
  t.equal(waiting.length, 2, 'one for both')
  waiting[1]?.()
  await later
  t.strictSame(ended, ['first', 'second', 'third'])
  await ask('soon', 1_000)
  t.equal(waiting.length, 2)
  nowMs = 1_000
  const due = ask('due', 1_000)
  await turn()
  t.equal(waiting.length, 3)
  waiting[2]?.()
  await due
})
