/**
 * Every step of creation, transactions and folds is ended at that step, and the disk is then read
 * as a reboot would find it: unsynced writes kept, dropped, or garbled by seed.
 */
import t from 'tap'
import { repairState } from '../../src/state/care/repair.js'
import { judge, onLoss, script, site } from '../support/state/crash-script.js'
import { faulty, memoryLock, plan } from '../support/state/faults.js'
import type { Plan } from '../support/state/faults.js'
import { MemFiles } from '../support/state/mem-files.js'
import type { CrashMode } from '../support/state/mem-files.js'

const modes: readonly (readonly [CrashMode, number])[] = [
  ['kept', 0], ['dropped', 0], ['garbled', 1], ['garbled', 2], ['garbled', 3], ['garbled', 4],
]

t.test('durability 2, 4, 5 and 10: a crash at any step leaves before, after or a clear refusal', async (t) => {
  const counted = plan()
  const whole = await script(new MemFiles(), counted)
  t.equal(whole.acknowledged, 7)
  const problems: string[] = []
  let refusals = 0
  for (let at = 1; at <= counted.calls; at += 1) {
    for (const [mode, seed] of modes) {
      const disk = new MemFiles()
      const history = await script(disk, plan(at, 'stop'))
      const after = disk.crash(mode, seed * 1000 + at)
      const { problem, refused } = await judge(after, history, mode === 'garbled')
      if (problem !== null) problems.push(`${counted.seen[at - 1]} ${mode} ${seed}: ${problem}`)
      if (refused) refusals += 1
    }
  }
  t.strictSame(problems, [])
  t.ok(counted.calls > 100, `${counted.calls} steps, ${refusals} refusals after garbling`)
  t.ok(refusals > 0, 'some garbled last records were refused')
})

t.test('durability 10: a crash during a repair is no worse than the crash before it', async (t) => {
  const counted = plan()
  await script(new MemFiles(), counted)
  const logWrites = counted.seen.flatMap((call, i) =>
    /^write .*\/wal\/\d+\.log$/.test(call) ? [i + 1] : [])
  const at = (logWrites.at(-1) ?? 0) + 1
  const problems: string[] = []
  let steps = 0
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const first = new MemFiles()
    const history = await script(first, plan(at, 'stop'))
    const broken = first.crash('garbled', seed)
    const repair = async (disk: MemFiles, to: Plan): Promise<void> => {
      const files = faulty(disk, to)
      await repairState({ ...site, files, lock: memoryLock(), onLoss }).catch((error) => {
        if (!to.stopped) throw error
      })
    }
    const whole = plan()
    await repair(broken.clone(), whole)
    for (let stop = 1; stop <= whole.calls; stop += 1) {
      const disk = broken.clone()
      await repair(disk, plan(stop, 'stop'))
      for (const mode of ['kept', 'dropped', 'garbled'] as const) {
        const { problem } = await judge(disk.crash(mode, seed + stop), history, true)
        if (problem !== null) problems.push(`${seed}, ${whole.seen[stop - 1]} ${mode}: ${problem}`)
      }
      steps += 1
    }
  }
  t.strictSame(problems, [])
  t.ok(steps > 0, `${steps} steps of repairs`)
})
