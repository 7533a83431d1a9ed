/** What changes under the reader's hands: folders that become links, files that are written to. */
import fs, {
  closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, statSync,
  symlinkSync, truncateSync, utimesSync, writeFileSync, writeSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readOnce } from '../../src/shots/scan/read-once.js'
import { image } from '../support/png.js'
import { World } from '../world/world.js'

t.test('S-001 a folder that is swapped for a link during a scan leads nowhere: what lies behind the link is put off', async (t) => {
  const world = await World.in(t).state().session().images()
  await world.run(['shots', 'config', 'set', '--recursive', 'on'])
  const outside = world.place.path('private')
  for (const dir of [outside, join(world.folder, 'sub')]) mkdirSync(dir)
  world.file('a.png', image(1))
  world.file('sub/b.png', image(2))
  for (const [at, name] of ['a.png', 'b.png'].entries()) {
    writeFileSync(join(outside, name), image(8 + at))
  }
  const scanWith = (swap: () => void) => world.run(['shots', 'scan', '--json'], {
    at: (step) => {
      if (step === 'scan.walked') swap()
    },
  })
  const sub = await scanWith(() => {
    renameSync(join(world.folder, 'sub'), join(world.folder, 'moved'))
    symlinkSync(outside, join(world.folder, 'sub'))
  })
  t.hasStrict(sub.json(), { ingested: 1, deferred: 1, reasons: { outside_the_folder: 1 } })
  t.strictSame(world.rows().map(({ paths }) => paths[0]?.name.text), ['a.png'])
  writeFileSync(join(world.folder, 'b.png'), image(3))
  const whole = await scanWith(() => {
    renameSync(world.folder, `${world.folder}-moved`)
    symlinkSync(outside, world.folder)
  })
  t.hasStrict(
    whole.json(), { ingested: 0, reasons: { outside_the_folder: 1 } },
    'the folder itself leads nowhere else either',
  )
  t.equal(world.rows().length, 1)
})

/** Runs something after the first read of a file; gives back how often it ran. */
const duringRead = (t: Test, path: string, change: () => void): (() => number) => {
  const real = fs.readSync
  let ran = 0
  t.teardown(() => {
    fs.readSync = real
    syncBuiltinESMExports()
  })
  fs.readSync = ((fd: number, ...rest: unknown[]) => {
    const got = Reflect.apply(real, fs, [fd, ...rest]) as number
    if (ran === 0 && fs.fstatSync(fd).ino === fs.lstatSync(path).ino) {
      ran += 1
      change()
    }
    return got
  })
  syncBuiltinESMExports()
  return () => ran
}

const overwrite = (path: string, bytes: Uint8Array): void => {
  const fd = openSync(path, 'r+')
  try {
    writeSync(fd, bytes, 0, bytes.length, 0)
  } finally {
    closeSync(fd)
  }
}

/** Changes bytes in place and sets the time of writing back, until the kernel's clock has moved. */
const rewriteInPlace = (path: string, bytes: Uint8Array): void => {
  const before = statSync(path, { bigint: true })
  do {
    overwrite(path, bytes)
    utimesSync(path, before.atime, before.mtime)
  } while (statSync(path, { bigint: true }).ctimeNs === before.ctimeNs)
}

t.test('a file that changes while it is read is not taken: neither grown nor cut nor written over in place with its time set back', async (t) => {
  const dir = t.testdir({})
  // A whole second: what is between is not set back to the nanosecond, and would tell by itself.
  const old = new Date(Math.floor(Date.now() / 1_000 - 60) * 1_000)
  const changes: Record<string, (path: string) => void> = {
    grown: (path) => writeFileSync(path, 'x', { flag: 'a' }),
    cut: (path) => truncateSync(path, 20),
    over: (path) => rewriteInPlace(path, image(2)),
  }
  for (const [what, change] of Object.entries(changes)) {
    await t.test(what, async (t) => {
      const path = join(dir, `${what}.png`)
      writeFileSync(path, image(1))
      utimesSync(path, old, old)
      const times = duringRead(t, path, () => change(path))
      t.strictSame(readOnce(dir, `${what}.png`, Date.now()), { kind: 'unsettled' })
      t.equal(times(), 1)
      utimesSync(path, old, old)
      const again = readOnce(dir, `${what}.png`, Date.now())
      t.equal(again.kind, 'read', 'once it stands still it is read')
      if (again.kind !== 'read') return
      t.ok(again.bytes.equals(readFileSync(path)))
      const fd = openSync(path, 'r')
      t.equal(again.facts.inode, fstatSync(fd, { bigint: true }).ino)
      closeSync(fd)
    })
  }
})
