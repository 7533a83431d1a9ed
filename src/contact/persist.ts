/** Writing down what came of a contact, in a state directory that may not take it. */
import { SallyportError } from '../base/errors.js'
import { lockWaits } from '../state/lock.js'
import type { Tx } from '../state/types.js'
import { nowIso, type Gov } from '../governance/context.js'

/** Pause between two tries, milliseconds. */
const lockPauseMs = 50

/** Nothing came to be, and it may when it is tried again. */
const again = [...lockWaits, 'place_unreachable', 'place_restless']

const isMissed = (error: unknown): boolean =>
  error instanceof SallyportError && again.includes(error.code)

/**
 * Writes what must not be lost once somebody was contacted. Another process that holds the state
 * lock past `--wait` costs neither a result nor the knowledge of its charge, nor does a stop while
 * it is waited for, nor a server of a shared state that is away for a moment: the transaction,
 * which left nothing, is tried again while `leftMs` says that time is left. Any other error goes on
 * up.
 */
export const persist = async <T>(
  gov: Gov, verb: string, leftMs: () => number, fn: (tx: Tx, now: string) => T,
): Promise<T> => {
  const { store, clock } = gov
  for (;;) {
    try {
      return await store.transact(verb, (tx) => fn(tx, nowIso(gov)))
    } catch (error) {
      if (!isMissed(error) || leftMs() <= 0) throw error
      await clock.sleep(Math.min(lockPauseMs, leftMs()))
    }
  }
}

/**
 * The error of a contact whose end could not be recorded. No status may say that nothing was sent
 * or that trying again is free: what was only locked or refused is `blocked`, because the charge is
 * now for a person to settle. Recovery makes it unknown.
 */
export const unrecorded = (
  error: SallyportError, operationId: string, details: SallyportError['details'] = {},
  isPaid = true,
): SallyportError =>
  new SallyportError({
    kind: error.kind === 'damaged' || error.kind === 'failed' ? error.kind : 'blocked',
    code: error.code,
    message: 'The request was sent, but how it ended could not be recorded. '
      + (isPaid ? 'Its full bound stays held.' : 'What it did is not known.'),
    reason: 'outcome_not_recorded',
    next: isPaid
      ? 'The next command that changes something makes its charge unknown; then see: '
        + '`sallyport ledger reservations`.'
      : 'The next command that changes something says that it is unknown.',
    details: { ...error.details, ...details, operation_id: operationId },
    cause: error,
  })

/**
 * The error of an operation that sent nothing and whose end could not be recorded: what stopped it,
 * with the ids by which a person finds what is left for recovery.
 */
export const unended = (
  error: SallyportError, operationId: string, ids: SallyportError['details'],
): SallyportError => {
  // Damage is not ended by a command; its own error says what to do.
  const ends = error.kind === 'damaged'
    ? null : 'Nothing was sent. The next command that changes something ends it.'
  const next = error.next ?? ends
  return new SallyportError({
    kind: error.kind, code: error.code, message: error.message,
    ...(error.reason === null ? {} : { reason: error.reason }),
    ...(next === null ? {} : { next }),
    details: { ...error.details, ...ids, operation_id: operationId },
    cause: error,
  })
}
