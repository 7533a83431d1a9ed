import { cpSync, rmSync } from 'node:fs'
import { authenticateEdge } from '../../src/edge/credential.js'
import {
  listDevices, offerPairing, openCodes, redeemPairing, revokeDevice,
} from '../../src/edge/pairing.js'
import { edgeCollections } from '../../src/edge/edge-rows.js'
import { verifyEdge } from '../../src/edge/verify-edge.js'
import { revokeSession } from '../../src/governance/stops/people.js'
import { anchorOf } from '../support/anchor.js'
import { addAndSignIn, signIn } from '../support/tasks.js'
import { codeOf, pairDevice, place } from '../support/edge/uploading.js'
import { minute } from '../support/clock.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

const refusal = { kind: 'unauthorized', code: 'edge_code_refused' }
const wrong = { code: 'A'.repeat(22), device_name: 'thief' }

t.test('a code is redeemed once, and neither it nor the credential lies in any row', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const { pairing, code } = await offerPairing(world.gov, session, { ...place, name: 'desk' })
  const request = { code: codeOf(pairing), device_name: 'camera' }
  const { device, credential } = await redeemPairing(world.gov, request)
  t.match(credential, /^spe_[A-Za-z0-9_-]{43}$/)
  t.equal(device.name, 'desk')
  t.equal(device.owner, session.principal.principal_id)
  t.hasStrict(device.limits, { cloud_egress: false, model_egress: false })
  await t.rejects(redeemPairing(world.gov, request), refusal)
  const party = authenticateEdge(world.gov, world.gov.store.read(), credential)
  t.equal(party.device.device_id, device.device_id)
  const rows = JSON.stringify([code, world.view().all(edgeCollections.devices)])
  t.notOk(rows.includes(request.code) || rows.includes(credential))
  t.strictSame(verifyEdge(world.view()), [])
})

t.test('a code ends after ten minutes, and with the session that offered it', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const late = await offerPairing(world.gov, session, place)
  world.clock.advance(10 * minute)
  const request = (offer: typeof late) => ({ code: codeOf(offer.pairing), device_name: 'camera' })
  await t.rejects(redeemPairing(world.gov, request(late)), refusal)
  const other = await signIn(world)
  const orphaned = await offerPairing(world.gov, other.session, place)
  await revokeSession(world.gov, session, other.session.root.root_id)
  await t.rejects(redeemPairing(world.gov, request(orphaned)), refusal)
  const good = await offerPairing(world.gov, session, place)
  world.clock.advance(10 * minute - 1)
  await t.resolves(redeemPairing(world.gov, request(good)))
})

t.test('a code ends with the idleness of the session that offered it, and is told as open no longer', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world, 'ada', { idleMs: 2 * minute })
  const { session: other } = await signIn(world)
  const { pairing, code } = await offerPairing(world.gov, session, place)
  const open = () => openCodes(world.view(), world.gov).map(({ code_id: id }) => id)
  world.clock.advance(2 * minute - 1)
  t.strictSame(open(), [code.code_id])
  world.clock.advance(1)
  t.strictSame(open(), [])
  const request = { code: codeOf(pairing), device_name: 'camera' }
  await t.rejects(redeemPairing(world.gov, request), refusal)
  t.strictSame(listDevices(world.view(), other), [], 'nothing is paired in its name')
  await offerPairing(world.gov, other, place)
  t.ok(world.view().get(edgeCollections.codes, code.code_id),
    'it lies there: of a state that machines share, another one may know of a later use')
})

t.test('a code of a session that may be used at another machine is told as open', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world, 'ada', { idleMs: 2 * minute })
  const { code } = await offerPairing(world.gov, session, place)
  const store = { ...world.gov.store, machine: 'another' } as typeof world.gov.store
  const open = () =>
    openCodes(world.view(), { ...world.gov, store }).map(({ code_id: id }) => id)
  world.clock.advance(3 * minute)
  t.strictSame(open(), [code.code_id])
  await revokeSession(world.gov, (await signIn(world)).session, session.root.root_id)
  t.strictSame(open(), [], 'one that has ended is used nowhere')
})

t.test('a clock that was set back lengthens the life of no code', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  world.clock.advance(20 * minute)
  const offer = await offerPairing(world.gov, session, place)
  const request = { code: codeOf(offer.pairing), device_name: 'camera' }
  world.clock.stepWall(-minute - 1)
  await t.rejects(redeemPairing(world.gov, request), refusal)
  world.clock.stepWall(1)
  await t.resolves(redeemPairing(world.gov, request), 'a minute is what clocks are put right by')
})

t.test('an old copy of the state opens nothing for a device and redeems no code (S-198)', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const { credential, party } = await pairDevice(world.gov, session)
  const offer = await offerPairing(world.gov, session, place)
  const copy = world.place.path('copy')
  cpSync(world.place.stateDir, copy, { recursive: true })
  await revokeDevice(world.gov, session, party.device.device_id)
  rmSync(world.place.stateDir, { recursive: true })
  cpSync(copy, world.place.stateDir, { recursive: true })
  const old = { ...world.gov, store: world.open('write') }
  const behind = { kind: 'blocked', code: 'store_behind_anchor' }
  t.throws(() => authenticateEdge(old, old.store.read(), credential), behind)
  const request = { code: codeOf(offer.pairing), device_name: 'camera' }
  await t.rejects(redeemPairing(old, request), behind)
  t.strictSame(old.store.read().all(edgeCollections.devices).length, 1, 'none came about')
})

t.test('no number of wrong tries ends a code, or writes anything', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const first = await offerPairing(world.gov, session, place)
  const before = world.gov.store.read().sequence
  for (let tried = 0; tried < 12; tried += 1) {
    await t.rejects(redeemPairing(world.gov, wrong), refusal)
  }
  t.equal(world.gov.store.read().sequence, before)
  await t.resolves(redeemPairing(world.gov, { code: codeOf(first.pairing), device_name: 'a' }))
})

t.test('a wrong, empty or missing edge credential opens nothing (S-196)', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session, token } = await signIn(world)
  const { credential } = await pairDevice(world.gov, session)
  const open = (given: string | null) => authenticateEdge(world.gov, world.gov.store.read(), given)
  for (const none of ['', null]) t.throws(() => open(none), { code: 'edge_credential_required' })
  const flipped = `${credential.slice(0, -2)}${credential.endsWith('AA') ? 'BB' : 'AA'}`
  for (const bad of [flipped, token, `${credential} `, 'spe_', 'x'.repeat(47)]) {
    t.throws(() => open(bad), { kind: 'unauthorized', code: 'edge_credential_invalid' })
  }
  t.doesNotThrow(() => open(credential))
})

t.test('a revoked pairing is refused at once by every process (S-198)', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const [one, two] = [
    await pairDevice(world.gov, session), await pairDevice(world.gov, session),
  ]
  const elsewhere = { ...world.gov, store: world.open('write') }
  t.doesNotThrow(() => authenticateEdge(elsewhere, elsewhere.store.read(), one.credential))
  const { device_id: id } = one.party.device
  t.hasStrict(await revokeDevice(world.gov, session, id), { ended: true })
  t.hasStrict(await revokeDevice(world.gov, session, id), { ended: false })
  const gone = { kind: 'unauthorized', code: 'edge_credential_revoked' }
  for (const gov of [elsewhere, world.gov]) {
    t.throws(() => authenticateEdge(gov, gov.store.read(), one.credential), gone)
    t.doesNotThrow(() => authenticateEdge(gov, gov.store.read(), two.credential),
      'the other device goes on')
  }
  t.strictSame(
    listDevices(world.view(), session).map(({ ended }) => ended?.reason ?? null),
    [null, 'revoked'],
  )
  await t.rejects(revokeDevice(world.gov, session, `${id.slice(0, -1)}x`), {
    kind: 'not_found', code: 'edge_device_not_found',
  })
})

t.test('a disabled owner has no device, and another owner sees none of mine', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const bob = await addAndSignIn(world, session, 'bob')
  const { credential } = await pairDevice(world.gov, bob.session)
  t.strictSame(listDevices(world.view(), session), [])
  const { disablePrincipal } = await import('../../src/governance/stops/people.js')
  await disablePrincipal(world.gov, session, 'bob')
  t.throws(() => authenticateEdge(world.gov, world.gov.store.read(), credential), {
    code: 'principal_disabled',
  })
})

t.test('codes and pairings are bounded in number', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const offers = []
  for (let n = 0; n < 8; n += 1) offers.push(await offerPairing(world.gov, session, place))
  await t.rejects(offerPairing(world.gov, session, place), { code: 'edge_codes_full' })
  const [first] = offers
  if (first === undefined) throw new Error('no offer')
  const { device } = await redeemPairing(
    world.gov, { code: codeOf(first.pairing), device_name: 'a' },
  )
  await world.transact((tx) => {
    for (let n = 0; n < 63; n += 1) {
      tx.put(edgeCollections.devices, `edge_dev_${n}`, { ...device, device_id: `edge_dev_${n}` })
    }
  })
  await t.rejects(offerPairing(world.gov, session, place), { code: 'edge_devices_full' })
  // Offered while there was room, and redeemed when there is none any more.
  const request = { code: codeOf(offers.at(-1)?.pairing ?? ''), device_name: 'b' }
  await t.rejects(redeemPairing(world.gov, request), { code: 'edge_devices_full' })
  await revokeDevice(world.gov, session, 'edge_dev_7')
  await t.resolves(redeemPairing(world.gov, request), 'a refusal uses no code up')
})

t.test('a redeemed code moves the anchor: no old copy knows it as open', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const { pairing } = await offerPairing(world.gov, session, place)
  const before = anchorOf(world.place)
  await redeemPairing(world.gov, { code: codeOf(pairing), device_name: 'camera' })
  t.not(anchorOf(world.place), before)
})

t.test('a session that has ended ends no pairing', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const { session: ended } = await signIn(world)
  const { credential, party: { device: { device_id: id } } } = await pairDevice(world.gov, session)
  await revokeSession(world.gov, session, ended.root.root_id)
  await t.rejects(revokeDevice(world.gov, ended, id), { kind: 'unauthorized' })
  t.doesNotThrow(() => authenticateEdge(world.gov, world.gov.store.read(), credential))
})
