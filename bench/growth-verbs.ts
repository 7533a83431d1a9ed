/**
 * What whole commands cost as history grows: processor time of each verb, the least of several
 * runs, at 1,000 images, 100 asks and 50 sessions, and at ten and a hundred times as many. The rows
 * are made by the use cases' own writers. `npm run bench -- growth-verbs`; SALLYPORT_GROWTH names
 * the most images (1,000,000 takes its time).
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isoFromMs } from '../src/base/clock.js'
import type { TakenFile } from '../src/shots/scan/types.js'
import { withPlace, type BenchPlace } from './place.js'
import { costOf } from './processor.js'
import { imageOf, seedAsks, seedImages, seedingGov, seedSessions } from './seed.js'
import type { BenchRow } from './types.js'

const sizes = [1_000, 10_000, 100_000, 1_000_000]
const imagesPerAsk = 10
const imagesPerSession = 20
const runs = 7
const start = Date.UTC(2026, 10, 20, 10)

/** Every verb that reads, and one that writes a record. */
const verbs: readonly (readonly string[])[] = [
  ['shots', 'list'], ['shots', 'list', '--status', 'blocked', '--since', '2026-11-20T12:00Z'],
  ['shots', 'status'], ['status'], ['task', 'list'],
  ['task', 'list', '--state', 'failed', '--limit', '10'],
  ['audit', 'list'], ['ledger', 'show'], ['ledger', 'reservations', '--all'],
  ['session', 'show'], ['policy', 'show'], ['policy', 'history'], ['goal', 'add', 'Tides'],
]

/** Goes on from so many images to so many. */
const seed = async (place: BenchPlace, folder: string, from: number, to: number): Promise<void> => {
  const gov = seedingGov(place)
  const taken = (n: number): TakenFile => imageOf(folder, n, start)
  await seedImages(gov.store, folder, isoFromMs(start), [from, to], taken)
  await seedAsks(gov, from / imagesPerAsk, to / imagesPerAsk)
  await seedSessions(gov, (to - from) / imagesPerSession)
  gov.store.close()
}

/** Processor time of one line, milliseconds: the least of several runs. */
const leastCost = (place: BenchPlace, argv: readonly string[]): number =>
  Math.min(...Array.from({ length: runs }, () => costOf(place.line(argv)).processorMs))

/** Measures every verb at every size. */
export const run = async (): Promise<BenchRow[]> => withPlace(async (place) => {
  const rows: BenchRow[] = []
  const folder = join(place.dir, 'images')
  place.run('init')
  place.run('login')
  mkdirSync(folder)
  place.run('shots', 'config', 'set', '--folder', folder)
  const before = new Map<string, number>()
  const most = Number(process.env['SALLYPORT_GROWTH'] ?? sizes.at(-2))
  let from = 0
  for (const size of sizes.filter((one) => one <= most)) {
    await seed(place, folder, from, size)
    from = size
    for (const argv of verbs) {
      const name = argv.join(' ')
      const cost = leastCost(place, argv)
      const known = before.get(name)
      before.set(name, cost)
      const ratio = known === undefined ? null : cost / known
      const row: BenchRow = {
        name: `growth ${size}: ${name}`, ratio, target: 'at most 1.2 a decade',
        pass: ratio === null || ratio <= 1.2, detail: `${cost.toFixed(0)} ms of processor time`,
      }
      rows.push(row)
      process.stderr.write(`${row.name}: ${ratio?.toFixed(2) ?? '-'} (${row.detail})\n`)
    }
  }
  return rows
})
