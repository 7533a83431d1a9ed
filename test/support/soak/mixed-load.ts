/**
 * Mixed load: two devices upload, an operator reads and asks by the service, another one asks and
 * writes at a terminal, pictures are scanned by both, publications run in processes of their own,
 * and the service is restarted each minute, every third time by SIGKILL. Then the account: nothing
 * that was answered is lost, nothing is there twice, the state is sound.
 * `npm run soak -- MINUTES mixed-load`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { alphaCapability } from '../../../src/alpha/constants.js'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import { edgeCollections } from '../../../src/edge/edge-rows.js'
import { verifyEdge } from '../../../src/edge/verify-edge.js'
import { collections } from '../../../src/governance/rows.js'
import { shotCollections } from '../../../src/shots/observations/observation-rows.js'
import type { View } from '../../../src/state/types.js'
import { roomy } from '../../world/alpha.js'
import type { Teardown } from '../../world/place.js'
import { World } from '../../world/world.js'
import { movedClock } from '../clock.js'
import { connectionOf } from '../codehost/working.js'
import { must } from '../must.js'
import { image } from '../png.js'
import { MixedService, type Life } from './mixed-service.js'
import {
  asking, noNotes, publishing, reading, scanning, sha256, typing, uploading,
  type Load, type MixedNotes, type MixedWorld,
} from './mixed-work.js'
import { reckon } from './reckoning.js'

/** How long, and how often the service is restarted; never where that is null. */
export interface MixedPlan {
  readonly ms: number
  readonly restartEveryMs: number | null
}

/** What came of it. */
export interface MixedReport {
  readonly figures: Readonly<Record<string, number>>
  readonly lives: readonly Life[]
  readonly violations: readonly string[]
}

const worldOf = (t: Teardown): Promise<MixedWorld> => Promise.resolve(
  World.in(t, { clock: movedClock() }).sandbox().state().session().alpha({ money: roomy })
    .images().with((world) => ({ pictures: world.folder })).with((world) => connectionOf(world)))

/** Idempotency keys whose charge is settled, and those whose answer is there. */
const asksIn = (view: View): { readonly settled: string[], readonly answered: string[] } => {
  const all = view.all(collections.idempotency).flatMap(({ id, doc }) => {
    const task = view.get(collections.closedTasks, doc.task_id)
    if (task?.kind !== alphaCapability) return []
    const held = view.get(collections.closedReservations, task.operation_id)
    return [{ id, state: task.state, charge: held?.state }]
  })
  return {
    settled: all.filter(({ charge }) => charge === 'settled').map(({ id }) => id),
    answered: all.filter(({ state }) => state === 'succeeded').map(({ id }) => id),
  }
}

const ofUploads = async (
  { world, service, notes }: Load, view: View,
): Promise<readonly string[]> => {
  const rows = view.all(edgeCollections.artifacts).map(({ doc }) => doc)
  const same: string[] = []
  for (const [id, body] of notes.bodies) {
    const got = await service.ask('GET', `/api/edge/artifacts/${id}/bytes`)
    if (got.status === 200 && sha256(got.bytes) === sha256(body)) same.push(id)
  }
  const numbers = rows.map(({ device_id: device, sequence }) => `${device} ${sequence}`)
  return [
    ...reckon({
      kind: 'uploads', told: notes.uploads.told, found: rows.map((row) =>
        `${row.device_id} ${row.request_id} ${row.sequence} ${row.ref.sha256}`),
    }),
    ...reckon({ kind: 'sequence numbers', told: [], maybe: numbers, found: numbers }),
    ...reckon({ kind: 'bytes', told: [...notes.bodies.keys()], found: same }),
    ...verifyEdge(world.view()).map(({ code }) => code),
  ]
}

/** How often each question came to the provider. */
const sentTo = ({ world, notes }: Load): readonly string[] => {
  const bodies = world.inferences().map(({ body }) => body.toString('utf8'))
  return notes.questions.flatMap((question) =>
    bodies.filter((body) => body.includes(question)).map(() => question))
}

/** What is known of a capture stands under its id, of a picture of the folder under its name. */
const isCapture = (name: string): boolean => name.startsWith('edge_art_')

const ofEffects = (load: Load, view: View): readonly string[] => {
  const { world, notes } = load
  const { settled, answered } = asksIn(view)
  const jobs = view.all(jobCollection).filter(({ doc }) => doc.state === 'succeeded')
  const posts = world.posts().map(({ path, bodySha256 }) => `${path} ${bodySha256}`)
  const goals = view.all(collections.goals).map(({ doc }) => doc.title)
  const sent = sentTo(load)
  const names = view.all(shotCollections.files).map(({ doc }) => doc.name.text ?? '')
  return [
    ...reckon({ kind: 'answers', ...notes.asks, found: answered }),
    ...reckon({ kind: 'charges', ...notes.asks, found: settled }),
    ...reckon({ kind: 'POSTs to the provider', told: [], maybe: notes.questions, found: sent }),
    ...(sent.length < answered.length ? ['answers without a POST'] : []),
    ...reckon({ kind: 'effects at the code host', told: [], maybe: posts, found: posts }),
    ...reckon({
      kind: 'publications', told: notes.publications.told, found: jobs.map(({ id }) => id),
    }),
    ...reckon({
      kind: 'goals', told: notes.goals.told,
      found: goals.filter((title) => /^Goal \d+$/.test(title)),
    }),
    ...reckon({
      kind: 'pictures', told: notes.images.told, found: names.filter((name) => !isCapture(name)),
    }),
    ...reckon({
      kind: 'captures', told: view.all(edgeCollections.artifacts).map(({ id }) => id),
      found: names.filter(isCapture),
    }),
    ...reckon({
      kind: 'observations', told: notes.images.told.map((_, n) => sha256(image(n))),
      found: world.rows().filter(({ edge }) => edge === undefined).map((row) => row.sha256),
    }),
  ]
}

const accountOf = async (load: Load): Promise<readonly string[]> => {
  const { world, service, notes } = load
  must(await world.run(['shots', 'scan']))
  const view = world.open().read()
  const effects = [...await ofUploads(load, view), ...ofEffects(load, view)]
  await service.end()
  const check = await world.run(['state', 'check', '--json'])
  const { problems } = check.json<{ problems: { code: string; severity: string }[] }>()
  const wrong = problems.filter(({ severity }) => severity === 'damage').map(({ code }) => code)
  return [
    ...effects, ...notes.surprises,
    ...(notes.unknown.length < service.lives.length ? []
      : [`${notes.unknown.length} asks ended without an answer`]),
    ...(check.status === 0 && wrong.length === 0 ? [] : [`state check: ${wrong.join()}`]),
    ...service.exits.filter((status) => status !== 0).map((status) => `it ended with ${status}`),
  ]
}

const figuresOf = (notes: MixedNotes, service: MixedService): MixedReport['figures'] => ({
  uploads: notes.uploads.told.length, reads: notes.reads, scans: notes.scans,
  asks: notes.asks.told.length, asks_unknown: notes.unknown.length,
  publications: notes.publications.told.length, goals: notes.goals.told.length,
  lives: service.lives.length, killed: service.kills, times_away: notes.away,
})

/** Runs it. */
export const mixedLoad = async (t: Teardown, plan: MixedPlan): Promise<MixedReport> => {
  const world = await worldOf(t)
  const service = new MixedService(t, world.place)
  await service.begin()
  const notes = noNotes()
  const end = performance.now() + plan.ms
  const load: Load = { world, service, notes, isOver: () => performance.now() >= end }
  const restarts = async (): Promise<void> => {
    const { restartEveryMs: every } = plan
    // Nobody is left waiting for a service that comes back after the end.
    while (every !== null && performance.now() + every < end) {
      await sleep(every)
      await service.restart()
    }
  }
  await Promise.all([
    uploading(load, 1), uploading(load, 2), reading(load), asking(load), typing(load),
    scanning(load), publishing(load), restarts(),
  ])
  const violations = await accountOf(load)
  return { figures: figuresOf(notes, service), lives: service.lives, violations }
}

const minute = 60_000

/** The most resident memory of each life, MiB: lives are equally long. */
const peaksOf = (lives: readonly Life[]): readonly number[] =>
  lives.map(({ samples }) => Math.round(Math.max(0, ...samples.map(({ mib }) => mib))))

/** What `npm run soak` counts here, and how many where nothing is said. */
export const [unit, usual] = ['minutes', 10] as const

const grownMax = 1.1

/** So many minutes; with five or more the last whole life is compared with the third. */
export const run = async (minutes: number): Promise<void> => {
  const undo: (() => Promise<void> | void)[] = []
  try {
    const { figures, lives, violations } = await mixedLoad(
      { teardown: (done) => void undo.push(done) },
      { ms: minutes * minute, restartEveryMs: minute })
    const peaks = peaksOf(lives)
    process.stdout.write(`${JSON.stringify({ figures, peak_mib_of_each_life: peaks }, null, 2)}\n`)
    const [third = 0, last = 0] = [peaks[2], peaks.at(-2)]
    const grown = peaks.length >= 5 && last > grownMax * third
      ? [`memory: ${last} MiB in the last whole life, ${third} in the third`] : []
    const all = [...violations, ...grown]
    if (all.length > 0) throw new Error(all.join('\n'))
  } finally {
    for (const done of undo.reverse()) await done()
  }
}
