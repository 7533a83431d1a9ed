import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { beginUpload, type Upload } from '../../src/edge/upload.js'
import { edgeUpload, type UploadHead } from '../../src/edge/edge-contract.js'
import { revokeDevice } from '../../src/edge/pairing.js'
import { edgeArtifact, edgeArtifacts, openEdgeBytes } from '../../src/edge/readback.js'
import { edgeCollections, spentId, type EdgeDevice } from '../../src/edge/edge-rows.js'
import { verifyEdge } from '../../src/edge/verify-edge.js'
import { putStop } from '../../src/state/stop-folder.js'
import { askedThrough, newStop } from '../../src/governance/stops/act.js'
import { deviceStop } from '../../src/governance/stops/stop.js'
import type { Gov } from '../../src/governance/context.js'
import { anchorOf } from '../support/anchor.js'
import { betweenLookAndRecord } from '../support/between.js'
import { addAndSignIn, signIn } from '../support/tasks.js'
import { capture, headOf, pairDevice, send } from '../support/edge/uploading.js'
import { World, type StateWorld } from '../world/world.js'
import { stopsDirOf } from '../support/stops-dir.js'

/** Every file of the state directory with its length; logs and guards of no content left out. */
const files = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort()
    .filter((name) => statSync(join(dir, name)).isFile())
    .map((name) => `${name} ${statSync(join(dir, name)).size}`)

const paired = async (t: Parameters<typeof World.still>[0], limits = {}) => {
  const world: StateWorld = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  return { world, session, ...await pairDevice(world.gov, session, limits) }
}

const begun = async (
  { world, party }: Awaited<ReturnType<typeof paired>>, head: UploadHead,
): Promise<Upload> => {
  const upload = await beginUpload(world.gov, party, head)
  if (upload.kind !== 'new') throw new Error('it is known')
  return upload
}

t.test('S-032 S-033 an upload is filed under an id of the server and read whole', async (t) => {
  const at = await paired(t)
  const { world, party, session } = at
  const body = capture(600_000)
  const path = '../../x/shot.png'
  const row = await send(world.gov, party, headOf(body, 3, { source_path: path }), body, 70_001)
  t.match(row.artifact_id, /^edge_art_[0-9a-f-]{36}$/)
  const view = world.gov.store.read()
  t.hasStrict(edgeUpload.document(edgeArtifact(view, party, row.artifact_id)), {
    schema: 'sallyport.edge.artifact.v1', sequence: 3, bytes: 600_000, source_path: path,
    mime: 'image/png', purpose: 'synthetic-capture', owner: session.principal.principal_id,
    policy: { cloud_egress: false, model_egress: false },
  })
  for (const by of [party, session]) {
    const { reader } = openEdgeBytes(world.gov, view, by, row.artifact_id)
    t.ok(Buffer.concat([...reader.pieces()]).equals(body))
    reader.close()
    t.strictSame(edgeArtifacts(view, by).artifacts, [row])
  }
  t.strictSame(verifyEdge(view), [])
})

t.test('a path of the device names no file and no id (S-034)', async (t) => {
  const { world, party } = await paired(t)
  const body = capture()
  const path = '../../x/shot.png'
  const { artifact_id: id } = await send(
    world.gov, party, headOf(body, 1, { source_path: path }), body,
  )
  t.notOk(files(world.place.dir).some((name) => name.includes('shot.png')))
  t.notOk(id.includes('shot'))
  const view = world.gov.store.read()
  t.throws(() => edgeArtifact(view, party, path), { code: 'edge_artifact_not_found' })
})

t.test('S-033 what belongs to another owner or device is not there, nor is its id the way on', async (t) => {
  const { world, party, session } = await paired(t)
  const bob = await addAndSignIn(world, session, 'bob')
  const body = capture()
  const { artifact_id: id } = await send(world.gov, party, headOf(body, 1), body)
  await send(world.gov, party, headOf(body, 2), body)
  const other = await pairDevice(world.gov, session)
  const view = world.gov.store.read()
  for (const by of [bob.session, other.party]) {
    t.throws(() => edgeArtifact(view, by, id), { code: 'edge_artifact_not_found' })
    t.strictSame(edgeArtifacts(view, by).artifacts, [])
  }
  const { device_id: device } = party.device
  t.hasStrict(edgeArtifacts(view, session, { device, limit: 1 }), { artifacts: [{ sequence: 2 }] })
  t.strictSame(
    edgeArtifacts(view, bob.session, { device, limit: 1 }), { artifacts: [], next: null })
})

t.test('an upload that names another owner is refused (S-030)', async (t) => {
  const { world, party, session } = await paired(t)
  const bob = await addAndSignIn(world, session, 'bob')
  const body = capture()
  const before = files(world.place.dir)
  const foreign = headOf(body, 1, { owner: bob.session.principal.principal_id })
  await t.rejects(beginUpload(world.gov, party, foreign), { code: 'edge_owner_differs' })
  t.strictSame(files(world.place.dir), before)
  const own = headOf(body, 1, { owner: session.principal.principal_id })
  t.equal((await send(world.gov, party, own, body)).owner, session.principal.principal_id)
})

const lies: Readonly<Record<string, readonly [Readonly<Record<string, unknown>>, string]>> = {
  'another hash (S-201, S-031)': [{ sha256: 'a'.repeat(64) }, 'sha256_differs'],
  'one byte more (S-202, S-031)': [{ bytes: 65 }, 'size_differs'],
  'one byte less (S-202, S-031)': [{ bytes: 63 }, 'size_differs'],
  'another kind': [{ mime: 'image/jpeg' }, 'mime_differs'],
}
for (const [what, [lie, code]] of Object.entries(lies)) {
  t.test(`an upload that declares ${what} is rejected and leaves no byte (S-204)`, async (t) => {
    const { world, party } = await paired(t)
    const body = capture()
    const before = files(world.place.dir)
    const failure = { kind: 'rejected', code, reason: 'rule' }
    await t.rejects(send(world.gov, party, headOf(body, 1, lie), body, 10), failure)
    t.strictSame(files(world.place.dir), before)
    await t.resolves(send(world.gov, party, headOf(body, 1), body), 'the number was not spent')
  })
}

t.test('a sequence that is equal or lower is rejected, a gap is not (S-203, S-204)', async (t) => {
  const { world, party } = await paired(t)
  const body = capture()
  await send(world.gov, party, headOf(body, 5), body)
  const before = files(world.place.dir)
  for (const sequence of [1, 4, 5]) {
    await t.rejects(beginUpload(world.gov, party, headOf(body, sequence)), {
      kind: 'conflict', code: 'sequence_not_greater', details: { last_sequence: 5 },
    })
  }
  for (const malformed of [0, -1, 1.5, 2 ** 53, '6', null]) {
    t.throws(() => headOf(body, malformed as number), { code: 'request_invalid' })
  }
  t.strictSame(files(world.place.dir), before)
  t.equal((await send(world.gov, party, headOf(body, 9), body)).sequence, 9)
})

t.test('a request id gives one artifact, and conflicts with other content', async (t) => {
  const { world, party } = await paired(t)
  const body = capture()
  const head = headOf(body, 1)
  const first = await send(world.gov, party, head, body)
  await send(world.gov, party, headOf(body, 2), body)
  const again = await beginUpload(world.gov, party, head)
  t.hasStrict(again, { kind: 'known', artifact: { artifact_id: first.artifact_id } })
  for (const altered of [
    { sha256: 'b'.repeat(64) }, { bytes: 65 }, { purpose: 'other' },
    { captured_at: '2026-01-02T03:04:05.679Z' }, { source: 'other' },
    { mime: 'image/jpeg' as const },
    { policy: { cloud_egress: true, model_egress: false } },
    { policy: { cloud_egress: false, model_egress: true } },
  ]) {
    const conflict = { kind: 'conflict', code: 'request_id_conflict' }
    await t.rejects(beginUpload(world.gov, party, { ...head, sequence: 7, ...altered }), conflict)
  }
  t.equal(world.view().all(edgeCollections.artifacts).length, 2)
})

t.test('one upload of a device at a time, also between processes', async (t) => {
  const at = await paired(t)
  const { world, party, session } = at
  const body = capture()
  const upload = await begun(at, headOf(body, 1))
  const elsewhere = { ...world.gov, store: world.open('write') }
  const busy = { kind: 'conflict', code: 'upload_under_way' }
  for (const gov of [world.gov, elsewhere]) {
    await t.rejects(beginUpload(gov, party, headOf(body, 1)), busy)
  }
  const other = await pairDevice(world.gov, session)
  await t.resolves(send(world.gov, other.party, headOf(body, 1), body), 'another device goes on')
  upload.write(body)
  await upload.finish()
  await t.rejects(send(elsewhere, party, headOf(body, 1), body), { code: 'sequence_not_greater' })
  t.equal((await send(elsewhere, party, headOf(body, 2), body)).sequence, 2)
  t.strictSame(verifyEdge(world.view()), [])
})

t.test('a pairing that ends during a body ends it at the next byte, leaving none', async (t) => {
  const at = await paired(t)
  const { world, party, session } = at
  const body = capture()
  const before = files(join(world.place.stateDir, 'artifacts'))
  const upload = await begun(at, headOf(body, 1))
  upload.write(body.subarray(0, 10))
  await revokeDevice({ ...world.gov, store: world.open('write') }, session, party.device.device_id)
  const gone = { kind: 'unauthorized', code: 'edge_credential_revoked' }
  t.throws(() => upload.write(body.subarray(10)), gone)
  t.strictSame(files(join(world.place.stateDir, 'artifacts')), before)
  t.strictSame(world.view().all(edgeCollections.artifacts), [])
})

t.test('a revocation that waits for the lock is in force for the record too', async (t) => {
  const at = await paired(t)
  const { world, party, session } = at
  const body = capture()
  const upload = await begun(at, headOf(body, 1))
  upload.write(body)
  const aim = { kind: deviceStop, target: party.device.device_id }
  const stop = newStop(world.clock, aim, askedThrough('edge revoke', session))
  putStop(stopsDirOf(world.gov.store), stop)
  await t.rejects(upload.finish(), { code: 'edge_credential_revoked' })
  t.strictSame(world.view().all(edgeCollections.artifacts), [])
})

t.test('a full pairing stores nothing, and egress is what it was paired for', async (t) => {
  const at = await paired(t, { bytes_max: 100, items_max: 2, cloud_egress: true })
  const { world, party } = at
  const body = capture(60)
  await send(world.gov, party, headOf(body, 1), body)
  const full = { kind: 'blocked', code: 'edge_store_full' }
  const before = files(world.place.dir)
  await t.rejects(beginUpload(world.gov, party, headOf(body, 2)), full)
  t.strictSame(files(world.place.dir), before)
  const small = capture(40)
  const cloud = { policy: { cloud_egress: true, model_egress: false } }
  const row = await send(world.gov, party, headOf(small, 2, cloud), small)
  t.hasStrict(row.policy, cloud.policy)
  const huge = { ...headOf(small, 3), bytes: 2 ** 30 }
  await t.rejects(beginUpload(world.gov, party, huge), { code: 'edge_upload_too_large' })
  const tiny = capture(8)
  await t.rejects(beginUpload(world.gov, party, headOf(tiny, 3)), full, 'the count is full as well')
})

t.test('each egress is a switch of its own, off at first', async (t) => {
  const world: StateWorld = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const body = capture()
  const both = ['cloud_egress', 'model_egress']
  for (const allowed of [[], ['cloud_egress'], ['model_egress'], both]) {
    const limits = Object.fromEntries(allowed.map((name) => [name, true]))
    const { party } = await pairDevice(world.gov, session, limits)
    for (const [number, name] of ['cloud_egress', 'model_egress'].entries()) {
      const policy = { cloud_egress: false, model_egress: false, [name]: true }
      const sent = send(world.gov, party, headOf(body, number + 1, { policy }), body)
      if (allowed.includes(name)) t.hasStrict((await sent).policy, policy)
      else await t.rejects(sent, { code: 'edge_egress_not_allowed' })
    }
  }
})

/** The same store, which does something right before a record. */
const beforeRecords = (store: Gov['store'], first: () => void): Gov['store'] =>
  new Proxy(store, {
    get: (target, name) => {
      const found = Reflect.get(target, name, target) as unknown
      if (typeof found !== 'function') return found
      const method = (found as (...args: unknown[]) => unknown).bind(target)
      return name !== 'transact' ? method : (...args: unknown[]) => {
        first()
        return method(...args)
      }
    },
  })

const stopOf = ({ world, party, session }: Awaited<ReturnType<typeof paired>>) => () => {
  const aim = { kind: deviceStop, target: party.device.device_id }
  const stop = newStop(world.clock, aim, askedThrough('edge revoke', session))
  putStop(stopsDirOf(world.gov.store), stop)
}

t.test('what the record refuses leaves no bytes, though they were stored by then', async (t) => {
  const at = await paired(t)
  const { world, party } = at
  const body = capture()
  const sealed = () => files(join(world.place.stateDir, 'artifacts'))
  const before = sealed()
  let seen: readonly string[] = []
  const stop = stopOf(at)
  const store = beforeRecords(world.gov.store, () => {
    seen = sealed()
    stop()
  })
  await t.rejects(send({ ...world.gov, store }, party, headOf(body, 1), body), {
    code: 'edge_credential_revoked',
  })
  t.equal(seen.length, before.length + 1, 'they were there')
  t.strictSame(sealed(), before)
})

t.test('S-203 a request id that a replaced state had taken is refused in the record, too', async (t) => {
  const { world, party } = await paired(t)
  const body = capture()
  const head = headOf(body, 1)
  const spent = spentId(party.device.device_id, head.request_id)
  const gov = betweenLookAndRecord(world.gov, () => world.transact((tx) =>
    tx.put(edgeCollections.spent, spent, { artifact_id: 'edge_art_before', sequence: 1 })))
  await t.rejects(send(gov, party, head, body), { code: 'request_id_conflict' })
  t.strictSame(world.view().all(edgeCollections.artifacts), [])
})

t.test('an upload that was accepted moves the anchor: no old copy takes its sequence again', async (t) => {
  const { world, party } = await paired(t)
  const body = capture()
  const before = anchorOf(world.place)
  await send(world.gov, party, headOf(body, 1), body)
  t.not(anchorOf(world.place), before)
})

t.test('S-203 what is not acceptable any more is refused in the record, too', async (t) => {
  const body = capture()
  const changes: Readonly<Record<string, (row: EdgeDevice) => EdgeDevice>> = {
    sequence_not_greater: (row) => ({ ...row, last_sequence: 1 }),
    edge_store_full: (row) => ({ ...row, stored: { items: row.limits.items_max, bytes: 0 } }),
  }
  for (const [code, changed] of Object.entries(changes)) {
    const { world, party } = await paired(t)
    const { device_id: device } = party.device
    const gov = betweenLookAndRecord(world.gov, () => world.transact((tx) =>
      tx.put(edgeCollections.devices, device, changed(party.device))))
    await t.rejects(send(gov, party, headOf(body, 1), body), { code })
    t.strictSame(world.view().all(edgeCollections.artifacts), [])
  }
})

t.test('a pairing that ended before the end of a body comes to no record at all', async (t) => {
  const at = await paired(t)
  const { world } = at
  const body = capture()
  let records = 0
  const store = beforeRecords(world.gov.store, () => (records += 1))
  const upload = await begun({ ...at, world: { ...world, gov: { ...world.gov, store } } },
    headOf(body, 1))
  upload.write(body)
  stopOf(at)()
  await t.rejects(upload.finish(), { code: 'edge_credential_revoked' })
  t.equal(records, 0)
})

t.test('a pairing that has stored as many as it may stores no more, however small', async (t) => {
  const { world, party } = await paired(t, { items_max: 1 })
  const body = capture()
  await send(world.gov, party, headOf(body, 1), body)
  await t.rejects(beginUpload(world.gov, party, headOf(body, 2)), { code: 'edge_store_full' })
})

t.test('the stop of one device stops no other one, recorded or not', async (t) => {
  const at = await paired(t)
  const { world, party, session } = at
  const body = capture()
  const other = await pairDevice(world.gov, session)
  stopOf(at)()
  await t.rejects(send(world.gov, party, headOf(body, 1), body), {
    code: 'edge_credential_revoked',
  })
  t.equal((await send(world.gov, other.party, headOf(body, 1), body)).sequence, 1)
})
