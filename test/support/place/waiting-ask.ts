/** An ask of one machine, in a process of its own, that waits at a step, or dies there. */
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { collections } from '../../../src/governance/rows.js'
import { openStore } from '../../../src/state/store.js'
import { roomy, setupFlags } from '../../world/alpha.js'
import type { Ran, Teardown } from '../../world/place.js'
import type { AlphaWorld, Placed } from '../../world/world.js'
import { must } from '../must.js'
import { timeOf } from '../speed.js'
import { until } from '../until.js'
import type { FaultyWay } from './faults.js'
import { goBy } from './links.js'
import { firstMachine, nextMachine } from './machines.js'
import { startPostgres } from './postgres.js'
import { startProxy } from './proxy.js'

/** For a process whose leases end while a test waits, and not before: see test/entry.ts. */
export const shortLease = { TEST_PLACE_LEASE_MS: String(Math.max(5_000, timeOf(50))) } as const

/** Makes two machines, with room for hundreds of unknown charges. */
export const faultyWay = async (t: Teardown): Promise<FaultyWay<AlphaWorld>> => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  must(await one.run(setupFlags(one.place, await one.revision(), roomy)))
  const two = await nextMachine(t, one)
  await one.gov.store.fresh()
  const proxy = await startProxy(t, () => server.port)
  goBy(one, proxy)
  return { server, proxy, one, two }
}

/** An ask that waits at a step. */
export interface WaitingAsk {
  readonly question: string
  readonly key: string
  readonly asking: Promise<Ran>
  readonly child: () => ChildProcess | undefined
  /** That it waits there; fails where it has ended before. */
  readonly stopped: Promise<void>
  go(): void
}

/** Starts one in a process of its own; with `kill` it ends itself there. */
export const waitingAsk = (
  { place }: Pick<Placed, 'place'>, step: string,
  { how = 'wait', env = {} }:
  { how?: 'wait' | 'kill', env?: Readonly<Record<string, string>> } = {},
): WaitingAsk => {
  const [question, key] = [`MARK: ${randomUUID()}`, randomUUID()]
  const goFile = place.path(`go-${key}`)
  let said = ''
  let over = false
  let child: ChildProcess | undefined
  const asking = place.spawn(['alpha', 'ask', '-', '--json', '--idempotency-key', key], {
    entry: 'test', coverage: false, stdin: question,
    env: {
      ...env, TEST_STOP_AT: `ask.${step}`, TEST_GO_FILE: goFile, TEST_STOP_DO: how,
    },
    onChild: (one) => {
      child = one
      one.stderr?.on('data', (bytes: Buffer) => { said += bytes.toString() })
    },
  }).finally(() => { over = true })
  const stopped = until(`it comes to ${step}`, () => over || said.includes('stopped at'))
    .then(() => {
      if (!said.includes('stopped at')) throw new Error(`it ended before ${step}: ${said}`)
    })
  // One that dies at its step is not waited for.
  stopped.catch(() => undefined)
  return {
    question, key, asking, stopped, child: () => child,
    go: () => writeFileSync(goFile, ''),
  }
}

/** Waits until no lease of a guard is live any more. */
export const leasesEnd = ({ server }: Pick<FaultyWay, 'server'>): Promise<void> =>
  until('the leases are over', async () => (await server.query(
    "select from sallyport.leases where ends > clock_timestamp() and name like 'hold/%'",
  )).length === 0)

/** What a machine knows of the money of an ask; it asks nobody. */
export const moneyAt = ({ place }: Pick<Placed, 'place'>, key: string): string => {
  const store = openStore({ dir: place.stateDir, configDir: place.configDir, mode: 'read' })
  try {
    const view = store.read()
    const id = view.get(collections.idempotency, key)?.task_id ?? ''
    const task = view.get(collections.openTasks, id) ?? view.get(collections.closedTasks, id)
    const operation = task?.operation_id ?? ''
    const row = view.get(collections.openReservations, operation)
      ?? view.get(collections.closedReservations, operation)
    return row?.state ?? 'nothing held'
  } finally {
    store.close()
  }
}
