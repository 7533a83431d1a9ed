/** What becomes of an operation's money in the record that closes it. */
import { fail, SallyportError } from '../base/errors.js'
import type { Binding } from '../governance/ledger/post.js'
import { moneyNext } from '../governance/ledger/due.js'
import { findReservation } from '../governance/ledger/find-reservation.js'
import { markUnknown, release, settle, type ChargeSources } from '../governance/ledger/steps.js'
import type { Tx } from '../state/types.js'
import type { MoneyEnd } from './order.js'

/** An operation's money: its binding, and what its charges may rest on. */
interface Money extends Binding { readonly sources: ChargeSources }

const step = (tx: Tx, now: string, money: Money, end: MoneyEnd): void => {
  switch (end.ledger) {
    case 'release':
      release(tx, now, { ...money, proof: 'no_request_byte_sent' })
      return
    case 'unknown':
      markUnknown(tx, now, { ...money, reason: end.reason })
      return
    case 'settle':
      settle(tx, now, { ...money, chargedMicrousd: end.chargedMicrousd, evidence: end.evidence })
  }
}

/** No status may say that nothing is owed where recovery took an unsent request for sent. */
const takenForSent = (tx: Tx, { operationId }: Money, cause: SallyportError): SallyportError =>
  fail.blocked(
    'taken_for_sent', 'Nothing was sent, but others took this run for dead: its bound stays held.',
    { reason: 'outcome_not_recorded', next: moneyNext(tx, operationId), cause },
  )

/**
 * Takes the money's step. Answers the refusal where the rows refuse it (they contradict the
 * reservation, or recovery took this process for dead): the liability stays where it is, which a
 * ledger step guarantees by checking everything before it writes anything. Null otherwise,
 * also where nothing was ever held.
 */
export const endMoney = (
  tx: Tx, now: string, money: Money, end: MoneyEnd,
): SallyportError | null => {
  if (findReservation(tx, money.operationId) === undefined) return null
  try {
    step(tx, now, money, end)
    return null
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    const state = findReservation(tx, money.operationId)?.state
    if (error.kind === 'conflict' && end.ledger === 'release') {
      // Recovery has given the hold of an unsent request back already.
      if (state === 'released') return null
      if (state === 'unknown') return takenForSent(tx, money, error)
    }
    if (error.kind === 'blocked' || error.kind === 'conflict') return error
    throw error
  }
}
