/**
 * SIGKILL of captures and of the daemon at random times, against a service that loses answers and
 * cuts connections: each capture that was answered is stored once, and they come in order.
 * `npm run soak -- ROUNDS kill-spool`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { chanceOf } from '../chance.js'
import { onDisk, pictureOf } from '../edge/device.js'
import type { Fault } from '../edge/origin.js'
import { deviceOf } from '../edge/paired.js'
import type { PairedDevice } from '../edge/paired.js'
import { startMs } from '../speed.js'
import { until } from '../until.js'

/** What came of it. */
export interface KilledSpool {
  readonly rounds: number
  /** Captures that were answered. */
  readonly answered: number
  readonly killed: number
  readonly stored: number
  readonly violations: readonly string[]
}

const chance = chanceOf('kill-spool')

const faults: readonly Fault[] = ['lost-reply', 'cut', { status: 503 }, { status: 500 }]

/** A run that is killed after a part of what it takes; true when that was in time. */
const killedWithin = async (
  { place }: PairedDevice, argv: readonly string[], afterMs: number,
): Promise<{ killed: boolean; stdout: string }> => {
  // The time counts from the start of the process: a busy machine makes it late.
  let killed = false
  const running = place.spawn(argv, {
    coverage: false,
    onChild: (child) => void sleep(afterMs).then(() => {
      killed = child.exitCode === null && child.kill('SIGKILL')
    }),
  })
  const { stdout, status } = await running
  return { killed: killed && status === 137, stdout }
}

/** Ids of captures that were answered, in the order of their answers. */
const captureSome = async (device: PairedDevice, round: number): Promise<{
  ids: string[]; killed: number
}> => {
  const file = device.place.write(`shot-${round}.png`, pictureOf(round))
  const ids: string[] = []
  let killed = 0
  for (let n = 0; n < 2; n += 1) {
    const afterMs = (0.5 + chance.next() * 4) * startMs()
    const ran = await killedWithin(device, ['edge', 'capture', file, '--json'], afterMs)
    if (ran.killed) killed += 1
    const [, id] = /"request_id":"([0-9a-f-]{36})"/.exec(ran.stdout.replace(/\s/g, '')) ?? []
    if (id !== undefined) ids.push(id)
  }
  ids.push(await device.capture(round))
  return { ids, killed }
}

/** The long loop. */
export const run = async (rounds: number): Promise<void> => {
  const report = await killSpool(rounds)
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  if (report.violations.length > 0) throw new Error(report.violations.join('\n'))
}

/** Runs so many rounds. */
export const killSpool = async (rounds: number): Promise<KilledSpool> => {
  const done: (() => Promise<void> | void)[] = []
  const device = await deviceOf({ teardown: (act) => void done.push(act) })
  const answered: string[] = []
  let killed = 0
  try {
    for (let round = 0; round < rounds; round += 1) {
      const some = await captureSome(device, round)
      answered.push(...some.ids)
      const fault = faults[chance.below(faults.length + 2)]
      if (fault !== undefined) device.service.fault(fault)
      const afterMs = (1 + chance.next() * 6) * startMs()
      const sending = await killedWithin(device, ['edge', 'daemon', '--json'], afterMs)
      killed += some.killed + (sending.killed ? 1 : 0)
    }
    // Faults that nobody met must not end the last run.
    await until('nothing is left to send', async () => (await device.once()).status === 0)
    return judged(device, { rounds, answered, killed })
  } finally {
    for (const act of done.reverse()) await act()
  }
}

const judged = (
  { service, place }: PairedDevice,
  { rounds, answered, killed }: { rounds: number; answered: string[]; killed: number },
): KilledSpool => {
  const stored = [...service.stored.keys()]
  const numbers = [...service.stored.values()].map(({ artifact }) => Number(artifact['sequence']))
  const inOrder = stored.filter((id) => answered.includes(id))
  const violations = [
    ...service.violations,
    ...answered.filter((id) => !service.stored.has(id)).map((id) => `lost ${id}`),
    ...inOrder.join() === answered.join() ? [] : ['out of order'],
    ...numbers.every((one, at) => at === 0 || one > numbers[at - 1]!) ? [] : ['numbers'],
    ...onDisk(place.edgeDir).items === 0 ? [] : ['something was left'],
  ]
  return { rounds, answered: answered.length, killed, stored: stored.length, violations }
}
