/**
 * Takes the lane some times and writes `enter` and `leave` lines to a common file: whole lines are
 * appended, so their order in the file is the order in time. See `lane.test.ts`.
 */
import { appendFileSync } from 'node:fs'
import { systemClock } from '../../../src/base/clock.js'
import { acquireLane, type LanePriority } from '../../../src/state/holds/lane.js'

const args = JSON.parse(process.argv[2] ?? '{}') as {
  dir: string, log: string, label: string, priority: LanePriority, rounds: number,
  holdMs: number, forMs: number,
}
const { dir, log, label, priority } = args

for (let round = 0; round < args.rounds; round += 1) {
  const deadlineMs = systemClock.monotonicMs() + args.forMs
  const lane = await acquireLane({ dir, priority, deadlineMs, clock: systemClock })
  appendFileSync(log, `enter ${label}\n`)
  if (round === 0) process.stdout.write('entered\n')
  await systemClock.sleep(args.holdMs)
  appendFileSync(log, `leave ${label}\n`)
  lane.release()
}
