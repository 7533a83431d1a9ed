/**
 * A gateway that refuses with one status after the other, over passes, ticks and time: every
 * refusal burns one request (two of those that may be about one image), nothing goes out while a
 * pause lasts, and reasons, holds and rows add up.
 */
import type { Teardown } from '../../world/place.js'
import { forImages } from '../../world/gateway.js'
import { allowed } from '../../world/images.js'
import { World, type AnalysisWorld } from '../../world/world.js'
import { minute, movedClock, type StillClock } from '../clock.js'
import { dice } from '../images/edit-suite.js'
import { must } from '../must.js'
import { greyPng } from '../png.js'
import { scan, sent, set } from '../shots.js'

/** What was tried and what should not be. */
export interface StatusReport {
  refusals: number
  passes: number
  keptAway: number
  requests: number
  readonly statuses: Record<string, number>
  readonly wrong: string[]
}

type Dice = ReturnType<typeof dice>

const statuses = [
  301, 307, 400, 401, 402, 403, 404, 408, 409, 413, 415, 422, 425, 429, 451, 500, 502, 503, 504,
  529,
] as const
const ofOneImage: ReadonlySet<number> = new Set([400, 413, 415, 422])
const bound = 10_000

interface Here {
  readonly world: AnalysisWorld
  readonly clock: StillClock
  readonly report: StatusReport
  readonly next: Dice
}

const expect = ({ report }: Here, isTrue: boolean, what: string): void => {
  if (!isTrue) report.wrong.push(what)
}

/** A wait that the reply asks for, minutes; 0 where it asks for none. */
const refuse = ({ world, next }: Here, status: number): number => {
  const minutes = next(2) === 0 ? 0 : 1 + next(90)
  const headers = { 'content-type': 'application/json' }
  world.sandbox.faults.reply({
    status, body: '{}',
    headers: minutes === 0 ? headers : { ...headers, 'retry-after': String(minutes * 60) },
  }, { service: 'gateway' })
  return minutes
}

const waiting = ({ world }: Here): number =>
  world.rows().filter((row) => row.analysis_status === 'pending').length

/** One pass under a refusal: what it sends, says and leaves. */
const refusedPass = async (here: Here, status: number): Promise<number> => {
  const { world, clock, report } = here
  const minutes = refuse(here, status)
  const [before, pending] = [sent(world), waiting(here)]
  const ran = await world.run(['shots', 'analyze', '--json'])
  world.sandbox.faults.clear()
  const receipt = ran.json()
  const burned = sent(world) - before
  report.requests += burned
  const most = ofOneImage.has(status) ? 2 : 1
  const reason = `http_status_${status}`
  expect(here, burned >= 1 && burned <= most, `${status}: ${burned} requests`)
  expect(here, receipt.reason === reason, `${status}: told as ${receipt.reason}`)
  const { held_microusd: held } = receipt
  expect(here, held === burned * bound, `${status}: holds ${held}`)
  expect(here, waiting(here) === pending - burned, `${status}: what waits does not stay`)
  const gapMs = Date.parse(receipt.paused_until ?? '') - clock.wallMs()
  expect(here, gapMs > 0 && (minutes === 0 || gapMs <= minutes * minute), `${status}: gap ${gapMs}`)
  return gapMs
}

/** Passes and ticks while a pause lasts, then the end of it. */
const pauseOut = async (here: Here, gapMs: number): Promise<void> => {
  const { world, clock, report, next } = here
  const before = sent(world)
  const verb = next(2) === 0 ? ['shots', 'analyze', '--json'] : ['shots', 'run', '--once', '--json']
  clock.advance(Math.floor(gapMs / 3))
  await world.run(verb)
  report.keptAway += 1
  expect(here, sent(world) === before, `${verb[1]} sent during a pause`)
  clock.advance(gapMs)
}

const tryOne = async (here: Here): Promise<void> => {
  const { world, clock, report, next } = here
  for (let n = 0; n < 3; n += 1) {
    const k = report.refusals * 3 + n
    const picture = greyPng(64 + (k % 16), 48 + (Math.floor(k / 16) % 64), k % 250)
    world.file(`${k}.png`, picture, new Date(clock.wallMs()).toISOString())
  }
  await scan(world)
  const status = statuses[next(statuses.length)]!
  report.refusals += 1
  report.statuses[status] = (report.statuses[status] ?? 0) + 1
  await pauseOut(here, await refusedPass(here, status))
  const waits = waiting(here)
  const good = (await world.run(['shots', 'analyze', '--json'])).json()
  report.passes += 1
  expect(here, good.analyzed === waits && good.paused_until === null, `${status}: not gone on`)
}

/** Refuses so many times, each in its turn. */
export const tryStatuses = async (
  t: Teardown, rounds: number, seed = 1,
): Promise<StatusReport> => {
  const clock = movedClock()
  const world = await World.in(t, { clock }).sandbox().state().session()
    .gateway({ ...forImages, ceilingMicrousd: 1_000_000_000 }).images(allowed).proof('screenshot')
  await set(world, '--budget-microusd', '1000000000', '--budget-requests', '100000',
    '--request-cost-bound-microusd', String(bound))
  const report: StatusReport = {
    refusals: 0, passes: 0, keptAway: 0, requests: 0, statuses: {}, wrong: [],
  }
  const here: Here = { world, clock, report, next: dice(seed) }
  for (let n = 0; n < rounds; n += 1) {
    // A day may pass: a proof of yesterday is none, and a session ends.
    must(await world.run(['login', '--json']))
    must(await world.prove('screenshot'))
    await tryOne(here)
  }
  must(await world.run(['login', '--json']))
  const held = must(await world.run(['ledger', 'show', '--json'])).json().ledger.unknown_microusd
  expect(here, held === report.requests * bound, `the ledger holds ${held}`)
  return report
}

/** What `npm run soak` does where no number is given. */
export const usual = 100

/** The long run. */
export const run = async (rounds: number): Promise<void> => {
  const undo: (() => unknown)[] = []
  try {
    const { wrong, statuses: seen, ...counts } =
      await tryStatuses({ teardown: (fn) => void undo.push(fn) }, rounds)
    process.stdout.write(`${JSON.stringify({ ...counts, statuses: seen })}\n`
      + `violations: ${wrong.length}\n`)
    if (wrong.length > 0) throw new Error(wrong.slice(0, 40).join('\n'))
  } finally {
    for (const one of undo.reverse()) await one()
  }
}
