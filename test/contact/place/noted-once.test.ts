/**
 * What costs no request to anybody: an upload of a device in several pieces, and what people note.
 * Something happens at each trip to the server; it is there once or not at all, on both machines.
 */
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { systemClock } from '../../../src/base/clock.js'
import { SallyportError } from '../../../src/base/errors.js'
import { silentObserver } from '../../../src/base/observer.js'
import { edgeLabel } from '../../../src/edge/constants.js'
import { authenticateEdge } from '../../../src/edge/credential.js'
import {
  artifactsByRequest, edgeCollections, type EdgeArtifact,
} from '../../../src/edge/edge-rows.js'
import { sweepUnfinished } from '../../../src/fabric/sweep-unfinished.js'
import { openState } from '../../../src/fabric/open-work.js'
import type { Gov } from '../../../src/governance/context.js'
import { rowsUnder } from '../../../src/state/indexes.js'
import { startChild } from '../../support/children.js'
import { capture, headOf, pairDevice, send } from '../../support/edge/uploading.js'
import { must } from '../../support/must.js'
import {
  endLeases, faults, strike, type Fault, type FaultyWay, type WayFault,
} from '../../support/place/faults.js'
import { goBy } from '../../support/place/links.js'
import { nextMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'
import { startProxy } from '../../support/place/proxy.js'
import { slice } from '../../support/slice.js'
import type { SignedIn } from '../../world/session.js'
import type { Stateful } from '../../world/state.js'
import { World, type Placed } from '../../world/world.js'
import t from 'tap'

type Machine = Placed & Stateful & SignedIn

const server = await startPostgres(t)
const one = await World.in(t).state({ more: ['--shared', server.url] }).session()
const { session, gov: { store } } = one
const { credential } = await pairDevice(one.gov, session())
const two = await nextMachine(t, one)
await store.fresh()
const proxy = await startProxy(t, () => server.port)
goBy(one, proxy)
const way: FaultyWay<Machine> = { server, proxy, one, two }

/** Opens the state of a machine anew, as a process would. */
const opened = async <T>({ place }: Placed, work: (gov: Gov) => Promise<T>): Promise<T> => {
  const { stateDir, configDir } = place
  const its = openState({ stateDir, configDir }, 'write')
  try {
    return await work({ store: its, clock: systemClock, observer: silentObserver, face: 'service' })
  } finally {
    its.close()
  }
}

const trips = Array.from({ length: 24 }, (_, at) => at + 1)
const cells = trips.flatMap((trip) => faults.map((fault) => ({ trip: String(trip), fault })))
const axes = { axesOf: ({ trip, fault }: typeof cells[number]) => [trip, fault] }

/** Something is done while that happens at its n-th trip; whether it came that far. */
const struck = async (
  fault: WayFault, trip: string, work: () => Promise<unknown>,
): Promise<boolean> => {
  let over: Promise<void> | undefined
  const undo = proxy.atAsked(Number(trip), () => { over = strike(way, fault) })
  await work()
  // A line that is over sooner is not struck behind its end.
  undo()
  await over
  return over !== undefined
}

/** Longer than a piece of a blob, so that it goes in several. */
const bytes = 2_500_000

const uploaded = (request: string, sequence: number): Promise<EdgeArtifact> =>
  opened(one, async (gov) => {
    const party = authenticateEdge(gov, gov.store.read(), credential)
    const body = capture(bytes, sequence)
    return send(gov, party, headOf(body, sequence, { request_id: request }), body)
  })

const rowsOf = (gov: Gov, device: string, request: string): readonly EdgeArtifact[] =>
  rowsUnder(gov.store.read(), edgeCollections.artifacts, artifactsByRequest, {
    under: [device, request],
  }).map(({ doc }) => doc)

const orRefused = async <T>(work: () => Promise<T>): Promise<T | SallyportError> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SallyportError) return error
    throw error
  }
}

t.test('S-204 an upload in several pieces is stored once, whatever happens at which trip to the server', async (t) => {
  let sequence = 0
  const counts: Record<string, number> = {}
  for (const { trip, fault } of slice('uploads', cells, { ...axes, takesMinutes: true })) {
    sequence += 1
    const request = randomUUID()
    let first: EdgeArtifact | SallyportError | null = null
    let came = true
    if (fault === 'killed') {
      const { stateDir, configDir } = one.place
      const child = startChild(t, 'uploading', {
        stateDir, configDir, credential, bytes, request, sequence, at: 0,
      })
      const undo = proxy.atAsked(Number(trip), () => void child.process.kill('SIGKILL'))
      came = await child.ended() === null
      undo()
    } else {
      came = await struck(fault, trip, async () => {
        first = await orRefused(() => uploaded(request, sequence))
      })
    }
    await endLeases(way)
    must(await two.run(['goal', 'add', `behind ${request}`]))
    const what = `${fault} at trip ${trip}`
    await opened(one, (gov) => sweepUnfinished(gov))
    const row = await uploaded(request, sequence)
    const told = first as EdgeArtifact | SallyportError | null
    if (told !== null && !(told instanceof SallyportError)) {
      t.equal(told.artifact_id, row.artifact_id, `${what}: what was answered stands`)
    }
    for (const machine of [one, two]) {
      await opened(machine, async (gov) => {
        await gov.store.fresh()
        t.strictSame(rowsOf(gov, row.device_id, request), [row], what)
        gov.store.artifacts.verify(edgeLabel, row.ref)
      })
    }
    const end = !came ? 'over before' : told === null ? 'died'
      : told instanceof SallyportError ? told.code : 'stored'
    counts[`${fault}: ${end}`] = (counts[`${fault}: ${end}`] ?? 0) + 1
  }
  for (const machine of [one, two]) t.equal((await machine.json(['state', 'check'])).ok, true)
  const there = (await server.query<{ name: string }>('select name from sallyport.blob_names'))
    .map(({ name }) => name)
  const named = await opened(one, async (gov) => gov.store.read().all(edgeCollections.artifacts)
    .map(({ doc }) => doc.ref.stored_sha256))
  t.strictSame(there.sort(), named.sort(), 'the server has what rows name, and nothing else')
  for (const [what, count] of Object.entries(counts).sort()) t.comment(`${what}: ${count}`)
})

/** What a process came to whose line is struck, or that dies at that trip. */
const lineAt = async (
  fault: Fault, trip: string, line: readonly string[],
): Promise<{ readonly came: boolean, readonly status: number }> => {
  if (fault === 'killed') {
    let child: ChildProcess | undefined
    const undo = proxy.atAsked(Number(trip), () => void child?.kill('SIGKILL'))
    const { status } = await one.place.spawn(line, {
      coverage: false, onChild: (its) => { child = its },
    })
    undo()
    return { came: status === 137, status }
  }
  let status = 0
  const came = await struck(fault, trip, async () => { ({ status } = await one.run(line)) })
  return { came, status }
}

interface GoalRow {
  readonly id: string
  readonly title: string
  readonly state: string
}

const goalsAt = ({ json }: Placed): Promise<readonly GoalRow[]> => json(['goal', 'list'])

/** Lines that people type, and how many goals say that they came to be. */
const lines: Readonly<Record<string, (id: string, title: string) => readonly string[]>> = {
  add: (_id, title) => ['goal', 'add', title],
  update: (id, title) => ['goal', 'update', id, '--title', title],
}

const lineCells = trips.slice(0, 8).flatMap((trip) => faults.flatMap((fault) =>
  Object.keys(lines).map((verb) => ({ verb, trip: String(trip), fault }))))

t.test('A-071 what is noted is noted once or not at all, whatever happens at which trip to the server', async (t) => {
  const counts: Record<string, number> = {}
  const { id } = await one.json(['goal', 'add', 'Read'])
  for (const { verb, trip, fault } of slice('lines', lineCells, {
    axesOf: ({ verb: row, trip: column, fault: kind }) => [row, column, kind],
    takesMinutes: true,
  })) {
    const title = `T ${randomUUID()}`
    const { came, status } = await lineAt(fault, trip, lines[verb]!(id, title))
    await endLeases(way)
    must(await two.run(['goal', 'add', `behind ${title}`]))
    await opened(one, (gov) => gov.store.fresh())
    const [here, there] = [await goalsAt(one), await goalsAt(two)]
    const found = here.filter((goal) => goal.title === title).length
    const what = `${fault} at trip ${trip} of ${verb}`
    t.strictSame(here, there, what)
    t.ok(found <= 1, what)
    if (status === 0) t.equal(found, 1, `${what}: what was answered stands`)
    const end = `${came ? 'came' : 'over before'}, status ${status}, ${found} of it`
    counts[`${fault}: ${end}`] = (counts[`${fault}: ${end}`] ?? 0) + 1
  }
  for (const machine of [one, two]) t.equal((await machine.json(['state', 'check'])).ok, true)
  for (const [what, count] of Object.entries(counts).sort()) t.comment(`${what}: ${count}`)
})
