/**
 * Recomputes the whole ledger from its rows alone and compares: the chain, the account, every
 * reservation and the collection it lies in. Changes nothing.
 */
import { canonicalJson } from '../../base/canonical.js'
import { documents, each } from '../../state/each.js'
import { TextPairs } from '../../state/text-sums.js'
import type { View } from '../../state/types.js'
import type { Problem } from '../context.js'
import { collections, type LedgerAccount, type LedgerRow, type Reservation } from '../rows.js'
import { applyRow, isOpen } from './machine.js'

type Found = (code: string, subject: string, text: string) => void

interface Rebuilt {
  settled: number
  held: number
  unknown: number
  ceiling: number | null
}

/** Reservations as their rows make them, one row after the other. */
interface Reservations {
  get(id: string): Reservation | undefined
  set(id: string, reservation: Reservation): unknown
}

/** Rows from the first to the last by following `previous_row_id` back from the account. */
const chainOf = (
  rows: ReadonlyMap<string, LedgerRow>, account: LedgerAccount, found: Found,
): LedgerRow[] => {
  const chain: LedgerRow[] = []
  const seen = new Set<string>()
  for (let id = account.last_row_id; id !== null;) {
    const row = rows.get(id)
    if (!row || row.row_id !== id) {
      found('ledger_row_missing', id, 'A ledger row that the chain names is missing.')
      break
    }
    if (seen.has(id)) {
      found('ledger_chain_loop', id, 'A ledger row is in the chain twice.')
      break
    }
    seen.add(id)
    chain.push(row)
    id = row.previous_row_id
  }
  for (const id of rows.keys()) {
    if (!seen.has(id)) found('ledger_row_stray', id, 'A ledger row is outside the chain.')
  }
  return chain.reverse()
}

const applyCeiling = (built: Rebuilt, row: LedgerRow, found: Found): void => {
  const before = row.evidence?.['ceiling_before_microusd'] ?? null
  const shaped = row.operation_id === row.ledger_id && row.runtime === null && row.profile === null
  if (before !== built.ceiling || !shaped || row.amount_microusd < 1) {
    found('ledger_ceiling_broken', row.row_id, 'A ceiling row does not follow the one before.')
  }
  built.ceiling = row.amount_microusd
}

const passesCeiling = (built: Rebuilt, row: LedgerRow): boolean =>
  built.settled + built.held + built.unknown + row.amount_microusd > (built.ceiling ?? 0)

/**
 * How many rows there are, where each one in the order of the ids follows the one before, up to the
 * account's last; null where they do not.
 */
const rowsInOrder = (view: View, account: LedgerAccount): number | null => {
  let last: string | null = null
  let rows = 0
  for (const { id, doc } of each(view, collections.ledgerRows)) {
    if (doc.row_id !== id || doc.previous_row_id !== last) return null
    last = id
    rows += 1
  }
  return last === account.last_row_id ? rows : null
}

const replay = (
  chain: Iterable<LedgerRow>, account: LedgerAccount, reservations: Reservations, found: Found,
): Rebuilt => {
  const built: Rebuilt = { settled: 0, held: 0, unknown: 0, ceiling: null }
  for (const row of chain) {
    if (row.ledger_id !== account.ledger_id) {
      found('ledger_row_foreign', row.row_id, 'A ledger row names another ledger.')
    }
    if (row.kind === 'ceiling') {
      applyCeiling(built, row, found)
      continue
    }
    if (built.ceiling === null) {
      found('ledger_ceiling_missing', row.row_id, 'A ledger row comes before any ceiling.')
    }
    const restored = row.evidence?.['restored'] === true
    if (row.kind === 'reserve' && passesCeiling(built, row) && !restored) {
      found('ledger_ceiling_passed', row.row_id, 'A hold was taken past the ceiling of its time.')
    }
    const step = applyRow(reservations.get(row.operation_id), row)
    if (typeof step === 'string') {
      found('ledger_row_illegal', row.row_id, `A ${row.kind} row cannot follow: ${step}.`)
      continue
    }
    reservations.set(row.operation_id, step.reservation)
    built.settled += step.delta.settled
    built.held += step.delta.held
    built.unknown += step.delta.unknown
  }
  return built
}

const compareAccount = (
  account: LedgerAccount, built: Rebuilt, rows: number, found: Found,
): void => {
  const pairs: readonly [string, number | null, number | null][] = [
    ['ceiling_microusd', account.ceiling_microusd, built.ceiling],
    ['settled_microusd', account.settled_microusd, built.settled],
    ['held_microusd', account.held_microusd, built.held],
    ['unknown_microusd', account.unknown_microusd, built.unknown],
    ['rows', account.rows, rows],
  ]
  for (const [name, stored, computed] of pairs) {
    if (stored !== computed) {
      found(
        'ledger_account_differs', account.ledger_id,
        `The account's ${name} is ${stored}; its rows give ${computed}.`,
      )
    }
  }
}

const compareReservations = (
  view: View, built: ReadonlyMap<string, Reservation>, found: Found,
): void => {
  const seen = new Set<string>()
  for (const spec of [collections.openReservations, collections.closedReservations]) {
    for (const { id, doc } of each(view, spec)) {
      const computed = built.get(id)
      if (seen.has(id)) found('reservation_doubled', id, 'A reservation is both open and closed.')
      seen.add(id)
      if (!computed) found('reservation_without_rows', id, 'A reservation has no rows.')
      else if (canonicalJson(computed) !== canonicalJson(doc)) {
        found('reservation_differs', id, 'A reservation differs from its rows.')
      } else if ((spec === collections.openReservations) !== isOpen(doc)) {
        found('reservation_misplaced', id, 'A reservation lies in the wrong collection.')
      }
    }
  }
  for (const id of built.keys()) {
    if (!seen.has(id)) found('reservation_missing', id, 'Ledger rows have no reservation.')
  }
}

/** The chain and its length; rows are held only where their ids do not tell the order. */
const rowsOf = (view: View, account: LedgerAccount, found: Found): {
  readonly rows: number; readonly chain: Iterable<LedgerRow>
} => {
  const rows = rowsInOrder(view, account)
  if (rows !== null) return { rows, chain: documents(each(view, collections.ledgerRows)) }
  const all = new Map(view.all(collections.ledgerRows).map(({ id, doc }) => [id, doc]))
  return { rows: all.size, chain: chainOf(all, account, found) }
}

/**
 * Reservations of which only those that are open are held: most are over, and nothing comes after
 * that. Where something does, or where two operations are taken for one, `isExact` says so.
 */
class OpenReservations implements Reservations {
  readonly #open = new Map<string, Reservation>()
  readonly #closed = new TextPairs()
  isExact = true

  get(id: string): Reservation | undefined {
    const found = this.#open.get(id)
    if (found === undefined && this.#closed.has(id)) this.isExact = false
    return found
  }

  set(id: string, reservation: Reservation): void {
    if (isOpen(reservation)) this.#open.set(id, reservation)
    else {
      this.#open.delete(id)
      if (!this.#closed.add(id, canonicalJson(reservation))) this.isExact = false
    }
  }

  /** Whether a state has the very same, each in its collection. */
  equal(view: View): boolean {
    let [open, closed] = [0, 0]
    for (const { id, doc } of each(view, collections.openReservations)) {
      const mine = this.#open.get(id)
      if (mine === undefined || canonicalJson(mine) !== canonicalJson(doc)) return false
      open += 1
    }
    for (const { id, doc } of each(view, collections.closedReservations)) {
      if (!this.#closed.holds(id, canonicalJson(doc))) return false
      closed += 1
    }
    return open === this.#open.size && closed === this.#closed.size
  }
}

/**
 * Whether a ledger is right, told without holding all of it. Where it is not, what is wrong with it
 * takes holding it.
 */
const isRight = (view: View, account: LedgerAccount): boolean => {
  const rows = rowsInOrder(view, account)
  if (rows === null) return false
  let right = true
  const found: Found = () => {
    right = false
  }
  const reservations = new OpenReservations()
  const chain = documents(each(view, collections.ledgerRows))
  compareAccount(account, replay(chain, account, reservations, found), rows, found)
  return right && reservations.isExact && reservations.equal(view)
}

/** Every way in which the stored ledger differs from its rows; [] is sound. */
export const verifyLedger = (view: View): Problem[] => {
  const problems: Problem[] = []
  const found: Found = (code, subject, text) => {
    problems.push({ code, subject, text })
  }
  const accounts = view.all(collections.ledgerAccounts)
  const only = accounts[0]
  if (only === undefined) {
    for (const { id } of each(view, collections.ledgerRows)) {
      found('ledger_row_stray', id, 'A ledger row has no account.')
    }
    compareReservations(view, new Map(), found)
    return problems
  }
  for (const { id, doc } of accounts) {
    if (id !== doc.ledger_id) found('ledger_id_differs', id, 'A ledger lies under another id.')
  }
  if (accounts.length > 1) {
    found('ledger_not_unique', only.id, `There are ${accounts.length} ledgers instead of one.`)
  }
  if (only.doc.ceiling_microusd < 1) {
    found('ceiling_not_positive', only.id, 'The ledger ceiling is not positive.')
  }
  if (isRight(view, only.doc)) return problems
  const { rows, chain } = rowsOf(view, only.doc, found)
  const reservations = new Map<string, Reservation>()
  compareAccount(only.doc, replay(chain, only.doc, reservations, found), rows, found)
  compareReservations(view, reservations, found)
  return problems
}
