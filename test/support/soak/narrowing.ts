/**
 * Commands that close something against the phases of an upload: before the first byte, between its
 * pieces, while the host has it whole. Each command in turn; `left after the answer` is what must
 * not be, nor a second request, nor a text that was used although its switch is off.
 */
import { findReservation } from '../../../src/governance/ledger/find-reservation.js'
import { verifyLedger } from '../../../src/governance/ledger/verify-ledger.js'
import { roomy, setupFlags } from '../../world/alpha.js'
import type { Teardown } from '../../world/place.js'
import { World, type AlphaWorld, type AnalysisWorld } from '../../world/world.js'
import { newestTask } from '../board.js'
import { chanceOf } from '../chance.js'
import { movedClock } from '../clock.js'
import { connectionOf, type Signed } from '../codehost/working.js'
import { must } from '../must.js'
import {
  analysisMark, askNarrowings, chargeOf, closeWhileLeaving, creationNarrowings, imageNarrowings,
  leavingPicture, prepareNarrowing, routeNarrowings, settleUnknown, type AskNarrowing, type Closed,
  type Narrowing,
} from '../narrowing.js'
import { holdWrites } from '../net/held-writes.js'
import { rowOf, sent, set } from '../shots.js'
import { until } from '../until.js'

const chance = chanceOf('narrowing')

/** Where an upload is when the command comes. */
const phases = ['first byte waits', 'pieces leave', 'host has it'] as const

/** What the rounds of one command saw. */
export interface NarrowingReport {
  readonly command: string
  readonly rounds: number
  /** Rounds by the phase that the command met. */
  readonly phases: Record<(typeof phases)[number], number>
  /** Rounds by what became of the money. */
  readonly charges: Record<string, number>
  /** Bytes that were handed to the system after the command had answered. */
  leftAfter: number
  /** Requests of which something had left and that the answer did not name. */
  unnamed: number
  /** Pictures that were sent once more by themselves. */
  again: number
  /** Texts that were used although what they rest on was closed, or dropped although it was not. */
  wrong: number
  readonly broken: string[]
}

const emptyReport = (command: string, rounds: number): NarrowingReport => ({
  command, rounds, charges: {}, leftAfter: 0, unnamed: 0, again: 0, wrong: 0, broken: [],
  phases: { 'first byte waits': 0, 'pieces leave': 0, 'host has it': 0 },
})

/** What the host does with a request about a picture: it waits for `until`. */
interface Host {
  arrived: boolean
  answers: boolean
}

const worldOf = async (t: Teardown, host: Host): Promise<AnalysisWorld> => {
  const world = await leavingPicture(t, { hooks: {
    onRequest: async (_service, { body }) => {
      if (!body.includes(analysisMark)) return
      host.arrived = true
      await until('the command has answered', () => host.answers)
    },
  } })
  await set(world, '--budget-requests', '100000', '--budget-microusd', '1000000000')
  return world
}

const closeIn = (
  world: AnalysisWorld, narrowing: Narrowing, host: Host, phase: (typeof phases)[number],
): Promise<Closed> => {
  Object.assign(host, { arrived: false, answers: phase !== 'host has it' })
  const pieces = 1 + chance.below(4)
  return closeWhileLeaving(world, narrowing, {
    opened: (left) => phase === 'host has it'
      || (phase === 'pieces leave' && (left < pieces || chance.next() < 0.1)),
    begun: (writes) => until(`a picture leaves: ${phase}`, () => (phase === 'host has it'
      ? host.arrived : writes.begun() > (phase === 'pieces leave' ? pieces : 0))),
    answered: () => { host.answers = true },
  })
}

const judgeRound = (
  world: AnalysisWorld, { keeps }: Narrowing, phase: string,
  { name, closed, leftAfter, leftBefore }: Closed, report: NarrowingReport,
): void => {
  if (closed.status !== 0) {
    report.broken.push(`${phase}: status ${closed.status}: ${closed.stderr}`)
    return
  }
  const row = rowOf(world, name)
  const { operation_id: operation } = row.analyzer
  const isNamed = closed.json().requests
    .some((one: { operation_id: string }) => one.operation_id === operation)
  const charge = chargeOf(world, name) ?? 'none'
  report.charges[charge] = (report.charges[charge] ?? 0) + 1
  report.leftAfter += leftAfter
  // One that had ended before the command came is no request that it stopped.
  if (leftBefore > 0 && !isNamed && row.payload === null) report.unnamed += 1
  if (phase === 'host has it' && (row.payload !== null) !== (keeps === true)) report.wrong += 1
  const isUncertain = row.analysis_status === 'failed' && row.analyzer.contact === 'uncertain'
  if (charge === 'unknown' && !isUncertain) report.wrong += 1
  const problems = verifyLedger(world.view())
  if (problems.length > 0) report.broken.push(`${phase}: ${JSON.stringify(problems)}`)
}

const soakCommand = async (
  t: Teardown, command: string, narrowing: Narrowing, rounds: number,
): Promise<NarrowingReport> => {
  const host: Host = { arrived: false, answers: true }
  const world = await worldOf(t, host)
  await prepareNarrowing(world, narrowing)
  const report = emptyReport(command, rounds)
  for (let round = 0; round < rounds; round += 1) {
    const phase = phases[round % phases.length] ?? phases[0]
    report.phases[phase] += 1
    const seen = await closeIn(world, narrowing, host, phase)
    judgeRound(world, narrowing, phase, seen, report)
    await narrowing.open(world)
    const before = sent(world)
    await world.run(['shots', 'analyze', '--json'])
    report.again += sent(world) - before
    await settleUnknown(world, seen.name)
  }
  const checked = await world.run(['state', 'check', '--json'])
  if (checked.status !== 0) report.broken.push(`state check: ${checked.stdout}`)
  return report
}

const askRound = async (
  rig: AlphaWorld, { close, keeps }: AskNarrowing, host: Host, phase: (typeof phases)[number],
  report: NarrowingReport,
): Promise<void> => {
  const isAtHost = phase === 'host has it'
  Object.assign(host, { arrived: false, answers: !isAtHost })
  const before = rig.inferences().length
  let undo = (): void => undefined
  const writes = holdWrites({ teardown: (done) => { undo = done } }, () => isAtHost)
  const asking = rig.ask()
  await until('a question leaves', () => (isAtHost ? host.arrived : writes.begun() > 0))
  const closed = await rig.run([...await close(rig)])
  const answeredMs = performance.now()
  host.answers = true
  writes.go()
  const asked = await asking
  undo()
  if (closed.status !== 0) report.broken.push(`${phase}: ${closed.status}: ${closed.stderr}`)
  const { operation_id: operation } = newestTask(rig)
  const charge = findReservation(rig.view(), operation)?.state ?? 'none'
  report.charges[charge] = (report.charges[charge] ?? 0) + 1
  // The first connection is the question's; those after it read a bill that is owed.
  report.leftAfter += writes.left
    .filter(({ atMs, connection }) => connection === 1 && atMs > answeredMs).length
  if (closed.json().requests?.length !== 1) report.unnamed += 1
  report.again += rig.inferences().length - before - (isAtHost ? 1 : 0)
  if ((asked.status === 0) !== (isAtHost && keeps === true)) report.wrong += 1
  if (charge === 'unknown') {
    must(await rig.run(['ledger', 'settle', operation, '--amount-microusd', '0', '--yes']))
  }
  must(await rig.run(setupFlags(rig.place, await rig.revision(), roomy)))
}

/** The same for one question and a save of its route. */
export const soakQuestion = async (
  t: Teardown, rounds: number, command: string,
): Promise<NarrowingReport> => {
  const narrowing = askNarrowings[command]
  if (narrowing === undefined) throw new Error(`there is no ${command}`)
  const host: Host = { arrived: false, answers: true }
  const rig = await World.in(t).sandbox({ hooks: {
    onRequest: async (_service, { route }) => {
      if (route !== 'completion') return
      host.arrived = true
      await until('the command has answered', () => host.answers)
    },
  } }).state().session().alpha({ money: roomy })
  const report = emptyReport(command, rounds)
  for (let round = 0; round < rounds; round += 1) {
    const phase = round % 2 === 0 ? 'first byte waits' : 'host has it'
    report.phases[phase] += 1
    await askRound(rig, narrowing, host, phase, report)
  }
  return report
}

const creationRound = async (
  world: Signed, command: string, host: Host, phase: (typeof phases)[number],
  report: NarrowingReport,
): Promise<void> => {
  // What is not proved keeps its connection: each round has one of its own.
  const at = await connectionOf(world)
  const job = await at.approved()
  const isAtHost = phase === 'host has it'
  Object.assign(host, { arrived: false, answers: !isAtHost })
  let isOpen = true
  let undo = (): void => undefined
  const writes = holdWrites({ teardown: (done) => { undo = done } }, () => isOpen)
  const running = at.runJob(job, {
    at: (step) => { isOpen &&= isAtHost || step !== 'codehost.before_first_byte' },
  })
  await until('a creation leaves', () => (isAtHost
    ? host.arrived : !isOpen && writes.begun() > writes.left.length))
  const closed = await at.run([...creationNarrowings[command]?.(at, job) ?? []])
  const left = writes.left.length
  host.answers = true
  writes.go()
  const ran = await running
  undo()
  if (closed.status !== 0) report.broken.push(`${phase}: ${closed.status}: ${closed.stderr}`)
  const { state, created } = at.job(job)
  report.charges[state] = (report.charges[state] ?? 0) + 1
  report.leftAfter += isAtHost ? 0 : writes.left.length - left
  if (closed.json().requests?.length !== 1) report.unnamed += 1
  report.again += at.posts().length - (isAtHost ? 1 : 0)
  if (ran.status === 0 || state === 'succeeded' || created !== (isAtHost ? 1 : 0)) report.wrong += 1
}

/** The same for one creation on a code host and what takes it back; `charges` are of jobs. */
export const soakCreation = async (
  t: Teardown, rounds: number, command: string,
): Promise<NarrowingReport> => {
  const host: Host = { arrived: false, answers: true }
  const world = await World.in(t, { clock: movedClock() }).sandbox({ hooks: {
    onRequest: async (_service, { method }) => {
      if (method !== 'POST') return
      host.arrived = true
      await until('the command has answered', () => host.answers)
    },
  } }).state().session()
  const report = emptyReport(command, rounds)
  for (let round = 0; round < rounds; round += 1) {
    const phase = round % 2 === 0 ? 'first byte waits' : 'host has it'
    report.phases[phase] += 1
    await creationRound(world, command, host, phase, report)
  }
  return report
}

/** The commands there are, each with so many rounds; `only` names some of them. */
export const soakNarrowing = async (
  t: Teardown, rounds: number, only?: readonly string[],
): Promise<readonly NarrowingReport[]> => {
  const reports: NarrowingReport[] = []
  for (const [command, narrowing] of Object.entries({ ...imageNarrowings, ...routeNarrowings })) {
    if (only !== undefined && !only.includes(command)) continue
    reports.push(await soakCommand(t, command, narrowing, rounds))
  }
  return reports
}

/** How many of what a report saw must not be. */
export const violationsOf = (
  { leftAfter, unnamed, again, wrong, broken }: NarrowingReport,
): number => leftAfter + unnamed + again + wrong + broken.length

/** Rounds of each command where none are given: `npm run soak` stays within minutes. */
export const usual = 50

/** `npm run soak`: prints what was seen and fails at a violation. */
export const run = async (rounds: number): Promise<void> => {
  const ends: (() => Promise<void> | void)[] = []
  const t: Teardown = { teardown: (done) => void ends.push(done) }
  try {
    const questions = Object.keys(askNarrowings).map((one) => () => soakQuestion(t, rounds, one))
    const creations = Object.keys(creationNarrowings).map((one) =>
      () => soakCreation(t, rounds, one))
    const pictures = Object.keys({ ...imageNarrowings, ...routeNarrowings })
      .map((one) => async () => (await soakNarrowing(t, rounds, [one]))[0])
    for (const soak of [...questions, ...creations, ...pictures]) {
      const report = await soak()
      if (report === undefined) continue
      process.stdout.write(`narrowing: ${JSON.stringify(report)}\n`)
      if (violationsOf(report) > 0) process.exitCode = 1
    }
  } finally {
    for (const done of ends.reverse()) await done()
  }
}
