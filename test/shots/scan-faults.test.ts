/** Odd names, odd files, files that move, and a state that takes no more: the scan goes on. */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync, chmodSync, existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync,
  readdirSync, renameSync,
  rmSync, statSync, symlinkSync, truncateSync, unlinkSync, utimesSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import { systemClock } from '../../src/base/clock.js'
import { silentObserver } from '../../src/base/observer.js'
import { readLockCounters } from '../../src/shots/lock-counters.js'
import { shotCollections as c } from '../../src/shots/observations/observation-rows.js'
import { scanFolder } from '../../src/shots/scan/scan.js'
import { nodeFiles, type Files } from '../../src/state/files.js'
import { tryHoldFile, type HeldFile } from '../../src/state/holds/kernel-file.js'
import { placesOf } from '../../src/state/paths.js'
import { unsetSettings } from '../../src/shots/source/settings.js'
import { openStore } from '../../src/state/store.js'
import { after } from '../support/observations.js'
import { greyPng } from '../support/png.js'
import { t } from '../support/tests-in-slices.js'
import { allVerbs } from '../world/program.js'
import { World, type ImageWorld } from '../world/world.js'

const scan = (world: ImageWorld, options: Parameters<ImageWorld['run']>[1] = {}) =>
  world.run(['shots', 'scan', '--json'], options)

const image = (i: number): Buffer => greyPng(8, 4, (x, y) => (y === 0 ? (i >> x) & 1 : 0) * 200 + y)

/** Everything that a scan must not change, of a folder and all in it. */
const manifest = (folder: string): unknown =>
  ['.', ...readdirSync(folder)].sort().map((name) => {
    const path = join(folder, name)
    const { mtimeMs, ino, mode, size, nlink } = statSync(path)
    const bytes = statSync(path).isFile() ? readFileSync(path).toString('base64') : null
    return { name, mtimeMs, ino, mode, size, nlink, bytes }
  })

t.test('S-194 S-006 a scan changes no byte, time, inode or mode of the folder, read-only or not', async (t) => {
  const world = await World.in(t).state().session().images()
  for (let i = 0; i < 12; i += 1) world.file(`${i}.png`, image(i), after(i * 1000))
  world.file('copy.png', image(3), after(20_000))
  world.file('text.png', Buffer.from('no image'))
  world.file('other.txt', Buffer.from('not looked at'))
  chmodSync(join(world.folder, '1.png'), 0o444)
  chmodSync(world.folder, 0o555)
  const before = manifest(world.folder)
  for (let round = 0; round < 3; round += 1) {
    t.equal((await scan(world)).status, 0)
    t.strictSame(manifest(world.folder), before)
  }
  chmodSync(world.folder, 0o755)
})

t.test('S-006 no verb and no setting captures, schedules captures, keeps, deletes or blocks images', async (t) => {
  const taken = /captur|cadence|retention|retain|prune|purge|delete|block_?list|permission/
  const verbs = (await allVerbs()).filter(({ meta }) => meta.name.startsWith('shots '))
  t.ok(verbs.length > 8)
  for (const { meta, flags } of verbs) {
    for (const name of [meta.name, ...flags.map(({ long }) => long)]) t.notMatch(name, taken)
  }
  for (const name of Object.keys(unsetSettings)) t.notMatch(name, taken)
})

t.test('S-001 names of any bytes are taken, told as text, and known afterwards', async (t) => {
  const world = await World.in(t).state().session().images()
  const names = [
    Buffer.from('new\nline.png'), Buffer.from('-rf.png'), Buffer.from('sp ace \u001b[2J.png'),
    Buffer.from('\u00e9t\u00e9.png'), Buffer.from('e\u0301.png'), Buffer.from('\u{1f5bc}.JPEG'),
    Buffer.concat([Buffer.from([0xff, 0xfe, 0xe9]), Buffer.from('.png')]),
    Buffer.concat([Buffer.alloc(250, 0x61), Buffer.from('.png')]),
  ]
  for (const [i, name] of names.entries()) {
    const path = Buffer.concat([Buffer.from(`${world.folder}/`), name])
    writeFileSync(path, greyPng(64, 48, i))
    utimesSync(path, new Date(after(i)), new Date(after(i)))
  }
  t.hasStrict((await scan(world)).json(), { scanned: 8, ingested: 8 })
  t.hasStrict((await scan(world)).json(), { scanned: 8, known: 8 })
  rmSync(join(world.place.stateDir, 'run/shots'), { recursive: true })
  const byRows = { scanned: 8, known: 8, recorded: false }
  t.hasStrict((await scan(world)).json(), byRows, 'by the rows alone')
  const told = world.rows().map(({ paths }) => paths[0]?.name)
  const bytes = told.map((name) => (name?.bytes_base64 === null
    ? Buffer.from(name.text) : Buffer.from(name?.bytes_base64 ?? '', 'base64')).toString('hex'))
  t.strictSame(bytes.sort(), names.map((name) => name.toString('hex')).sort())
  t.equal(told.filter((name) => name?.bytes_base64 !== null).length, 1)
})

t.test('S-001 links, pipes, sockets and folders that look like images are neither opened nor counted', async (t) => {
  const world = await World.in(t).state().session().images()
  const outside = world.place.path('outside.png')
  writeFileSync(outside, image(99))
  symlinkSync(outside, join(world.folder, 'link.png'))
  symlinkSync(join(world.folder, 'nowhere'), join(world.folder, 'dangling.png'))
  symlinkSync(world.folder, join(world.folder, 'loop.png'))
  mkdirSync(join(world.folder, 'folder.png'))
  t.equal(spawnSync('mkfifo', [join(world.folder, 'pipe.png')]).status, 0)
  world.file('real.png', image(1))
  t.hasStrict((await scan(world)).json(), { scanned: 1, ingested: 1, problems: [] })
  linkSync(join(world.folder, 'real.png'), join(world.folder, 'second-name.png'))
  t.hasStrict((await scan(world)).json(), { scanned: 2, duplicate: 2, ingested: 0 })
})

t.test('S-001 recursion is a setting: it enters folders, follows no link, and leaves dot names out', async (t) => {
  const world = await World.in(t).state().session().images()
  const deep = join(world.folder, '1/2/3/4/5/6/7/8')
  mkdirSync(join(deep, '9'), { recursive: true })
  mkdirSync(join(world.folder, '.hidden'))
  writeFileSync(join(world.folder, '.hidden/x.png'), image(1))
  writeFileSync(join(world.folder, '1/a.png'), image(2))
  writeFileSync(join(deep, 'b.png'), image(3))
  writeFileSync(join(deep, '9/too-deep.png'), image(4))
  symlinkSync(join(world.folder, '1'), join(world.folder, 'link'))
  t.hasStrict((await scan(world)).json(), { scanned: 0 })
  t.equal((await world.run(['shots', 'config', 'set', '--recursive', 'on'])).status, 0)
  t.hasStrict((await scan(world)).json(), { scanned: 2, ingested: 2 })
  t.strictSame(world.rows().map(({ paths }) => paths[0]?.name.text).sort(),
    ['1/2/3/4/5/6/7/8/b.png', '1/a.png'])
  t.hasStrict((await scan(world)).json(), { scanned: 2, known: 2 })
})

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

const pngOf = (width: number, height: number, interlace: number, data: Buffer | null): Buffer => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  header[12] = interlace
  const start = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', header)])
  return data === null ? start.subarray(0, 29)
    : Buffer.concat([start, chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))])
}

t.test('S-062 hostile, truncated and empty files end as a reason with the file named, and the scan goes on', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('bomb.png', pngOf(1_233_092_999, 2_147_483_647, 0, null))
  world.file('huge.png', pngOf(50_000, 50_000, 0, deflateSync(Buffer.alloc(100))))
  world.file('inflates.png', pngOf(16, 16, 1, deflateSync(Buffer.alloc(50_000_000))))
  world.file('empty.png', Buffer.alloc(0))
  world.file('words.png', Buffer.from('only words, long enough to be something'))
  world.file('half.png', greyPng(300, 300, 1).subarray(0, 200))
  world.file('good.png', greyPng(64, 48, 2))
  const receipt = (await scan(world)).json()
  t.equal(receipt.scanned, 7)
  t.equal(receipt.deferred, 0)
  const reasons = Object.fromEntries(receipt.problems.map(
    (one: { name: { text: string }; reason: string }) => [one.name.text, one.reason]))
  t.matchStrict(reasons, {
    'bomb.png': 'too_many_pixels', 'huge.png': 'too_many_pixels', 'empty.png': 'empty',
    'words.png': 'not_an_image', 'inflates.png': String, 'half.png': String,
  })
  t.notOk('good.png' in reasons)
  t.ok(world.rows().some(({ paths }) => paths[0]?.name.text === 'good.png'))
  t.hasStrict((await scan(world)).json(), { scanned: 7, known: 7, recorded: false })
})

t.test('S-063 a file of a time that no calendar has ends no scan and no status', async (t) => {
  const world = await World.in(t).state().session().images()
  // A file system of memory keeps times of 64 bits; elsewhere the time is cut to what fits.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : world.folder, 'far-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  await world.json(['shots', 'config', 'set', '--folder', folder])
  writeFileSync(join(folder, 'far.png'), image(1))
  utimesSync(join(folder, 'far.png'), 1e14, 1e14)
  t.hasStrict((await scan(world)).json(), { scanned: 1, ingested: 1 })
  t.hasStrict((await scan(world)).json(), { scanned: 1, known: 1 })
  t.equal((await world.run(['shots', 'status', '--json'])).status, 0)
})

t.test('S-062 a file of a size that no number holds exactly is told by its name, and ends no scan', async (t) => {
  const world = await World.in(t).state().session().images()
  // A file system of memory takes it, where there is one; elsewhere the size is what fits.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : world.folder, 'large-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  await world.json(['shots', 'config', 'set', '--folder', folder])
  const large = join(folder, 'large.png')
  writeFileSync(large, '')
  for (const bytes of [Number.MAX_SAFE_INTEGER, 2 ** 43]) {
    try {
      truncateSync(large, bytes)
      appendFileSync(large, 'and more')
      break
    } catch {
      // What this file system does not take.
    }
  }
  utimesSync(large, 1e9, 1e9)
  writeFileSync(join(folder, 'a.png'), image(1))
  utimesSync(join(folder, 'a.png'), 1.1e9, 1.1e9)
  t.hasStrict((await scan(world)).json(), {
    scanned: 2, ingested: 1, rejected: 1, reasons: { too_many_bytes: 1 },
  })
  const told = (await world.run(['shots', 'show', large, '--json'])).json()
  t.hasStrict(told, { now: { scan_would: 'skip_known' } }, 'and its row is about this very file')
  t.hasStrict((await scan(world)).json(), { scanned: 2, known: 2 })
})

t.test('S-002 a file that is being written is looked at once more in the same scan, then put off', async (t) => {
  const world = await World.in(t).state().session().images()
  const whole = greyPng(300, 300, 1)
  const paths = ['a.png', 'b.png'].map((name) => join(world.folder, name))
  const written = new Date()
  for (const path of paths) {
    writeFileSync(path, whole.subarray(0, 100))
    utimesSync(path, written, written)
  }
  const sleeps: number[] = []
  const clock = {
    ...systemClock,
    wallMs: () => written.getTime(),
    async sleep(ms: number) {
      if (ms !== 300) return
      sleeps.push(ms)
      writeFileSync(paths[0] ?? '', whole)
      utimesSync(paths[0] ?? '', written, written)
    },
  }
  t.hasStrict((await scan(world, { clock })).json(), {
    scanned: 2, ingested: 1, deferred: 1, reasons: { still_being_written: 1 },
  })
  t.strictSame(sleeps, [300], 'one wait for the whole scan')
  const old = new Date(Date.now() - 5_000)
  utimesSync(paths[1] ?? '', old, old)
  t.hasStrict((await scan(world)).json(), { scanned: 2, known: 1, ingested: 1, deferred: 0 })
  const ahead = new Date(Date.now() + 3_600_000)
  writeFileSync(join(world.folder, 'c.png'), whole.subarray(0, 150))
  utimesSync(join(world.folder, 'c.png'), ahead, ahead)
  t.hasStrict((await scan(world)).json(), { ingested: 1, deferred: 0 })
  t.equal(world.rows().filter((row) => row.captured_in_future).length, 1)
})

t.test('S-002 files that vanish, are renamed or become links between the look and the reading are put off', async (t) => {
  const world = await World.in(t).state().session().images()
  for (let i = 0; i < 4; i += 1) world.file(`${i}.png`, image(i), after(i))
  const path = (name: string): string => join(world.folder, name)
  const ran = await scan(world, {
    at: (step) => {
      if (step !== 'scan.walked') return
      unlinkSync(path('0.png'))
      renameSync(path('1.png'), path('moved.png'))
      unlinkSync(path('2.png'))
      symlinkSync(path('3.png'), path('2.png'))
    },
  })
  t.hasStrict(ran.json(), {
    scanned: 4, ingested: 1, deferred: 3, status: 'ok',
    reasons: { file_vanished: 2, not_a_regular_file: 1 },
  })
  t.hasStrict((await scan(world)).json(), { scanned: 2, ingested: 1, known: 1 })
})

t.test('S-118 S-170 S-171 a lock that is held past the wait degrades the scan: what was written stays, the rest waits', async (t) => {
  const world = await World.in(t).state().session().images()
  for (let i = 0; i < 60; i += 1) world.file(`${i}.png`, image(i), after(i))
  let lock: HeldFile | null = null
  let writes = 0
  const ran = await world.run(['shots', 'scan', '--json', '--wait', '0'], {
    at: (step) => {
      if (step !== 'scan.writing' || (writes += 1) !== 2) return
      lock = tryHoldFile(placesOf(world.place.stateDir).lock)
    },
  })
  t.equal(ran.status, 11)
  const receipt = ran.json()
  t.hasStrict(receipt, {
    status: 'degraded', reason: 'lock_held', scanned: 60, deferred: 10, reasons: { lock_held: 10 },
    recorded: false, receipt_id: null,
  })
  t.equal(receipt.ingested + receipt.suppressed + receipt.duplicate, 50)
  t.hasStrict(ran.error(), { code: 'scan_degraded', reason: 'lock_held' })
  ;(lock as HeldFile | null)?.release()
  t.hasStrict(readLockCounters(world.place.stateDir), { retries: 1, failures: 1 })
  t.hasStrict((await scan(world)).json(), { scanned: 60, known: 50, deferred: 0, status: 'ok' })
  const outcomes = world.view().all(c.files).length
  t.equal(outcomes, 60)
})

t.test('S-118 a lock that is held for a moment is a retry and no failure', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', image(1))
  const ran = await scan(world, {
    at: (step) => {
      if (step !== 'scan.writing') return
      const lock = tryHoldFile(placesOf(world.place.stateDir).lock)
      setTimeout(() => lock?.release(), 50)
    },
  })
  t.hasStrict(ran.json(), { status: 'ok', ingested: 1 })
  t.hasStrict(readLockCounters(world.place.stateDir), { retries: 1, failures: 0 })
})

/**
 * A disk on which the n-th write that makes the log longer fails; `short`: after half of it was
 * written.
 */
const fullAt = (at: number, short: boolean): Files => {
  const logs = new Set<number>()
  let writes = 0
  return {
    ...nodeFiles,
    open: (path, intent) => {
      const fd = nodeFiles.open(path, intent)
      if (path.includes('/wal/') && path.endsWith('.log')) logs.add(fd)
      return fd
    },
    write: (fd, bytes, position) => {
      const grows = logs.has(fd) && (position ?? 0) >= nodeFiles.fstat(fd).size
      if (!grows || (writes += 1) < at) return nodeFiles.write(fd, bytes, position)
      if (!short || writes > at) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
      return nodeFiles.write(fd, bytes.subarray(0, bytes.length / 2), position)
    },
  }
}

t.test('S-171 a full disk in the middle keeps the batches before it and doubles none afterwards', async (t) => {
  const world = await World.in(t).state().session().images()
  for (let i = 0; i < 120; i += 1) world.file(`${i}.png`, image(i), after(i))
  const { stateDir: dir, configDir } = world.place
  const scanOn = async (files: Files) => {
    const store = openStore({ dir, configDir, mode: 'write', files })
    const gov = { store, clock: systemClock, observer: silentObserver, face: 'job' as const }
    try {
      return await scanFolder({ ...world.ctx(), gov }, { limit: 1_000 })
    } finally {
      store.close()
    }
  }
  const counts: unknown[] = []
  for (const [at, short] of [[1, false], [2, true], [2, false]] as const) {
    const { status, recorded, known, deferred } = await scanOn(fullAt(at, short))
    counts.push([status, recorded, known, deferred])
    t.equal(world.view().all(c.files).length, 120 - deferred)
  }
  t.strictSame(counts, [
    ['degraded', false, 0, 120], ['degraded', false, 0, 70], ['degraded', false, 50, 20],
  ])
  t.hasStrict(await scanOn(nodeFiles), { status: 'ok', deferred: 0, known: 100 })
  t.equal(world.view().all(c.files).length, 120)
  t.equal(new Set(world.rows().map((row) => row.sha256)).size, world.rows().length)
  const check = await world.run(['state', 'check', '--json'])
  t.equal(check.status, 0, check.stderr)
})

t.test('S-002 stopped at any step, the next scan gives the same observations, none lost and none doubled', async (t) => {
  const world = await World.in(t).state().session().images()
  for (let i = 0; i < 55; i += 1) world.file(`${i}.png`, image(i), after(i * 2_000_000))
  const stops = [
    'scan.walked#1', 'scan.read#1', 'scan.read#40', 'scan.writing#1', 'scan.batch#1',
    'scan.writing#1', 'scan.batch#1', 'scan.written#1', 'scan.done#1',
  ]
  for (const stop of stops) {
    const [step, number] = stop.split('#')
    let seen = 0
    const ran = await scan(world, {
      at: (at) => {
        if (at === step && (seen += 1) === Number(number)) throw new Error('stopped here')
      },
    })
    t.ok(ran.status === 1 || seen === 0, stop)
  }
  t.equal((await scan(world)).status, 0)
  t.equal(world.rows().length, 55)
  t.equal(new Set(world.rows().map((row) => row.sha256)).size, 55)
  t.equal(world.view().all(c.files).length, 55)
  t.equal((await world.run(['state', 'check', '--json'])).status, 0)
})

t.test('S-002 an interrupt ends the scan with a receipt of what was written; the rest waits', async (t) => {
  const world = await World.in(t).state().session().images()
  for (let i = 0; i < 20; i += 1) world.file(`${i}.png`, image(i), after(i))
  const stop = new AbortController()
  let reads = 0
  const ran = await scan(world, {
    stop: stop.signal,
    at: (step) => {
      if (step === 'scan.read' && (reads += 1) === 5) stop.abort()
    },
  })
  t.equal(ran.status, 130)
  t.hasStrict(ran.json(), { status: 'degraded', reason: 'cancelled', scanned: 20, recorded: true })
  t.hasStrict((await scan(world)).json(), { scanned: 20, deferred: 0 })
  t.equal(world.view().all(c.files).length, 20)
})
