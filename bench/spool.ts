/**
 * Adding one capture to the spool of a device and taking one out, with 10,000 that wait over 10
 * that do: `npm run bench -- spool`. In turns, in one process, with every sync. The same without
 * syncs and in processor time is told beside it: what a disk takes to sync differs from call to
 * call.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeFiles } from '../src/state/files.js'
import type { Files } from '../src/state/files.js'
import { captureOf, pictureOf, spoolAt } from '../test/support/edge/device.js'
import { median } from './pairs.js'
import type { BenchRow } from './types.js'

const [few, many, turns, ratioMax] = [10, 10_000, 200, 1.3]
const limits = { max_items: 20_000 }
/** Filling is not what is measured. */
const unsynced: Files = { ...nodeFiles, sync: () => undefined, syncData: () => undefined }

/** One added, one taken: wall milliseconds and microseconds of the processor. */
const turn = async (dir: string, files: Files): Promise<readonly [number, number]> => {
  const spool = spoolAt(dir, { files, limits })
  const capture = captureOf(pictureOf(1))
  const [before, start] = [process.cpuUsage(), performance.now()]
  await spool.add(capture)
  const { entry } = await spool.front()
  if (entry === null || typeof spool.read(entry) === 'string') throw new Error('nothing waits')
  await spool.remove(entry)
  const wall = performance.now() - start
  const { user, system } = process.cpuUsage(before)
  return [wall, user + system]
}

interface Measured { readonly ratio: number; readonly few: number; readonly many: number }

const compared = (few: readonly number[], many: readonly number[]): Measured => {
  const [a, b] = [median(few), median(many)]
  return { ratio: b / a, few: a, many: b }
}

const measured = async (
  dirs: readonly [string, string], files: Files,
): Promise<{ wall: Measured; processor: Measured }> => {
  const of = { few: [] as (readonly [number, number])[], many: [] as (readonly [number, number])[] }
  for (let n = 0; n < turns; n += 1) {
    of.few.push(await turn(dirs[0], files))
    of.many.push(await turn(dirs[1], files))
  }
  const part = (which: 'few' | 'many', at: 0 | 1) => of[which].map((one) => one[at])
  return {
    wall: compared(part('few', 0), part('many', 0)),
    processor: compared(part('few', 1), part('many', 1)),
  }
}

const shown = ({ few: a, many: b }: Measured, unit: string): string =>
  `${b.toFixed(unit === 'ms' ? 2 : 0)} over ${a.toFixed(unit === 'ms' ? 2 : 0)} ${unit}`

/** Two rows: with syncs, and without. */
export const run = async (): Promise<BenchRow[]> => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-bench-'))
  try {
    const dirs = [join(dir, 'few'), join(dir, 'many')] as const
    for (const [at, count] of [few, many].entries()) {
      const spool = spoolAt(dirs[at] as string, { files: unsynced, limits })
      for (let n = 0; n < count; n += 1) await spool.add(captureOf(pictureOf(n % 50)))
    }
    const rows: BenchRow[] = []
    for (const [name, files] of [['', nodeFiles], [', without syncs', unsynced]] as const) {
      await measured(dirs, files)
      const { wall, processor } = await measured(dirs, files)
      rows.push({
        name: `spool: one in, one out, ${many} over ${few}${name}`,
        ratio: wall.ratio, target: `at most ${ratioMax}`, pass: wall.ratio <= ratioMax,
        detail: `${shown(wall, 'ms')} wall; ${shown(processor, 'us')} of the processor, ratio `
          + processor.ratio.toFixed(2),
      })
    }
    return rows
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
