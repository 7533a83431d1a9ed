import { execFileSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import {
  appendFileSync, chmodSync, chownSync, linkSync, mkdirSync, readFileSync, readdirSync, renameSync,
  statSync, symlinkSync, truncateSync, utimesSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { isoFromMs } from '../../../src/base/clock.js'
import { tryHoldFile } from '../../../src/state/holds/kernel-file.js'
import { drained, onDisk, pictureOf, spoolAt } from '../../support/edge/device.js'
import { failure, must } from '../../support/must.js'
import { t } from '../../support/tests-in-slices.js'
import { World } from '../../world/world.js'

const picture = pictureOf(1)
const jpeg = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.from('rest of it')])

t.test('S-035 a capture lies in a private spool, and the file stays as it was', async (t) => {
  const { place } = await World.in(t)
  const file = place.write('shot.png', picture)
  const before = statSync(file)
  const got = await place.json(['edge', 'capture', 'shot.png', '--source', 'editor'])
  t.hasStrict(got, {
    schema: 'sallyport.edge.capture.v1', outcome: 'spooled', bytes: picture.length,
    sha256: createHash('sha256').update(picture).digest('hex'), mime: 'image/png',
    purpose: 'screenshot', source: 'editor', captured_at: isoFromMs(before.mtimeMs),
    policy: { cloud_egress: false, model_egress: false }, evicted: [],
  })
  t.strictSame([got.spool.items, got.spool.aside], [1, 0])
  const { entries, items } = onDisk(place.edgeDir)
  t.equal(items, 1)
  const outer = { path: place.edgeDir, facts: statSync(place.edgeDir) }
  for (const { path, facts } of [...entries, outer]) {
    t.equal(facts.mode & 0o777, facts.isDirectory() ? 0o700 : 0o600, path)
    t.equal(facts.uid, process.geteuid?.(), path)
  }
  const after = statSync(file)
  t.strictSame([after.mtimeMs, after.size, readFileSync(file).equals(picture)],
    [before.mtimeMs, before.size, true])
  t.notOk(readdirSync(place.dir).includes('state'), 'no state directory is needed or made')
  const text = await place.run(['edge', 'capture', 'shot.png'])
  t.match(text.stdout, /^[0-9a-f-]{36}\n$/)
  t.match(text.stderr, /2 waiting/)
})

t.test('S-035 a spool that is a link, of another user or open to others is refused untouched',
  async (t) => {
    const { place } = await World.in(t)
    place.write('shot.png', picture)
    const line = ['edge', 'capture', 'shot.png', '--json']
    const refused = async (what: string): Promise<void> => {
      const ran = await place.run(line)
      t.strictSame([ran.status, ran.error().code], [3, 'edge_folder_unsafe'], what)
    }
    const elsewhere = join(place.dir, 'elsewhere')
    mkdirSync(elsewhere, { mode: 0o700 })
    symlinkSync(elsewhere, place.edgeDir)
    await refused('a link')
    t.strictSame(readdirSync(elsewhere), [])
    renameSync(place.edgeDir, `${place.edgeDir}.link`)
    must(await place.run(line))
    for (const name of ['', 'queue', 'ids', 'aside', 'fresh']) {
      const folder = join(place.edgeDir, name)
      chmodSync(folder, 0o750)
      await refused(`${name} open to a group`)
      chmodSync(folder, 0o700)
      // Only root may give a folder away, and without another user there is none to refuse.
      if (process.geteuid?.() !== 0) continue
      chownSync(folder, 12_345, 12_345)
      await refused(`${name} of another user`)
      chownSync(folder, 0, 0)
    }
    renameSync(join(place.edgeDir, 'queue'), join(place.dir, 'q'))
    symlinkSync(join(place.dir, 'q'), join(place.edgeDir, 'queue'))
    await refused('a link inside')
    t.equal(onDisk(join(place.dir, 'q')).entries.filter(({ facts }) => facts.isFile()).length, 1)
  })

t.test('what is no finished regular picture is refused with nothing spooled', async (t) => {
  const { place } = await World.in(t)
  place.write('real.png', picture)
  place.write('text.png', 'no picture')
  place.write('empty.png', '')
  place.write('large.png', picture)
  truncateSync(place.path('large.png'), 20_971_521)
  mkdirSync(place.path('folder.png'))
  symlinkSync(place.path('real.png'), place.path('link.png'))
  execFileSync('mkfifo', [place.path('pipe.png')])
  for (const [name, code] of [
    ['text.png', 'capture_not_a_picture'], ['empty.png', 'capture_not_a_picture'],
    ['large.png', 'capture_too_large'], ['folder.png', 'capture_not_a_file'],
    ['link.png', 'capture_not_a_file'], ['pipe.png', 'capture_not_a_file'],
    ['none.png', 'capture_unreadable'], ['', 'request_invalid'],
  ] as const) {
    t.hasStrict(failure(await place.run(['edge', 'capture', name, '--json'])), { status: 3, code })
  }
  const grown = (at: string) => place.run(['edge', 'capture', 'real.png', '--json'], {
    at: (step) => { if (step === at) appendFileSync(place.path('real.png'), 'x') },
  })
  t.hasStrict(failure(await grown('capture.opened')), { status: 3, code: 'capture_still_written' })
  t.equal(onDisk(place.edgeDir).items, 0)
  t.equal((await grown('capture.read')).status, 0, 'what was read before is whole')
  t.equal(onDisk(place.edgeDir).items, 1)
  place.write('a.jpg', jpeg)
  linkSync(place.path('a.jpg'), place.path('b.bin'))
  t.equal((await place.json(['edge', 'capture', 'b.bin'])).mime, 'image/jpeg')
})

t.test('flags that are not what they should be are refused with nothing spooled', async (t) => {
  const { place } = await World.in(t)
  place.write('shot.png', picture)
  for (const flags of [
    ['--request-id', 'x'], ['--request-id', randomUUID().toUpperCase()], ['--purpose', 'A b'],
    ['--purpose', ''], ['--source', ''], ['--source', 'x'.repeat(257)], ['--source', 'a\nb'],
  ]) {
    const ran = await place.run(['edge', 'capture', 'shot.png', ...flags, '--json'])
    t.strictSame([ran.status, ran.error().code], [3, 'request_invalid'], flags.join(' '))
  }
  t.throws(() => onDisk(place.edgeDir), { code: 'ENOENT' }, 'not even a folder was made')
})

t.test('S-037 the same request id is taken once; with other content it is a conflict', async (t) => {
  const { place } = await World.in(t)
  place.write('a.png', picture)
  place.write('b.png', pictureOf(2))
  const line = (name: string) =>
    ['edge', 'capture', name, '--request-id', '01890a5d-ac96-774b-bcce-b302099a8057', '--json']
  t.equal(must(await place.run(line('a.png'))).json().outcome, 'spooled')
  t.equal(must(await place.run(line('a.png'))).json().outcome, 'known')
  for (const other of [
    line('b.png'), [...line('a.png'), '--cloud-egress'], [...line('a.png'), '--model-egress'],
    [...line('a.png'), '--purpose', 'other'], [...line('a.png'), '--source', 'window'],
  ]) {
    t.hasStrict(failure(await place.run(other)), { status: 5, code: 'request_id_conflict' })
  }
  t.equal(onDisk(place.edgeDir).items, 1)
  const { captured_at: before } = must(await place.run(line('a.png'))).json()
  utimesSync(place.path('a.png'), 1_000_000, 1_000_000)
  t.equal(must(await place.run(line('a.png'))).json().captured_at, before,
    'what waits is told, not what is asked')
})

t.test('what stands in the place of a file of the device is told as such, and nothing is lost', async (t) => {
  const { place } = await World.in(t)
  place.write('a.png', picture)
  const line = ['edge', 'capture', 'a.png', '--json']
  must(await place.run(line))
  const at = (name: string) => join(place.edgeDir, name)
  symlinkSync(place.path('a.png'), at('settings.json'))
  t.hasStrict(failure(await place.run(line)), { status: 3, code: 'edge_settings_invalid' })
  renameSync(at('settings.json'), at('other'))
  writeFileSync(at('settings.json'), '{"limits":{"max_items":1}}')
  symlinkSync(place.path('a.png'), at('evictions.log'))
  t.hasStrict(failure(await place.run(line)), { status: 1, code: 'edge_folder_damaged' })
  t.equal(onDisk(place.edgeDir).items, 1)
  symlinkSync(place.path('a.png'), at('pairing.json'))
  const daemon = await place.run(['edge', 'daemon', '--once', '--json'])
  t.hasStrict(failure(daemon), { status: 3, code: 'edge_pairing_unsafe' })
  t.ok(readFileSync(place.path('a.png')).equals(picture))
})

t.test('S-041 what the blocklist names is refused before it is opened: not a byte is in the spool',
  async (t) => {
    const { place } = await World.in(t)
    mkdirSync(place.edgeDir, { mode: 0o700 })
    writeFileSync(join(place.edgeDir, 'settings.json'),
      '{"blocklist":{"sources":["*password*"],"file_names":["*bank*"]}}', { mode: 0o600 })
    place.write('My Bank.png', picture)
    place.write('shot.png', picture)
    // Whoever opened it would wait for a writer for ever, or be refused for what it is.
    execFileSync('mkfifo', [place.path('bank.png')])
    const safe = ['shot.png', '--source', 'A Password safe']
    for (const args of [['My Bank.png'], ['bank.png'], safe]) {
      const ran = await place.run(['edge', 'capture', ...args, '--json'])
      t.hasStrict(failure(ran), { status: 7, code: 'capture_blocked' })
      t.notMatch(ran.stderr, /Bank\.png|safe/)
    }
    t.equal(onDisk(place.edgeDir).items, 0)
    must(await place.run(['edge', 'capture', 'shot.png', '--source', 'editor']))
    writeFileSync(join(place.edgeDir, 'settings.json'), '{"blocklist":{"file_name":["*"]}}')
    const ran = await place.run(['edge', 'capture', 'shot.png', '--json'])
    t.hasStrict(failure(ran), { status: 3, code: 'edge_settings_invalid' })
    t.equal(onDisk(place.edgeDir).items, 1)
  })

t.test('S-040 a capture that is killed at any step leaves a whole one or none, and the next goes on',
  async (t) => {
    const { place } = await World.in(t)
    place.write('a.png', picture)
    place.write('b.png', pictureOf(2))
    const steps = ['capture.read', 'spool.locked', 'spool.written', 'spool.linked', 'spool.renamed']
    const ids: string[] = []
    for (const step of steps) {
      const ran = await place.spawn(['edge', 'capture', 'a.png'], {
        entry: 'test', coverage: false, env: { TEST_STOP_AT: step },
      })
      t.equal(ran.status, 137, `${step}: ${ran.stderr}`)
      const { request_id } = must(await place.run(['edge', 'capture', 'b.png', '--json'])).json()
      ids.push(request_id)
      t.equal(onDisk(place.edgeDir).items, ids.length + (step === 'spool.renamed' ? 1 : 0), step)
    }
    const left = await drained(spoolAt(place.edgeDir))
    t.equal(left.length, ids.length + 1, 'the one that was renamed waits')
    t.strictSame(left.filter((id) => ids.includes(id)), ids)
  })

t.test('a capture waits for the lock of the spool as long as --wait says', async (t) => {
  const { place } = await World.in(t)
  place.write('a.png', picture)
  must(await place.run(['edge', 'capture', 'a.png']))
  const held = tryHoldFile(join(place.edgeDir, 'spool.lock'))
  const ran = await place.run(['edge', 'capture', 'a.png', '--wait', '0', '--json'])
  t.hasStrict(failure(ran), { status: 11, code: 'spool_locked' })
  held?.release()
  t.equal(onDisk(place.edgeDir).items, 1)
})

t.test('S-036 captures of many processes at once all wait, each once', async (t) => {
  const { place } = await World.in(t)
  place.write('a.png', picture)
  const ran = await Promise.all(Array.from({ length: 6 }, () =>
    place.spawn(['edge', 'capture', 'a.png', '--json'], { coverage: false })))
  const ids = ran.map((one) => must(one).json().request_id)
  t.strictSame((await drained(spoolAt(place.edgeDir))).sort(), ids.sort())
})
