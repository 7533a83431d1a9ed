/**
 * Revokes on one machine against asks of another one, over one server. `left after the answer` is
 * what must not be: bytes that went to the kernel of the asking machine once the other machine's
 * revoke had answered.
 */
import { collections } from '../../../src/governance/rows.js'
import { stopTimes } from '../../../src/governance/stops/act.js'
import { chanceOf } from '../chance.js'
import { must } from '../must.js'
import { patienceMs } from '../speed.js'
import { until } from '../until.js'
import { holdWrites } from '../net/held-writes.js'
import { firstMachine, nextMachine } from '../place/machines.js'
import { startPostgres } from '../place/postgres.js'
import { roomy, setupFlags } from '../../world/alpha.js'
import type { Teardown } from '../../world/place.js'
import type { AlphaWorld, Placed } from '../../world/world.js'
import type { RevokeReport } from './revokes.js'

/** Longest time for which a write is held, and a reply waited with, ms. */
const heldMsMax = 120

const chance = chanceOf('shared revokes')

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface Machines {
  readonly one: AlphaWorld
  readonly two: Placed
}

const round = async ({ one, two }: Machines): Promise<Omit<RevokeReport, 'rounds'>> => {
  let undo = (): void => undefined
  const writes = holdWrites({ teardown: (done) => { undo = done } })
  const before = one.inferences().length
  one.sandbox.faults.set('delay', { times: 1, value: heldMsMax })
  const asking = one.ask()
  // A few come before the write, the others while it is held or the reply is waited for.
  if (chance.next() < 0.8) await until('the request waits', () => writes.begun() > 0)
  const going = pause(chance.next() * heldMsMax).then(() => writes.go())
  await pause(chance.next() * heldMsMax * 1.5)
  const revoked = await two.run(['policy', 'revoke', '--json'])
  const answeredMs = performance.now()
  const asked = await asking
  await going
  undo()
  const sent = one.inferences().length - before
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

/** A person would have looked the charges up. */
const settleAll = async ({ one }: Machines): Promise<void> => {
  for (const { doc } of one.view().all(collections.openReservations)) {
    if (doc.state !== 'unknown') continue
    must(await one.run([
      'ledger', 'settle', doc.operation_id, '--amount-microusd', '0', '--yes',
    ]))
  }
}

/** Rounds of one ask on a machine and one revoke on another one; granted anew after each. */
export const soakSharedRevokes = async (t: Teardown, rounds: number): Promise<RevokeReport> => {
  // Whoever is asked answers; a busy machine takes longer than the shipped time for it.
  const { fenceWaitMs } = stopTimes
  stopTimes.fenceWaitMs = patienceMs()
  t.teardown(() => { stopTimes.fenceWaitMs = fenceWaitMs })
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  must(await one.run(setupFlags(one.place, await one.revision(), roomy)))
  const machines = { one, two: await nextMachine(t, one) }
  const sum = { rounds, leftAfter: 0, unnamed: 0, kept: 0, sent: 0, broken: [] as string[] }
  for (let number = 0; number < rounds; number += 1) {
    const seen = await round(machines)
    sum.leftAfter += seen.leftAfter
    sum.unnamed += seen.unnamed
    sum.kept += seen.kept
    sum.sent += seen.sent
    sum.broken.push(...seen.broken)
    // What is only read is as old as the last look of its machine.
    await one.gov.store.fresh()
    must(await one.run(setupFlags(one.place, await one.revision(), roomy)))
    await settleAll(machines)
  }
  return sum
}

/** `npm run soak`: prints what was seen and fails at a violation. */
export const run = async (rounds: number): Promise<void> => {
  const ends: (() => Promise<void> | void)[] = []
  const t: Teardown = { teardown: (done) => void ends.push(done) }
  try {
    const seen = await soakSharedRevokes(t, rounds)
    process.stdout.write(`shared revokes: ${JSON.stringify(seen)}\n`)
    if (seen.leftAfter + seen.unnamed + seen.broken.length > 0) process.exitCode = 1
  } finally {
    for (const done of ends.reverse()) await done()
  }
}
