import type { Test } from 'tap'
import { stateRules } from '../../src/fabric/state-rules.js'
import { shotLabels } from '../../src/shots/constants.js'
import { folderDigestOf } from '../../src/shots/source/folder-digest.js'
import { appendReceipt, receiptIdOf } from '../../src/shots/receipts/append.js'
import { receiptCollections as kept } from '../../src/shots/receipts/receipt-rows.js'
import { fileIdOf } from '../../src/shots/observations/observation-store.js'
import {
  shotCollections as c, type SeenFile,
} from '../../src/shots/observations/observation-rows.js'
import { settingsCollection } from '../../src/shots/source/settings.js'
import { verifyShots } from '../../src/shots/verify-shots.js'
import type { Tx } from '../../src/state/types.js'
import { after, observationOf, payloadRefOf } from '../support/observations.js'
import { greyPng } from '../support/png.js'
import { scanFactsOf } from '../support/receipts.js'
import { t } from '../support/tests-in-slices.js'
import { World, type ImageWorld } from '../world/world.js'

const change = async (world: ImageWorld, fn: (tx: Tx) => void): Promise<void> => {
  const { store } = world.ctx('write').gov
  await store.transact('test', fn)
  store.close()
}

/** Two folders, some rows, three receipts; everything agrees. */
const makeSound = async (t: Test): Promise<ImageWorld> => {
  const world = await World.in(t).state().session().images()
  const other = world.place.path('other')
  await world.put(
    observationOf(world.folder, 'a.png'), observationOf(world.folder, 'b.png'),
    observationOf(world.folder, 'c.png', {
      analysis_status: 'pending', captured_at: after(3_600_000), archived_at: after(0),
    }),
    observationOf(other, 'a.png', { sha256: observationOf(world.folder, 'a.png').sha256 }),
  )
  await change(world, (tx) => {
    for (let n = 0; n < 3; n += 1) {
      appendReceipt(tx, after(n), 'screenshot_folder_ingest', scanFactsOf({ scanned: n }))
    }
  })
  return world
}

const codes = (world: ImageWorld): string[] => verifyShots(world.view()).map(({ code }) => code)

t.test('S-064 S-117 what drifts from the observations is found, each by its own name', async (t) => {
  const world = await makeSound(t)
  t.strictSame(codes(world), [])
  const view = world.view()
  const [row] = world.rows()
  const [count] = view.all(c.counts)
  const [content] = view.all(c.contents)
  const folder = view.get(c.folders, folderDigestOf(world.folder))
  if (!row || !count || !content || !folder) throw new Error('nothing there')
  const id = row.observation_id
  const other = folderDigestOf('/elsewhere')
  const seen: SeenFile = {
    root_digest: row.root_digest, name: { text: 'z.png', bytes_base64: null }, bytes: 1,
    modified_ns: '1', inode: '1', outcome: 'ingested', reason: null, measure: null,
    observation_id: id, sha256: null, seen_at: after(0),
  }
  const fileId = fileIdOf(row.root_digest, seen.name)
  await change(world, (tx) => tx.put(c.files, fileId, seen))
  t.strictSame(codes(world), [])
  const drifts: [string, (tx: Tx) => void, (tx: Tx) => void][] = [
    ['shot_counts_differ',
      (tx) => tx.put(c.counts, count.id, { ...count.doc, count: count.doc.count + 1 }),
      (tx) => tx.put(c.counts, count.id, count.doc)],
    ['shot_counts_differ', (tx) => tx.remove(c.counts, count.id),
      (tx) => tx.put(c.counts, count.id, count.doc)],
    ['shot_contents_differ', (tx) => tx.remove(c.contents, content.id),
      (tx) => tx.put(c.contents, content.id, content.doc)],
    ...[
      { observations: [] },
      { observations: content.doc.observations.map((one) => ({ ...one, root_digest: other })) },
      { observations: [
        ...content.doc.observations, { observation_id: 'obs_1', root_digest: other }] },
      { suppressed_for: ['obs_gone'] },
    ].map((wrong): (typeof drifts)[number] => ['shot_contents_differ',
      (tx) => tx.put(c.contents, content.id, { ...content.doc, ...wrong }),
      (tx) => tx.put(c.contents, content.id, content.doc)]),
    ['shot_file_differs', (tx) => tx.put(c.files, fileId, { ...seen, observation_id: 'obs_gone' }),
      (tx) => tx.put(c.files, fileId, seen)],
    ['shot_file_differs', (tx) => tx.put(c.files, 'a file', seen),
      (tx) => tx.remove(c.files, 'a file')],
    ['shot_root_differs',
      (tx) => tx.put(c.folders, folder.root_digest, { ...folder, suppressed: 7 }),
      (tx) => tx.put(c.folders, folder.root_digest, folder)],
    ['shot_root_differs',
      (tx) => tx.put(c.folders, folder.root_digest, { ...folder, latest_captured_at: after(-1) }),
      (tx) => tx.put(c.folders, folder.root_digest, folder)],
    ['shot_root_differs',
      (tx) => tx.put(c.folders, folder.root_digest, {
        ...folder, small_changes: { images: 1, areas: [] },
      }),
      (tx) => tx.put(c.folders, folder.root_digest, folder)],
    ['shot_root_missing', (tx) => tx.remove(c.folders, folder.root_digest),
      (tx) => tx.put(c.folders, folder.root_digest, folder)],
    ['observation_without_payload',
      (tx) => tx.put(c.observations, id, { ...row, analysis_status: 'succeeded' }),
      (tx) => tx.put(c.observations, id, row)],
    ['payload_missing', (tx) => tx.put(c.observations, id, { ...row, payload: payloadRefOf() }),
      (tx) => tx.put(c.observations, id, row)],
    ['observation_root_mismatch',
      (tx) => tx.put(c.observations, id, { ...row, root: '/elsewhere' }),
      (tx) => tx.put(c.observations, id, row)],
  ]
  for (const [code, drift, mend] of drifts) {
    await change(world, drift)
    t.ok(codes(world).includes(code), code)
    await change(world, mend)
    t.strictSame(codes(world), [], `${code} is gone`)
  }
})

t.test('S-131 a receipt that is changed, lost or added breaks the chain', async (t) => {
  const world = await makeSound(t)
  const two = world.view().get(kept.receipts, receiptIdOf(2))
  const three = world.view().get(kept.receipts, receiptIdOf(3))
  const head = world.view().get(kept.head, 'the')
  if (!two || !three || !head) throw new Error('nothing there')
  const forge = async (text: string, fn: (tx: Tx) => void): Promise<void> => {
    await change(world, fn)
    t.match(codes(world).join(), /shot_receipt/, text)
    await change(world, (tx) => {
      tx.put(kept.receipts, receiptIdOf(2), two)
      tx.put(kept.receipts, receiptIdOf(3), three)
      tx.remove(kept.receipts, receiptIdOf(4))
      tx.put(kept.head, 'the', head)
    })
    t.strictSame(codes(world), [])
  }
  await forge('changed', (tx) =>
    tx.put(kept.receipts, receiptIdOf(2), {
      ...two, job: 'screenshot_folder_ingest', facts: scanFactsOf({ scanned: 99 }),
    }))
  await forge('lost in the middle', (tx) => tx.remove(kept.receipts, receiptIdOf(2)))
  await forge('lost at the end', (tx) => tx.remove(kept.receipts, receiptIdOf(3)))
  await forge('added', (tx) => tx.put(kept.receipts, receiptIdOf(4), { ...three, number: 4 }))
  await forge('head set back', (tx) => tx.put(kept.head, 'the', { ...head, number: 2 }))
})

t.test('state check knows every row and every sealed byte of a scan, and a compaction keeps them', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', greyPng(64, 48, 1))
  world.file('b.png', greyPng(64, 48, 2))
  t.equal((await world.run(['shots', 'scan', '--json'])).status, 0)
  const check = async () => (await world.run(['state', 'check', '--json'])).json()
  t.hasStrict(await check(), { ok: true, problems: [] })
  const folder = world.view().get(c.folders, folderDigestOf(world.folder))
  const ref = folder?.representative?.fingerprint
  if (!ref) throw new Error('no fingerprint')
  t.ok((await stateRules()).referenced(world.view()).has(ref.stored_sha256))
  t.equal((await world.run(['state', 'compact'])).status, 0)
  const { store } = world.ctx('write').gov
  t.ok(store.artifacts.read(shotLabels.fingerprint, ref).length > 0, 'the fingerprint stays')
  await store.transact('test', (tx) => {
    const [one] = tx.all(c.counts)
    if (one) tx.remove(c.counts, one.id)
  })
  const bad = await world.run(['state', 'check', '--json'])
  t.equal(bad.status, 12)
  t.hasStrict(bad.json().problems, [{ code: 'shot_counts_differ', severity: 'damage' }])
  store.artifacts.remove(ref.stored_sha256)
  const codesNow = (await check()).problems.map((one: { code: string }) => one.code)
  t.ok(codesNow.includes('evidence_missing'))
})

t.test('counters that are wrong are counted again by a repair, which loses nothing', async (t) => {
  const world = await World.in(t).state().session().images()
  await world.put(...['a.png', 'b.png', 'c.png'].map((name) => observationOf(world.folder, name)))
  const right = world.view().all(c.counts)
  const { store } = world.ctx('write').gov
  await store.transact('test', (tx) => {
    for (const { id, doc } of tx.all(c.counts)) {
      tx.remove(c.counts, id)
      tx.put(c.counts, 'other', { ...doc, count: doc.count + 4 })
    }
  })
  store.close()
  t.hasStrict((await world.run(['state', 'check', '--json'])).json().problems,
    [{ code: 'shot_counts_differ' }])
  const { done, loss } = (await world.run(['state', 'repair', '--json'])).json()
  t.hasStrict(done, [{ code: 'indexes_rebuilt' }])
  t.hasStrict(loss, { records_after: null })
  t.strictSame(world.view().all(c.counts), right)
  t.equal((await world.run(['state', 'check'])).status, 0)
  t.hasStrict((await world.run(['state', 'repair', '--json'])).json(), { changed: false })
})

t.test('every collection of the source is known to state check', async (t) => {
  const { collections } = await stateRules()
  const known = new Set(collections.map(({ name }) => name))
  for (const { name } of [...Object.values(c), settingsCollection]) t.ok(known.has(name), name)
  t.equal(known.size, collections.length, 'no name twice')
})
