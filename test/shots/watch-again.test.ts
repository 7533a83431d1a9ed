/** What a watcher looks at again by itself, with no notice: judged by a clock that jumps. */
import { mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isoFromMs, systemClock, type Clock } from '../../src/base/clock.js'
import { tryHoldFile, type HeldFile } from '../../src/state/holds/kernel-file.js'
import type { ScanReceipt } from '../../src/shots/receipts/scan.js'
import { watchFolder } from '../../src/shots/watch/watch.js'
import { placesOf } from '../../src/state/paths.js'
import { openStore } from '../../src/state/store.js'
import { image } from '../support/png.js'
import { t } from '../support/tests-in-slices.js'
import type { Ran } from '../world/place.js'
import { World, type ImageWorld } from '../world/world.js'

/**
 * A clock on which every wait is over at once; it stands still between them, since whether a file
 * is still being written is a question of its age.
 */
const jumpingClock = (
  nowMs: number, wait?: () => Promise<void>,
): { clock: Clock; passedMs: () => number } => {
  let passed = 0
  return {
    passedMs: () => passed,
    clock: {
      ...systemClock,
      wallMs: () => nowMs + passed,
      monotonicMs: () => passed,
      sleep: async (ms) => {
        await wait?.()
        passed += ms
        // Notices of the kernel come in between, as they do in a real wait.
        await new Promise((resolve) => setImmediate(resolve))
      },
    },
  }
}

interface Watched {
  readonly receipts: readonly ScanReceipt[]
  /** Waits of the watcher until the end, milliseconds. */
  readonly waitedMs: number
}

interface Told {
  /** The time when it begins; left out: that of the machine. */
  readonly nowMs?: number
  at?(step: string): void
  tick?(): void
  /** Before each wait of the watcher is over. */
  wait?(): Promise<void>
}

/** Watches until so many images are in; `at` is told every step of a tick. */
const watched = async (
  world: ImageWorld, images: number, told: Told = {},
): Promise<Watched> => {
  const { clock, passedMs } = jumpingClock(told.nowMs ?? systemClock.wallMs(), told.wait)
  const stop = new AbortController()
  const receipts: ScanReceipt[] = []
  const { stateDir: dir, configDir } = world.place
  const store = openStore({ dir, configDir, mode: 'write', waitMs: 0 })
  const base = world.ctx()
  const observer = { ...base.gov.observer, at: async (step: string) => told.at?.(step) }
  const ctx = { ...base, signal: stop.signal, gov: { ...base.gov, store, clock, observer } }
  try {
    await watchFolder(ctx, {
      ready: () => undefined,
      tick: (receipt) => {
        receipts.push(receipt)
        told.tick?.()
        const taken = receipts.reduce((sum, { ingested }) => sum + ingested, 0)
        if (taken >= images) stop.abort()
      },
      trouble: (error) => {
        throw error
      },
    })
  } finally {
    store.close()
  }
  return { receipts, waitedMs: passedMs() }
}

/** Far less than the tick that comes without any reason, which is after a minute. */
const soonMs = 30_000

t.test('S-001 a file that was being written is looked at again with no notice of it', async (t) => {
  const world = await World.in(t).state().session().images()
  const path = join(world.folder, 'half.png')
  writeFileSync(path, image(1).subarray(0, 60))
  const nowMs = systemClock.wallMs()
  utimesSync(path, new Date(nowMs), new Date(nowMs))
  const { waitedMs } = await watched(world, 1, { nowMs })
  t.ok(waitedMs < soonMs, `${waitedMs} ms`)
  t.ok(waitedMs > 1_000, 'not before it stood still')
})

t.test('S-001 S-130 files beyond the limit of one tick are taken by the next ones at once, from the same walk', async (t) => {
  const world = await World.in(t).state().session()
    .images({ settings: ['--ingest-limit', '1'] })
  const old = isoFromMs(Date.now() - 60_000)
  for (let at = 0; at < 3; at += 1) world.file(`${at}.png`, image(at), old)
  let walks = 0
  const { receipts, waitedMs } = await watched(world, 3, {
    at: (step) => {
      if (step === 'scan.walked') walks += 1
    },
  })
  t.strictSame(receipts.map(({ ingested }) => ingested), [1, 1, 1])
  t.equal(walks, 1)
  t.ok(waitedMs < 1_000, `${waitedMs} ms`)
})

t.test('S-001 what is left of a walk is given up where the folder is another one by now', async (t) => {
  const world = await World.in(t).state().session()
    .images({ settings: ['--ingest-limit', '1'] })
  const old = isoFromMs(Date.now() - 60_000)
  for (let at = 0; at < 3; at += 1) world.file(`${at}.png`, image(at), old)
  const other = `${world.folder}-other`
  mkdirSync(other)
  for (const at of [1, 2, 3, 4, 5]) {
    writeFileSync(join(other, `${at}.png`), image(10 + at))
    utimesSync(join(other, `${at}.png`), new Date(old), new Date(old))
  }
  let ticks = 0
  const { receipts, waitedMs } = await watched(world, 2, {
    tick: () => {
      ticks += 1
      if (ticks > 1) return
      renameSync(world.folder, `${world.folder}-away`)
      renameSync(other, world.folder)
    },
  })
  t.strictSame(receipts.map(({ scanned }) => scanned), [3, 5], 'all that lies there now')
  t.ok(waitedMs < soonMs, `${waitedMs} ms`)
})

t.test('S-001 a tick that found the state locked is done again, with no notice', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', image(1), isoFromMs(Date.now() - 60_000))
  let lock: HeldFile | null = null
  let ticks = 0
  const { receipts, waitedMs } = await watched(world, 1, {
    at: (step) => {
      if (step === 'scan.writing' && ticks === 0) {
        lock = tryHoldFile(placesOf(world.place.stateDir).lock)
      }
    },
    tick: () => {
      ticks += 1
      lock?.release()
      lock = null
    },
  })
  t.strictSame(receipts.map(({ status, reason }) => [status, reason]), [
    ['degraded', 'lock_held'], ['ok', null],
  ])
  t.ok(waitedMs < soonMs, `${waitedMs} ms`)
})

t.test('S-001 another folder that was configured meanwhile is followed within a second, with no notice', async (t) => {
  const world = await World.in(t).state().session().images()
  const old = isoFromMs(Date.now() - 60_000)
  world.file('here.png', image(1), old)
  const other = join(world.folder, '..', 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'there.png'), image(2))
  utimesSync(join(other, 'there.png'), new Date(old), new Date(old))
  const configured: Promise<Ran>[] = []
  const { receipts, waitedMs } = await watched(world, 2, {
    tick: () => {
      if (configured.length > 0) return
      configured.push(world.run(['shots', 'config', 'set', '--folder', other]))
    },
    // The settings are saved while the watcher waits, however long that takes here.
    wait: async () => void await configured[0],
  })
  t.equal((await configured[0])?.status, 0)
  t.strictSame(receipts.map(({ root }) => root), [world.folder, other])
  t.ok(waitedMs <= 2_000, `${waitedMs} ms`)
})

t.test('S-001 a folder whose parents were replaced is looked at again within a second, with no notice', async (t) => {
  const world = await World.in(t).state().session().images()
  const path = (at: string) => world.place.path(join(at, 'parent', 'pictures'))
  const old = new Date(Date.now() - 60_000)
  for (const [shade, at] of ['here', 'next'].entries()) {
    mkdirSync(path(at), { recursive: true })
    writeFileSync(join(path(at), `${at}.png`), image(shade))
    utimesSync(join(path(at), `${at}.png`), old, old)
  }
  t.equal((await world.run(['shots', 'config', 'set', '--folder', path('here')])).status, 0)
  let isTaken = false
  const { receipts, waitedMs } = await watched(world, 2, {
    tick: () => {
      isTaken = true
    },
    wait: async () => {
      if (!isTaken) return
      isTaken = false
      renameSync(world.place.path('here'), world.place.path('away'))
      renameSync(world.place.path('next'), world.place.path('here'))
    },
  })
  t.strictSame(receipts.map(({ ingested }) => ingested), [1, 1])
  t.ok(waitedMs <= 2_000, `${waitedMs} ms`)
})
