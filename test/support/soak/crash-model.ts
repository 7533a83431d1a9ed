/**
 * Crashes at every step of a state's life on a disk in memory that loses power: of the script of
 * creation, transactions and folds, and of a repair after one. `seeds` says how often what was not
 * synced is garbled, each time in another way.
 */
import { repairState } from '../../../src/state/care/repair.js'
import { judge, onLoss, script, site } from '../state/crash-script.js'
import { faulty, memoryLock, plan, type Plan } from '../state/faults.js'
import { MemFiles, type CrashMode } from '../state/mem-files.js'

/** What a loop of crashes found. */
export interface CrashReport {
  readonly broken: readonly string[]
  /** Steps at which something ended. */
  readonly steps: number
  /** Disks whose last record was refused, as a garbled one may be. */
  readonly refusals: number
}

const modesOf = (seeds: number): readonly (readonly [CrashMode, number])[] => [
  ['kept', 0], ['dropped', 0],
  ...Array.from({ length: seeds }, (_, at) => ['garbled', at + 1] as const),
]

/** Ends the script at each of its steps. */
export const crashScript = async (seeds: number): Promise<CrashReport> => {
  const counted = plan()
  await script(new MemFiles(), counted)
  const broken: string[] = []
  let refusals = 0
  for (let at = 1; at <= counted.calls; at += 1) {
    const disk = new MemFiles()
    const history = await script(disk, plan(at, 'stop'))
    for (const [mode, seed] of modesOf(seeds)) {
      const after = disk.crash(mode, seed * 1000 + at)
      const { problem, refused } = await judge(after, history, mode === 'garbled')
      if (problem !== null) broken.push(`${counted.seen[at - 1]} ${mode} ${seed}: ${problem}`)
      if (refused) refusals += 1
    }
  }
  return { broken, steps: counted.calls, refusals }
}

/** Ends the repair of what a crash garbled, at each of its steps. */
export const crashRepair = async (seeds: number): Promise<CrashReport> => {
  const counted = plan()
  await script(new MemFiles(), counted)
  const logWrites = counted.seen.flatMap((call, i) =>
    /^write .*\/wal\/\d+\.log$/.test(call) ? [i + 1] : [])
  const first = new MemFiles()
  const history = await script(first, plan((logWrites.at(-1) ?? 0) + 1, 'stop'))
  const repair = async (disk: MemFiles, to: Plan): Promise<void> => {
    const files = faulty(disk, to)
    await repairState({ ...site, files, lock: memoryLock(), onLoss }).catch((error) => {
      if (!to.stopped) throw error
    })
  }
  const broken: string[] = []
  let steps = 0
  for (let seed = 1; seed <= seeds; seed += 1) {
    const crashed = first.crash('garbled', seed)
    const whole = plan()
    await repair(crashed.clone(), whole)
    for (let stop = 1; stop <= whole.calls; stop += 1) {
      const disk = crashed.clone()
      await repair(disk, plan(stop, 'stop'))
      for (const mode of ['kept', 'dropped', 'garbled'] as const) {
        const { problem } = await judge(disk.crash(mode, seed + stop), history, true)
        if (problem !== null) broken.push(`${seed}, ${whole.seen[stop - 1]} ${mode}: ${problem}`)
      }
      steps += 1
    }
  }
  return { broken, steps, refusals: 0 }
}

const seedsPerRounds = 25

/** The long loop: many ways to garble. */
export const run = async (rounds: number): Promise<void> => {
  const seeds = Math.max(4, Math.ceil(rounds / seedsPerRounds))
  const loops: Readonly<Record<string, () => Promise<CrashReport>>> = {
    script: () => crashScript(seeds), repair: () => crashRepair(2 * seeds),
  }
  for (const [name, loop] of Object.entries(loops)) {
    const { broken, ...counts } = await loop()
    process.stdout.write(`${name}: ${JSON.stringify({ ...counts, broken: broken.length })}\n`)
    if (broken.length > 0) throw new Error(broken.join('\n'))
  }
}
