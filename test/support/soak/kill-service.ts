/**
 * SIGKILL of the service, of the daemon of a device, or of both, at random times while captures are
 * sent: each capture that was answered is stored once and whole, in its order, whatever died.
 * `npm run soak -- ROUNDS kill-service`.
 */
import type { ChildProcess } from 'node:child_process'
import { writeFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { edgeCollections } from '../../../src/edge/edge-rows.js'
import { verifyEdge } from '../../../src/edge/verify-edge.js'
import { chanceOf } from '../chance.js'
import { must } from '../must.js'
import { image } from '../png.js'
import { offeredAt } from '../service/devices.js'
import { started, type Started } from '../service/process.js'
import { startMs } from '../speed.js'
import { World } from '../../world/world.js'

/** What came of it. */
export interface KilledService {
  readonly rounds: number
  readonly captured: number
  readonly killedService: number
  readonly killedDaemon: number
  readonly stored: number
  readonly violations: readonly string[]
}

const chance = chanceOf('kill-service')

/** Large enough that a kill falls into the body of one. */
const bodyOf = (n: number): Buffer =>
  Buffer.concat([image(n), Buffer.alloc(1_500_000, n % 251)])

const rig = async (teardown: (done: () => Promise<void> | void) => void) => {
  const world = await World.in({ teardown }).state().session()
  const { place } = world
  const serve = (): Promise<Started> => started({ teardown }, place)
  const service = await serve()
  mkdirSync(place.edgeDir, { recursive: true, mode: 0o700 })
  writeFileSync(join(place.edgeDir, 'settings.json'),
    JSON.stringify({ retry: { first_ms: 100, most_ms: 400 } }), { mode: 0o600 })
  const line = place.write('line', `${await offeredAt(world, service.told)}\n`)
  must(await place.spawn(['edge', 'daemon', '--once', '--pair-file', line], { coverage: false }))
  return { world, place, serve, service }
}

/** One daemon that runs while somebody is killed. */
const killRound = async (
  { place, serve }: Awaited<ReturnType<typeof rig>>, service: Started, who: number,
): Promise<{ readonly service: Started; readonly killed: readonly [number, number] }> => {
  let child = null as ChildProcess | null
  const sending = place.spawn(['edge', 'daemon', '--once'], {
    coverage: false, onChild: (one) => (child = one),
  })
  await sleep((0.6 + chance.next() * 2) * startMs())
  const killed: [number, number] = [0, 0]
  if (who !== 1) {
    service.child.kill('SIGKILL')
    await service.ended
    killed[0] = 1
  }
  // A busy machine may not have started it yet.
  if (who !== 0 && child?.exitCode === null && child.kill('SIGKILL')) killed[1] = 1
  const next = killed[0] === 1 ? await serve() : service
  await sending
  return { service: next, killed }
}

/** Runs so many rounds. */
export const killService = async (rounds: number): Promise<KilledService> => {
  const done: (() => Promise<void> | void)[] = []
  const all = await rig((act) => void done.push(act))
  const { world, place } = all
  let { service } = all
  const captured: string[] = []
  const killed = [0, 0]
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const n of [2 * round, 2 * round + 1]) {
        const file = place.write(`${n}.png`, bodyOf(n))
        const ran = await place.spawn(['edge', 'capture', file, '--json'], { coverage: false })
        captured.push(must(ran).json().request_id)
      }
      const after = await killRound(all, service, round % 3)
      service = after.service
      for (const at of [0, 1]) killed[at] = (killed[at] ?? 0) + (after.killed[at] ?? 0)
    }
    const last = await place.spawn(['edge', 'daemon', '--once'], { coverage: false })
    const rows = world.view().all(edgeCollections.artifacts).map(({ doc }) => doc)
      .sort((a, b) => a.sequence - b.sequence)
    const stored = rows.map(({ request_id: id }) => id)
    const whole = await Promise.all(rows.map(async ({ artifact_id: id }) => {
      const got = await service.ask('GET', `/api/edge/artifacts/${id}/bytes`)
      return got.status === 200 && got.bytes.equals(bodyOf(captured.indexOf(
        rows.find((row) => row.artifact_id === id)?.request_id ?? '')))
    }))
    const check = await world.run(['state', 'check'])
    return {
      rounds, captured: captured.length, stored: stored.length,
      killedService: killed[0] ?? 0, killedDaemon: killed[1] ?? 0,
      violations: [
        ...(last.status === 0 ? [] : [`the last daemon ended with ${last.status}`]),
        ...(stored.join() === captured.join() ? [] : ['lost, doubled or out of order']),
        ...(whole.every(Boolean) ? [] : ['bytes differ']),
        ...verifyEdge(world.view()).map(({ code }) => code),
        ...(check.status === 0 ? [] : [check.stdout]),
      ],
    }
  } finally {
    for (const act of done.reverse()) await act()
  }
}

/** The long loop. */
export const run = async (rounds: number): Promise<void> => {
  const report = await killService(rounds)
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  if (report.violations.length > 0) throw new Error(report.violations.join('\n'))
}
