/**
 * One store of years: 1,000,000 known images and 100,000 asks, made by the use cases' own writers,
 * and what whole commands cost over it: wall time, processor time, peak memory. `npm run bench --
 * million`; SALLYPORT_MILLION names another number of images (a tenth as many asks), and
 * SALLYPORT_MILLION_DIR a folder that is seeded once and kept. A million takes 6 GB and half an
 * hour.
 */
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { isoFromMs, systemClock } from '../src/base/clock.js'
import type { FileStore } from '../src/state/store.js'
import { openStore } from '../src/state/store.js'
import { newScreen, paint, themes } from '../test/support/images/edit-suite.js'
import { makeImageFiles } from './image-files.js'
import { placeIn, withPlace, withSandbox, type BenchPlace } from './place.js'
import { wholeCost, type WholeCost } from './processor.js'
import { seedAsks, seedingGov, seedKnown } from './seed.js'
import type { BenchRow } from './types.js'

const images = Number(process.env['SALLYPORT_MILLION'] ?? 1_000_000)
const asks = images / 10
const asksALogin = 5_000
const day = 24 * 3_600_000
const ageMs = 60 * day
const mebibytesMax = 250
const newImages = 10

const tell = (text: string): void => {
  process.stderr.write(`${isoFromMs(systemClock.wallMs()).slice(11, 19)} ${text}\n`)
}

const seed = async (place: BenchPlace, folder: string): Promise<void> => {
  // What is known of them is never read again.
  makeImageFiles(folder, images, day)
  tell(`${images} files`)
  const { store } = seedingGov(place)
  await seedKnown(store, folder, isoFromMs(systemClock.wallMs()))
  store.close()
  tell(`${images} known`)
  const old = seedingGov(place, ageMs)
  for (let n = 0; n < asks; n += asksALogin) {
    await seedAsks(old, n, Math.min(asks, n + asksALogin))
  }
  old.store.close()
  tell(`${asks} asks`)
}

const addImages = async (folder: string): Promise<void> => {
  for (let i = 0; i < newImages; i += 1) {
    const screen = newScreen(1920, 1080, themes[i % themes.length]!, i + 1)
    const picture = sharp(paint(screen), { raw: { width: 1920, height: 1080, channels: 3 } })
    const path = join(folder, `New ${i}.png`)
    writeFileSync(path, await picture.png().toBuffer())
    const at = new Date(systemClock.wallMs() - (newImages - i) * 60_000)
    utimesSync(path, at, at)
  }
}

/** Begins a new log and folds the one before, as a close does; what the measured process does. */
export const foldOnce = async (dir: string, configDir: string): Promise<void> => {
  const store = openStore({ dir, configDir, mode: 'write' }) as FileStore
  await store.exclusive('fold', () => store.checkpoint())
  store.close()
}

/** The newest log's worth of rows, folded. */
const fold = (place: BenchPlace): BenchRow => {
  const program = join(place.dir, 'fold.mjs')
  writeFileSync(program, `import { foldOnce } from ${JSON.stringify(import.meta.url)}\n`
    + 'await foldOnce(...process.argv.slice(2))\n')
  return rowOf('a fold', wholeCost(place, { args: [program, place.stateDir, place.configDir] }))
}

const rowOf = (name: string, cost: WholeCost, note = ''): BenchRow => {
  const { wallMs, processorMs, peakMib } = cost
  const row: BenchRow = {
    name: `million: ${name}`, ratio: peakMib, target: `at most ${mebibytesMax} MiB`,
    pass: peakMib <= mebibytesMax,
    detail: `${(wallMs / 1000).toFixed(2)} s, ${(processorMs / 1000).toFixed(2)} s of processor `
      + `time, ${peakMib.toFixed(0)} MiB${note === '' ? '' : `; ${note}`}`,
  }
  tell(`${row.name}: ${row.detail}`)
  return row
}

const bytesBelow = (dir: string): number =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)

const size = ({ stateDir }: BenchPlace): string =>
  `${(bytesBelow(stateDir) / 1e6).toFixed(0)} MB on disk`

/** Says what a check found, where it found anything that is wrong. */
const soundness = ({ stdout }: WholeCost): string => {
  const { ok, problems } = JSON.parse(stdout) as
    { ok: boolean, problems: readonly { code: string, severity: string }[] }
  const wrong = problems.filter(({ severity }) => severity !== 'notice').map(({ code }) => code)
  return ok && wrong.length === 0 ? 'sound' : `NOT SOUND: ${[...new Set(wrong)].join(', ')}`
}

/** A check that finds something still tells what it took. */
const checkCodes = [0, 1, 2, 3, 4, 5, 6, 7, 8]

const check = (place: BenchPlace, when: string): BenchRow => {
  const cost = wholeCost(place, place.line(['state', 'check', '--json']), checkCodes)
  return rowOf(`state check ${when}`, cost, `${soundness(cost)}, ${size(place)}`)
}

/** Lines that read, and one that writes, in the order in which they are measured. */
const lines: readonly (readonly string[])[] = [
  ['shots', 'list'], ['shots', 'list', '--limit', '10000'], ['shots', 'status'],
  ['shots', 'digests'], ['shots', 'report'], ['status'], ['task', 'list'], ['audit', 'list'],
  ['ledger', 'show'], ['ledger', 'reservations', '--all'], ['session', 'show'], ['doctor'],
]

const measure = async (place: BenchPlace, folder: string): Promise<BenchRow[]> => {
  const line = (argv: readonly string[], note = (): string => '', stdin = ''): BenchRow => {
    const cost = wholeCost(place, place.line(argv, stdin))
    return rowOf(argv.join(' '), cost, note())
  }
  const rows = [line(['shots', 'scan']), check(place, 'before')]
  await addImages(folder)
  rows.push(
    line(['shots', 'scan'], () => `${newImages} new images`),
    line(['alpha', 'ask', '-'], () => '', 'What is a sally port?'),
    ...lines.map((argv) => line(argv)), fold(place),
  )
  const backup = join(place.dir, `backup-${systemClock.wallMs()}`)
  const old = ['state', 'prune', '--older-than', '30d']
  rows.push(
    line(['state', 'backup', backup]), line([...old, '--dry-run']),
    line([...old, '--yes'], () => size(place)), check(place, 'after the prune'),
    line(['state', 'restore', backup, '--yes']), check(place, 'after the restore'),
  )
  return rows
}

const usualArgs = [
  'alpha', 'setup', '--enable', '--acknowledge-plaintext-egress', '--max-output-tokens', '200',
  '--timeout-seconds', '20', '--request-cost-bound-microusd', '1000',
  '--spend-ceiling-microusd', '1000000000', '--expected-policy-revision', '1',
]

const runIn = (place: BenchPlace): Promise<BenchRow[]> => withSandbox(place, async (sandbox) => {
  const folder = join(place.dir, 'images')
  const isNew = !existsSync(place.stateDir)
  if (isNew) place.run('init', '--profile', sandbox.profile_file)
  place.run('login', '--ttl', '7d', '--idle', '24h')
  if (isNew) {
    place.run(...usualArgs, '--api-key-file', sandbox.provider_key_file)
    place.run('shots', 'config', 'set', '--folder', folder)
    await seed(place, folder)
  }
  return measure(place, folder)
})

/** Seeds and measures. */
export const run = async (): Promise<BenchRow[]> => {
  const dir = process.env['SALLYPORT_MILLION_DIR']
  if (dir === undefined) return withPlace(runIn)
  mkdirSync(dir, { recursive: true })
  return runIn(placeIn(dir))
}
