/** Whose pictures and days are read, and of which folder; how they are sent is the page's. */
import { mkdirSync } from 'node:fs'
import { pictureOwner, openPicture } from '../../src/shots/picture/picture.js'
import { readToldDay } from '../../src/shots/told-day/read-day.js'
import { edgeCollections } from '../../src/edge/edge-rows.js'
import { cameraOf, captured, takeIn } from '../support/edge/captured.js'
import { must } from '../support/must.js'
import { after } from '../support/observations.js'
import { image } from '../support/png.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

t.test('another owner opens no picture and no day, and nobody one of another folder', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('1.png', image(1))
  must(await world.run(['shots', 'scan']))
  const id = world.rows()[0]?.observation_id ?? ''
  const ada = world.session()
  t.ok(image(1).equals((await openPicture(world.ctx(), ada, id)).bytes))
  t.equal(readToldDay(world.ctx(), ada, '2026-11-20').pictures, 1)
  await t.rejects(openPicture(world.ctx(), ada, 'obs_none'), { code: 'observation_not_found' })
  const file = world.place.write('passphrase', 'correct horse')
  must(await world.run(['principal', 'add', 'bob', '--passphrase-file', file]))
  must(await world.run(['login', '--owner', 'bob', '--passphrase-file', file]))
  const bob = world.session()
  t.not(bob.principal.name, ada.principal.name)
  const refused = { kind: 'unauthorized', code: 'not_default_principal' }
  const message = new RegExp(pictureOwner)
  await t.rejects(openPicture(world.ctx(), bob, id), { ...refused, message })
  await t.rejects(openPicture(world.ctx(), bob, 'obs_none'), refused, 'nor told which there are')
  t.throws(() => readToldDay(world.ctx(), bob, '2026-11-20'), refused)
  const other = world.place.path('other')
  mkdirSync(other)
  must(await world.run(['shots', 'config', 'set', '--folder', other]))
  const elsewhere = { kind: 'blocked', code: 'picture_elsewhere' }
  await t.rejects(openPicture(world.ctx(), ada, id), elsewhere)
})

t.test('what a device captured stands on the day of its owner, beside what the folder has, and is opened where it lies sealed', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('1.png', image(1), after(0))
  must(await world.run(['shots', 'scan']))
  const camera = await cameraOf(world)
  await camera.store(image(2), 60_000)
  await camera.store(image(3), 120_000)
  await takeIn(world)
  const ada = world.session()
  const day = after(0).slice(0, 10)
  const told = readToldDay(world.ctx(), ada, day)
  t.hasStrict(told, {
    pictures: 3, analysed: 0,
    devices: [{ device_id: camera.id, device_name: 'camera', pictures: 2 }],
    // Each of them is ended by the next one of its own place: five minutes, one, and five.
    seconds: 660,
  })
  t.strictSame(told.episodes.flatMap(({ pictures }) =>
    pictures.map(({ source, device_name: name }) => [source, name])),
  [['screenshot_folder', null], ['edge', 'camera'], ['edge', 'camera']])
  const [second] = captured(world)
  const { mime, bytes } = await openPicture(world.ctx(), ada, second?.observation_id ?? '')
  t.strictSame([mime, Buffer.from(bytes)], ['image/png', image(2)])
  // The folder in force may change: what a device captured lies in none.
  const other = world.place.path('other')
  mkdirSync(other)
  must(await world.run(['shots', 'config', 'set', '--folder', other]))
  await t.resolves(openPicture(world.ctx(), ada, second?.observation_id ?? ''))
  t.equal(readToldDay(world.ctx(), ada, day).pictures, 2)
  const text = must(await world.run(['shots', 'day', day], { env: { TZ: 'UTC' } })).stdout
  t.match(text, /2 screenshots of them from the device camera/)
  const [artifact, another] = world.view().all(edgeCollections.artifacts)
  if (artifact === undefined || another === undefined) throw new Error('two were stored')
  const put = (doc = artifact.doc) => camera.gov.store.transact('test', (tx) => {
    tx.put(edgeCollections.artifacts, artifact.id, doc)
  })
  await put({ ...artifact.doc, ref: another.doc.ref })
  await t.rejects(openPicture(world.ctx(), ada, second?.observation_id ?? ''),
    { code: 'picture_gone' }, 'other bytes are not what was observed')
  await put()
  camera.gov.store.artifacts.remove(artifact.doc.ref.stored_sha256)
  await t.rejects(openPicture(world.ctx(), ada, second?.observation_id ?? ''),
    { code: 'evidence_missing' })
  await camera.gov.store.transact('test', (tx) => {
    tx.remove(edgeCollections.artifacts, artifact.id)
  })
  await t.rejects(openPicture(world.ctx(), ada, second?.observation_id ?? ''),
    { code: 'picture_gone' })
})
