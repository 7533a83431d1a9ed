/** What the gateway key has spent, read around passes, and shown where a person settles. */
import { join } from 'node:path'
import { routeCollection } from '../../src/contact/routes.js'
import {
  gatewayCollection, gatewayRouteId, type GatewayRoute,
} from '../../src/gateway/setup.js'
import { readingCollection, sinceCollection } from '../../src/gateway/usage/usage-rows.js'
import { tryHoldFile } from '../../src/state/holds/kernel-file.js'
import { policyHead } from '../../src/governance/policy/head.js'
import { collections } from '../../src/governance/rows.js'
import {
  savedSettings, settingsCollection, settingsId,
} from '../../src/shots/source/settings.js'
import type { Tx } from '../../src/state/types.js'
import { must } from '../support/must.js'
import { analyze, healthy, set, take } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type AnalysisWorld } from '../world/world.js'

const terminal = { stdin: true, stdout: true }

const stage = (t: Parameters<typeof World.in>[0]) => World.in(t).sandbox().state().session()
  .gateway(forImages).images(allowed).proof('screenshot')

/** Requests of a pass in their order: `key` for a reading. */
const requests = (world: AnalysisWorld): readonly string[] =>
  world.calls().filter(({ service }) => service === 'gateway').map(({ route }) => route)

const readings = (world: AnalysisWorld) =>
  world.view().all(readingCollection).map(({ doc }) => doc)

const unknownOf = (world: AnalysisWorld): string => {
  const found = world.view().all(collections.openReservations)
    .find(({ doc }) => doc.state === 'unknown')
  return found?.id ?? ''
}

/** Passes of one picture each; the second one ends without a known charge. */
const passes = async (world: AnalysisWorld): Promise<void> => {
  for (const name of ['a.png', 'b.png', 'c.png']) {
    await take(world, name)
    if (name === 'b.png') world.sandbox.faults.set('no_cost', { service: 'gateway', times: 1 })
    t.equal((await analyze(world)).status, name === 'b.png' ? 7 : 0, name)
  }
}

t.test('no reading is asked for until somebody says that the key is this state\'s alone', async (t) => {
  const world = await stage(t)
  const before = requests(world).length
  await passes(world)
  t.strictSame(requests(world).slice(before), ['completion', 'completion', 'completion'])
  t.strictSame(readings(world), [])
  const line = ['ledger', 'settle', unknownOf(world), '--amount-microusd', '12']
  const settled = await world.run(line, { terminal, answers: [true] })
  t.equal(settled.status, 0, settled.stderr)
  t.notMatch(settled.stderr, /Readings/)
})

t.test('a pass is read around, one request at a time, and the range of an unknown charge is shown before an amount is asked', async (t) => {
  const world = await stage(t)
  await set(world, '--key-alone', 'on')
  const before = requests(world).length
  await passes(world)
  t.strictSame(requests(world).slice(before), [
    'key', 'completion', 'key', 'key', 'completion', 'key', 'key', 'completion', 'key',
  ])
  const id = unknownOf(world)
  const ran = await world.run(['ledger', 'settle', id], { terminal, answers: ['5000', false] })
  t.equal(ran.status, 130, ran.stderr)
  const [, low, high] = /between \S+ \(([\d,]+) µUSD\) and\s+\S+ \(([\d,]+) µUSD\)/
    .exec(ran.stderr.replaceAll('\n', ' ')) ?? []
  const spent = readings(world).map(({ usage_usd: usd }) => Math.round(Number(usd) * 1e6))
  const charge = (spent[3] ?? 0) - (spent[2] ?? 0)
  t.ok(charge > 0, 'the sandbox billed it')
  t.ok(Number(low?.replaceAll(',', '')) <= charge, ran.stderr)
  t.ok(charge <= Number(high?.replaceAll(',', '')), ran.stderr)
  t.equal(unknownOf(world), id, 'nothing settles by itself')
  await healthy(t, world)
})

t.test('a pass goes on where the gateway tells no usage, and the charge has no range', async (t) => {
  const world = await stage(t)
  await set(world, '--key-alone', 'on')
  const wrong = [
    { status: 404, headers: {}, body: Buffer.from('{}') },
    { status: 200, headers: {}, body: Buffer.from('{"data":{"usage":"1.5"}}') },
    { status: 200, headers: {}, body: Buffer.from('{"data":{"usage":-1}}') },
  ]
  for (const [n, raw] of wrong.entries()) {
    await take(world, `${n}.png`)
    world.sandbox.faults.reply(raw, { service: 'gateway', route: 'key' })
    t.equal((await analyze(world)).status, 0)
    world.sandbox.faults.clear()
  }
  t.strictSame(readings(world), [])
  const read = world.view().all(collections.audit)
    .filter(({ doc }) => doc.what === 'gateway.usage_read').map(({ doc }) => doc.facts['reason'])
  t.strictSame(read, ['http_status_404', 'usage_missing', 'usage_missing'])
  await healthy(t, world)
})

t.test('S-008 S-009 nothing is read while a gate is closed, nor where nothing is pending', async (t) => {
  const world = await stage(t)
  await set(world, '--key-alone', 'on')
  await take(world, 'a.png')
  const before = requests(world).length
  for (const flag of ['--analysis', '--cloud-upload']) {
    await set(world, flag, 'off')
    await analyze(world)
    await set(world, flag, 'on')
  }
  await must(world.run(['policy', 'revoke', '--json']))
  await analyze(world)
  t.equal(requests(world).length, before)
})

t.test('A-197 a reading holds the lane while it is on its way, and its route names the policy', async (t) => {
  const world = await stage(t)
  await set(world, '--key-alone', 'on')
  await take(world, 'a.png')
  const held: boolean[] = []
  await world.run(['shots', 'analyze', '--json'], {
    at: async (step) => {
      if (step !== 'usage.before_dial') return
      const free = tryHoldFile(join(world.place.stateDir, 'run', 'lane', 'holder'))
      held.push(free === null)
      free?.release()
    },
  })
  t.strictSame(held, [true, true], 'before the pass and behind it')
  const revision = policyHead(world.view()).revision
  const routes = world.view().all(routeCollection).map(({ doc }) => doc)
    .filter(({ url }) => url.endsWith('/key'))
  t.strictSame(routes.map((one) => [one.policy_revision, one.outcome, one.decision_id]),
    [[revision, 'succeeded', null], [revision, 'succeeded', null]])
})

const rerouted = (tx: Tx, change: Partial<GatewayRoute>): void => {
  const route = tx.get(gatewayCollection, gatewayRouteId)
  if (route !== undefined) tx.put(gatewayCollection, gatewayRouteId, { ...route, ...change })
}

/** What changes without a save, which would put a stop: the look at the rows alone can notice. */
const alters: Readonly<Record<string, (tx: Tx) => void>> = {
  'a gate of the pass': (tx) => tx.put(settingsCollection, settingsId, {
    ...savedSettings(tx), budget_requests: null,
  }),
  'the route': (tx) => rerouted(tx, { grant_id: 'grt_another' }),
  'the key': (tx) => rerouted(tx, { credential_fingerprint: '0'.repeat(64) }),
}

t.test('what a reading rests on, changed before the first byte, keeps it back', async (t) => {
  for (const [name, alter] of Object.entries(alters)) {
    const world = await stage(t)
    await set(world, '--key-alone', 'on')
    await take(world, 'a.png')
    let done = false
    await world.run(['shots', 'analyze', '--json'], {
      at: async (step) => {
        if (step !== 'usage.before_dial' || done) return
        done = true
        const { store } = world.ctx('write').gov
        await store.transact('test', alter)
        store.close()
      },
    })
    t.equal(done, true)
    const [read] = world.view().all(routeCollection).map(({ doc }) => doc)
      .filter(({ url }) => url.endsWith('/key'))
    t.hasStrict(read, { contacted_at: null, outcome: 'no_reading' }, name)
  }
})

t.test('a revoke while a reading is on its way out stops it, and the pass', async (t) => {
  const world = await stage(t)
  await set(world, '--key-alone', 'on')
  await take(world, 'a.png')
  const before = requests(world).length
  let revoked = false
  await world.run(['shots', 'analyze', '--json'], {
    at: async (step) => {
      if (step !== 'usage.contact_intent' || revoked) return
      revoked = true
      await must(world.run(['policy', 'revoke', '--json']))
    },
  })
  t.equal(revoked, true)
  t.equal(requests(world).length, before, 'no byte left')
})

t.test('saying it anew, or a new key, begins a new row of readings', async (t) => {
  const world = await stage(t)
  await set(world, '--key-alone', 'on')
  await take(world, 'a.png')
  await analyze(world)
  t.strictSame(readings(world).map(({ continues }) => continues), [false, true])
  await set(world, '--key-alone', 'off')
  t.strictSame(world.view().all(sinceCollection), [])
  await set(world, '--key-alone', 'on')
  await take(world, 'b.png')
  await analyze(world)
  t.strictSame(readings(world).map(({ continues }) => continues), [false, true, false, true])
  await must(world.run(['gateway', 'setup', '--slot', 'screenshot', '--timeout-seconds', '20',
    '--json']))
  t.strictSame(world.view().all(sinceCollection), [])
})
