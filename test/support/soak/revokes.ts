/**
 * Revokes against asks whose write is held back for a while, and saves that are killed at each of
 * their steps while a stop may be waiting. `left after the answer` is what must not be.
 */
import { collections } from '../../../src/governance/rows.js'
import { chanceOf } from '../chance.js'
import { must } from '../must.js'
import { until } from '../until.js'
import { holdWrites } from '../net/held-writes.js'
import { roomy, setupFlags } from '../../world/alpha.js'
import type { Teardown } from '../../world/place.js'
import { World, type AlphaWorld } from '../../world/world.js'

/** What a loop of revokes saw. */
export interface RevokeReport {
  readonly rounds: number
  /** Writes that went to the kernel after the revoke had answered. */
  readonly leftAfter: number
  /** Requests that had left before the answer and that it did not name. */
  readonly unnamed: number
  /** Requests that were cut off, or refused before their first byte. */
  readonly kept: number
  /** Requests that had wholly left before. */
  readonly sent: number
  readonly broken: readonly string[]
}

/** Longest time for which a write is held, milliseconds; the revoke begins somewhere in it. */
const heldMsMax = 60

const chance = chanceOf('revokes')

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const grant = async (rig: AlphaWorld): Promise<void> => {
  must(await rig.run(setupFlags(rig.place, await rig.revision(), roomy)))
}

const revokeRound = async (rig: AlphaWorld): Promise<Omit<RevokeReport, 'rounds'>> => {
  let undo = (): void => undefined
  const writes = holdWrites({ teardown: (done) => { undo = done } })
  const before = rig.inferences().length
  const asking = rig.ask()
  // A few come before the write, the others while it is held, in either order.
  if (chance.next() < 0.8) await until('the request waits', () => writes.begun() > 0)
  const going = pause(chance.next() * heldMsMax).then(() => writes.go())
  await pause(chance.next() * heldMsMax)
  const revoked = await rig.run(['policy', 'revoke', '--json'])
  const answeredMs = performance.now()
  const asked = await asking
  await going
  undo()
  const sent = rig.inferences().length - before
  // The first connection is the question's; those after it read a bill that is owed.
  const ofQuestion = writes.left.filter(({ connection }) => connection === 1)
  const isNamed = revoked.json().requests.length > 0
  return {
    leftAfter: ofQuestion.filter(({ atMs }) => atMs > answeredMs).length,
    unnamed: sent > 0 && asked.status !== 0 && !isNamed ? 1 : 0,
    kept: sent === 0 ? 1 : 0, sent,
    broken: revoked.status === 0 ? [] : [`status ${revoked.status}: ${revoked.stderr}`],
  }
}

/** Rounds of one ask and one revoke, in one deployment that is granted anew after each. */
export const soakRevokes = async (t: Teardown, rounds: number): Promise<RevokeReport> => {
  const rig = await World.in(t).sandbox().state().session().alpha({ money: roomy })
  const sum = { rounds, leftAfter: 0, unnamed: 0, kept: 0, sent: 0, broken: [] as string[] }
  for (let round = 0; round < rounds; round += 1) {
    const one = await revokeRound(rig)
    sum.leftAfter += one.leftAfter
    sum.unnamed += one.unnamed
    sum.kept += one.kept
    sum.sent += one.sent
    sum.broken.push(...one.broken)
    for (const { doc } of rig.view().all(collections.openReservations)) {
      if (doc.state === 'unknown') await settle(rig, doc.operation_id)
    }
    await grant(rig)
  }
  return sum
}

/** A deployment holds a bounded number of unknown charges; a person would have looked them up. */
const settle = async (rig: AlphaWorld, operation: string): Promise<void> => {
  must(await rig.run([
    'ledger', 'settle', operation, '--amount-microusd', '0', '--yes',
  ]))
}

/** What saves that were killed left. */
export interface SaveReport {
  readonly rounds: number
  readonly killed: number
  /** States in which a route could be used although a stop or a half save lay there. */
  readonly open: number
  readonly broken: readonly string[]
}

const saveSteps = ['save.revoked', 'save.credential', 'save.accounting', 'save.published'] as const

/** Saves that are killed at each step in turn, every other one with a stop that waits. */
export const soakSaves = async (t: Teardown, rounds: number): Promise<SaveReport> => {
  const rig = await World.in(t).sandbox().state().session().alpha({ money: roomy })
  const broken: string[] = []
  let killed = 0
  let open = 0
  for (let round = 0; round < rounds; round += 1) {
    const step = saveSteps[round % saveSteps.length] ?? 'save.revoked'
    const bound = String(40_000 + round)
    const ran = await rig.place.spawn(
      [...setupFlags(rig.place, await rig.revision(), roomy),
        '--request-cost-bound-microusd', bound],
      { entry: 'test', coverage: false, env: { TEST_STOP_AT: step } },
    )
    if (ran.status === 137) killed += 1
    else broken.push(`${step}: status ${ran.status}: ${ran.stderr}`)
    const isStopped = Math.floor(round / saveSteps.length) % 2 === 1
    if (isStopped) must(await rig.run(['policy', 'revoke']))
    const { block } = await rig.json(['policy', 'show'])
    if (block === null && (isStopped || step !== 'save.published')) open += 1
    const checked = await rig.run(['state', 'check', '--json'])
    if (checked.status !== 0) broken.push(`${step}: state check: ${checked.stdout}`)
    must(await rig.run(['goal', 'add', `round ${round}`]))
    await grant(rig)
  }
  return { rounds, killed, open, broken }
}

/** `npm run soak`: prints what was seen and fails at a violation. */
export const run = async (rounds: number): Promise<void> => {
  const ends: (() => Promise<void> | void)[] = []
  const t: Teardown = { teardown: (done) => void ends.push(done) }
  try {
    const revokes = await soakRevokes(t, rounds)
    process.stdout.write(`revokes: ${JSON.stringify(revokes)}\n`)
    const saves = await soakSaves(t, Math.ceil(rounds / 5))
    process.stdout.write(`killed saves: ${JSON.stringify(saves)}\n`)
    const bad = revokes.leftAfter + revokes.unnamed + saves.open
      + revokes.broken.length + saves.broken.length
    if (bad > 0) process.exitCode = 1
  } finally {
    for (const done of ends.reverse()) await done()
  }
}
