/** Scans that work off one walk, and files that are noticed meanwhile. */
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { shotCollections as c } from '../../../src/shots/observations/observation-rows.js'
import { openPass, type ScanOptions } from '../../../src/shots/scan/open-pass.js'
import { scanPass } from '../../../src/shots/scan/scan.js'
import { after } from '../../support/observations.js'
import { image } from '../../support/png.js'
import { scan } from '../../support/shots.js'
import { t } from '../../support/tests-in-slices.js'
import { World, type ImageWorld } from '../../world/world.js'

/** A world with images, oldest first, of which the earlier ones are known. */
const placed = async (t: Test, images: number, known = 0): Promise<ImageWorld> => {
  const world = await World.in(t).state().session().images()
  for (let i = 0; i < images; i += 1) {
    if (i === known && known > 0) await scan(world)
    world.file(`${i}.png`, image(i), after(i))
  }
  return world
}

/**
 * A pass that is open, and scans of it; `at` is told every step. Its clock may stand still:
 * whether a file is still being written is a question of its age.
 */
const opened = async (
  t: Test, world: ImageWorld,
  told: { at?(step: string): unknown, readonly nowMs?: number } = {}, options: ScanOptions = {},
) => {
  const base = world.ctx('write')
  const { nowMs } = told
  const clock = nowMs === undefined ? base.gov.clock : { ...base.gov.clock, wallMs: () => nowMs }
  const steps: string[] = []
  const observer = {
    at: async (step: string): Promise<void> => {
      steps.push(step)
      await told.at?.(step)
    },
  }
  const ctx = { ...base, gov: { ...base.gov, observer, clock } }
  const open = await openPass(ctx, options)
  t.teardown(async () => {
    await open.pass.close()
    ctx.gov.store.close()
  })
  return {
    pass: open.pass,
    walks: () => steps.filter((step) => step === 'scan.walked').length,
    scan: (more: ScanOptions = {}) => scanPass(ctx, open, more),
  }
}

/** A part of an image that was written a second ago; gives the time now. */
const halfWritten = (path: string): number => {
  const written = new Date()
  writeFileSync(path, image(7).subarray(0, 60))
  utimesSync(path, written, written)
  return written.getTime() + 1_000
}

const names = (world: ImageWorld): string[] =>
  world.view().all(c.files).map(({ doc }) => doc.name.text).sort()

t.test('S-130 S-131 scans of one walk read what their limit allows, and each receipt balances', async (t) => {
  const world = await placed(t, 6, 1)
  const { scan: next, walks, pass } = await opened(t, world)
  t.hasStrict(await next({ limit: 2 }),
    { scanned: 6, known: 1, ingested: 2, deferred: 3, reasons: { over_limit: 3 } })
  t.hasStrict(await next({ limit: 2 }),
    { scanned: 6, known: 3, ingested: 2, deferred: 1, reasons: { over_limit: 1 } })
  t.hasStrict(await next({ limit: 2 }), { scanned: 6, known: 5, ingested: 1, deferred: 0 })
  t.equal(pass.waiting, 0)
  t.equal(walks(), 1)
  t.hasStrict(await scan(world), { scanned: 6, known: 6, recorded: false }, 'nothing was left out')
})

t.test('S-001 a file that is noticed during a scan is read next and written down before the others', async (t) => {
  const world = await placed(t, 6)
  const written: string[][] = []
  let noticed: string[] | null = null
  const { scan: next } = await opened(t, world, {
    at: (step) => {
      if (step === 'scan.batch') written.push(names(world))
    },
  })
  const receipt = await next({
    hints: () => {
      if (noticed !== null) return []
      world.file('new.png', image(9), after(9_000))
      noticed = ['new.png', '3.png']
      return noticed
    },
  })
  t.hasStrict(receipt, { ingested: 7, scanned: 7 })
  t.strictSame(written, [
    ['3.png', 'new.png'], ['0.png', '1.png', '2.png', '3.png', '4.png', '5.png', 'new.png'],
  ])
})

t.test('S-131 a file that is noticed again while it is under way is read and counted once', async (t) => {
  const world = await placed(t, 2)
  const { scan: next, pass } = await opened(t, world)
  let asked = 0
  const hints = (): readonly string[] => {
    asked += 1
    if (asked === 1) world.file('new.png', image(9), after(9_000))
    return ['new.png', '0.png']
  }
  t.hasStrict(await next({ hints }), { scanned: 3, ingested: 3, duplicate: 0 })
  t.equal(pass.waiting, 0)
})

t.test('S-131 a file that is written anew while it is under way waits for the next scan', async (t) => {
  const world = await placed(t, 2)
  const { scan: next, pass } = await opened(t, world)
  let asked = 0
  const hints = (): readonly string[] => {
    asked += 1
    if (asked === 2) world.file('0.png', image(9), after(9_000))
    return asked === 2 ? ['0.png'] : []
  }
  t.hasStrict(await next({ hints }), { scanned: 2, ingested: 2, duplicate: 0 })
  t.equal(pass.waiting, 1)
  t.hasStrict(await next(), { scanned: 2, known: 1, ingested: 1 })
})

t.test('S-131 a half-written file that is noticed when it is whole is read then, and counted once', async (t) => {
  const world = await placed(t, 2)
  const half = join(world.folder, 'half.png')
  const nowMs = halfWritten(half)
  const written: string[][] = []
  const { scan: next, pass } = await opened(t, world, {
    nowMs, at: (step) => {
      if (step === 'scan.batch') written.push(names(world))
    },
  }, { hints: () => ['half.png'] })
  let asked = 0
  const hints = (): readonly string[] => {
    asked += 1
    if (asked !== 2) return []
    writeFileSync(half, image(7))
    return ['half.png']
  }
  t.hasStrict(await next({ hints }), { scanned: 3, ingested: 3, duplicate: 0, deferred: 0 })
  t.strictSame(written[0], ['half.png'], 'it waits for no others')
  t.equal(pass.waiting, 0)
})

t.test('S-131 a known file that is written anew during a scan stays counted as it was, and is the next scan’s', async (t) => {
  const world = await placed(t, 3, 1)
  const { scan: next, pass } = await opened(t, world)
  let asked = 0
  const hints = (): readonly string[] => {
    asked += 1
    if (asked === 1) world.file('0.png', image(9), after(9_000))
    return ['0.png']
  }
  t.hasStrict(await next({ hints }), { scanned: 3, known: 1, ingested: 2, duplicate: 1 })
  t.equal(pass.waiting, 1)
  t.hasStrict(await next(), { scanned: 3, known: 2, ingested: 1, duplicate: 2 })
})

t.test('S-131 a file that no look could reach and that is noticed during a scan is counted once in each', async (t) => {
  const world = await placed(t, 2)
  const { scan: next, pass } = await opened(t, world)
  pass.listing.unreadable.add('late.png')
  world.file('late.png', image(9), after(9_000))
  t.hasStrict(await next({ hints: () => ['late.png'] }),
    { scanned: 3, ingested: 2, deferred: 1, reasons: { file_unreadable: 1 } })
  t.equal(pass.waiting, 1)
  t.hasStrict(await next(), { scanned: 3, known: 2, ingested: 1, deferred: 0 })
})

t.test('S-131 a half-written file that no room was left for waits, and is counted once', async (t) => {
  const world = await placed(t, 2)
  const half = join(world.folder, 'half.png')
  const nowMs = halfWritten(half)
  const { scan: next, pass } = await opened(t, world, { nowMs }, { hints: () => ['half.png'] })
  const receipt = await next({ limit: 2 })
  t.hasStrict(receipt, { scanned: 3, ingested: 2, deferred: 1, reasons: { over_limit: 1 } })
  t.equal(pass.waiting, 1)
  writeFileSync(half, image(7))
  t.hasStrict(await next(), { scanned: 3, known: 2, ingested: 1 })
})

t.test('a notice is believed of nothing: what is known, hidden, gone or no file is not read', async (t) => {
  const world = await placed(t, 3, 2)
  writeFileSync(join(world.folder, '.hidden.png'), image(5))
  symlinkSync(join(world.folder, '0.png'), join(world.folder, 'link.png'))
  mkdirSync(join(world.folder, 'folder.png'))
  writeFileSync(join(world.folder, 'notes.txt'), 'x')
  const hints = ['0.png', '.hidden.png', 'link.png', 'folder.png', 'notes.txt', 'gone.png',
    '.dir/a.png']
  const { scan: next, pass } = await opened(t, world)
  pass.urge(hints)
  t.equal(pass.waiting, 1)
  t.hasStrict(await next(), { scanned: 3, known: 2, ingested: 1 })
  pass.urge(['2.png'])
  t.equal(pass.waiting, 0, 'it was read as it is')
})

t.test('a known file that is noticed with other content is read again, and counted once', async (t) => {
  const world = await placed(t, 3, 3)
  await scan(world)
  const { scan: next, pass } = await opened(t, world)
  t.equal(pass.waiting, 0)
  world.file('1.png', image(8), after(9_000))
  pass.urge(['1.png', '1.png'])
  t.hasStrict([pass.waiting, pass.knownCount], [1, 2])
  t.hasStrict(await next(), { scanned: 3, known: 2, ingested: 1 })
  t.equal(pass.knownCount, 3)
})

t.test('S-001 a file that was being written waits for the next scan of the same walk', async (t) => {
  const world = await placed(t, 1)
  const half = join(world.folder, 'half.png')
  const nowMs = halfWritten(half)
  const { scan: next, pass, walks } = await opened(t, world, { nowMs })
  const first = await next()
  t.hasStrict(first, { ingested: 1, reasons: { still_being_written: 1 } })
  t.equal(pass.waiting, 1)
  writeFileSync(half, image(7))
  t.hasStrict(await next(), { ingested: 1, known: 1, scanned: 2 })
  t.strictSame([pass.waiting, walks()], [0, 1])
})

t.test('files that come in great number during a walk have room', async (t) => {
  const world = await placed(t, 1)
  const { scan: next, pass } = await opened(t, world)
  const more = Array.from({ length: 200 }, (_, i) => `more-${i}.png`)
  for (const name of more) world.file(name, image(3), after(50))
  pass.urge(more)
  t.equal(pass.waiting, 201)
  t.hasStrict(await next({ limit: 500 }), { scanned: 201, ingested: 2, duplicate: 199 })
  t.hasStrict(await scan(world), { scanned: 201, known: 201, recorded: false })
})
