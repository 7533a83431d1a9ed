/** Uploads whose process died, or whose disk failed, between the file and its record. */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { edgeLabel } from '../../src/edge/constants.js'
import { noteUpload, sweepAllInterrupted } from '../../src/edge/interrupted-uploads.js'
import { edgeCollections } from '../../src/edge/edge-rows.js'
import { sweepUnfinished } from '../../src/fabric/sweep-unfinished.js'
import { holdGuard } from '../../src/state/holds/guard.js'
import { temporaryName } from '../../src/state/files.js'
import { arrivalNames } from '../../src/state/arrivals.js'
import { startChild } from '../support/children.js'
import { capture, headOf, pairDevice, send } from '../support/edge/uploading.js'
import { signIn } from '../support/tasks.js'
import { World } from '../world/world.js'
import { t } from '../support/tests-in-slices.js'

const bytes = 600_000

const paired = async (t: Parameters<typeof World.still>[0]) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const { credential, party } = await pairDevice(world.gov, session)
  const { stateDir, configDir } = world.place
  const artifacts = join(stateDir, 'artifacts')
  const stored = (): readonly string[] => readdirSync(artifacts, {
    recursive: true, encoding: 'utf8',
  }).filter((name) => statSync(join(artifacts, name)).isFile()).map((name) => name.slice(3)).sort()
  const named = (): readonly string[] => world.gov.store.read().all(edgeCollections.artifacts)
    .map(({ doc }) => doc.ref.stored_sha256).sort()
  const upload = (order: { request: string, sequence: number, at: number }) =>
    startChild(t, 'uploading', { stateDir, configDir, credential, bytes, ...order })
  return { world, session, party, credential, stored, named, upload, artifacts }
}

t.test('S-204 an upload whose process dies at any step leaves, once the service starts again, no file that no record names, and the same request ends it', async (t) => {
  const at = await paired(t)
  const { world, upload, stored, named } = at
  // The first one makes folders.
  await send(world.gov, at.party, headOf(capture(), 1), capture())
  const whole = upload({ request: randomUUID(), sequence: 2, at: 0 })
  const seen = JSON.parse(await whole.line()) as string[]
  const noted = seen.findIndex((call) => /^open .*\/run\/publishing\//.test(call))
  t.ok(noted > 0, seen.join())
  let [sequence, left, killed] = [2, 0, 0]
  // Where the folder of its first two digits exists, an upload has two steps less.
  for (let step = noted + 1; step <= seen.length; step += 1) {
    const request = randomUUID()
    sequence += 1
    const what = `${step} ${seen[step - 1]?.replaceAll(world.place.stateDir, '')}`
    const dying = upload({ request, sequence, at: step })
    if (await dying.ended() === null) killed += 1
    if (stored().length > named().length) left += 1
    await sweepUnfinished(world.gov)
    t.strictSame(stored(), named(), what)
    t.strictSame(arrivalNames(world.place.stateDir), [], what)
    const body = capture(bytes, sequence)
    const head = headOf(body, sequence, { request_id: request })
    const row = await send(world.gov, at.party, head, body)
    t.equal(row.sequence, sequence, what)
  }
  t.ok(killed > 10, `${killed} were killed`)
  t.ok(left >= 3, `${left} left a file without a record`)
  t.equal(named().length, sequence)
})

t.test('S-204 the next upload of a device sweeps what its last one left', async (t) => {
  const { world, party, stored, named } = await paired(t)
  const { gov } = world
  const writer = gov.store.artifacts.writeStream(edgeLabel, {
    announce: (names) => noteUpload(gov, party.device.device_id, randomUUID(), names),
  })
  writer.write(capture())
  const { stored_sha256: orphan } = writer.finish()
  t.strictSame(stored(), [orphan])
  await send(gov, party, headOf(capture(), 1), capture())
  t.strictSame(stored(), named())
  t.notOk(stored().includes(orphan))
})

t.test('what is being published by somebody alive, what its record names, and what nobody noted stays (S-204)', async (t) => {
  const { world, party, stored } = await paired(t)
  const { gov, place } = world
  const device = party.device.device_id
  const request = randomUUID()
  const row = await send(gov, party, headOf(capture(), 1, { request_id: request }), capture())
  const writer = gov.store.artifacts.writeStream(edgeLabel)
  writer.write(capture(64, 9))
  const { stored_sha256: other } = writer.finish()
  const both = [row.ref.stored_sha256, other].sort()
  noteUpload(gov, device, request, { temporary: temporaryName(), stored: row.ref.stored_sha256 })
  t.equal(await sweepAllInterrupted(gov), 1)
  t.strictSame(stored(), both, 'the record names it')
  noteUpload(gov, device, randomUUID(), { temporary: temporaryName(), stored: other })
  const guard = await holdGuard(place.stateDir, device)
  t.equal(await sweepAllInterrupted(gov), 0)
  t.strictSame(stored(), both, 'somebody alive')
  guard.release()
  t.equal(await sweepAllInterrupted(gov), 1)
  t.strictSame(stored(), [row.ref.stored_sha256])
})

t.test('an upload whose record is kept elsewhere and was not read here yet keeps its bytes (S-204)', async (t) => {
  const { world: { gov }, party, stored } = await paired(t)
  const before = gov.store.read()
  const request = randomUUID()
  const row = await send(gov, party, headOf(capture(), 1, { request_id: request }), capture())
  const names = { temporary: temporaryName(), stored: row.ref.stored_sha256 }
  noteUpload(gov, party.device.device_id, request, names)
  const store = new Proxy(gov.store, {
    get: (target, name) => {
      if (name === 'read') return () => before
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  t.equal(await sweepAllInterrupted({ ...gov, store }), 1)
  t.strictSame(stored(), [row.ref.stored_sha256])
})

t.test('a note that outlived its record by a restore costs no bytes (S-204)', async (t) => {
  const { world, party } = await paired(t)
  const { gov, place: { stateDir } } = world
  await world.run(['state', 'backup', world.place.path('backup')])
  const request = randomUUID()
  const row = await send(gov, party, headOf(capture(), 1, { request_id: request }), capture())
  const { stored_sha256: name } = row.ref
  noteUpload(gov, party.device.device_id, request, { temporary: temporaryName(), stored: name })
  const ran = await world.run(['state', 'restore', world.place.path('backup'), '--yes'])
  t.equal(ran.status, 0, ran.stderr)
  t.strictSame(arrivalNames(stateDir), [], 'forgotten before the records are replaced')
  await sweepUnfinished({ ...gov, store: world.open('write') })
  const files = readdirSync(stateDir, { recursive: true, encoding: 'utf8' })
  t.ok(files.some((path) => path.endsWith(name)))
})

t.test('a note that is cut short or of another name removes nothing, and hinders nobody (S-204)', async (t) => {
  const { world, party, stored } = await paired(t)
  const { gov, place: { stateDir } } = world
  const row = await send(gov, party, headOf(capture(), 1), capture())
  const folder = join(stateDir, 'run', 'publishing')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, party.device.device_id), `{"record":"${row.request_id}","tempor`)
  writeFileSync(join(folder, 'notes.txt'), 'mine')
  t.equal(await sweepAllInterrupted(gov), 0)
  t.strictSame(arrivalNames(stateDir), ['notes.txt'])
  t.strictSame(stored(), [row.ref.stored_sha256])
})

t.test('a start sweeps unfinished files that nobody has written to for a quarter of an hour, and no younger one', async (t) => {
  const { world, artifacts } = await paired(t)
  const [old, young] = [join(artifacts, temporaryName()), join(artifacts, temporaryName())]
  for (const path of [old, young]) writeFileSync(path, 'half')
  const [then, now] = [16 * 60_000, 0].map((ago) => new Date(world.clock.wallMs() - ago))
  utimesSync(old, then!, then!)
  utimesSync(young, now!, now!)
  const token = join(world.gov.store.dir, 'run', `session.${process.pid}.0123abcd`)
  writeFileSync(token, 'half')
  await sweepUnfinished(world.gov)
  t.strictSame(readdirSync(artifacts), [young.slice(artifacts.length + 1)])
  t.notOk(existsSync(token), 'a token opens its session however young it is')
})
