/** Reading the audit: a bounded list, and one row with how the chain stands round it. */
import { digestOf } from '../base/canonical.js'
import { fail } from '../base/errors.js'
import { lookUp, walkIndex, type Found } from '../state/indexes.js'
import type { View } from '../state/types.js'
import { auditGenesis, auditHead } from './audit.js'
import {
  collections, auditByName, auditByNumber, auditByPrincipal, auditByTime, numberPart, type AuditRow,
} from './rows.js'

/** Which rows to list. */
export interface AuditFilter {
  readonly limit: number
  /** Id of a row: only those before it. */
  readonly after?: string | undefined
  /** ISO text; rows from then on. */
  readonly since?: string | undefined
  /** What happened, or the part of its name before a dot: `session` is every `session.…`. */
  readonly what?: string | undefined
  /** Name or id of the owner who did it. */
  readonly principal?: string | undefined
}

/** A row and the name of the owner who did it, null where it was nobody or is unknown. */
export interface NamedAuditRow {
  readonly row: AuditRow
  readonly principalName: string | null
}

const namesOf = (view: View): ReadonlyMap<string, string> =>
  new Map(view.all(collections.principals).map(({ doc }) => [doc.principal_id, doc.name]))

/** Rows that a lookup finds, as they are asked for. */
function* rowsOf(view: View, found: Iterable<Found>): Generator<AuditRow, void, undefined> {
  for (const { id } of found) {
    const row = view.get(collections.audit, id)
    if (row !== undefined) yield row
  }
}

/** A period with more rows than this is passed through by number, until enough are found. */
const periodRowsMax = 2_000

/** Rows of a period, newest number first; undefined where they are many. */
const rowsSince = (view: View, since: string): Iterable<AuditRow> | undefined => {
  const limit = periodRowsMax + 1
  const found = lookUp(view, collections.audit, auditByTime, { from: since, limit })
  if (found.length > periodRowsMax) return undefined
  return rowsOf(view, [...found].sort((a, b) => ((a.key[1] ?? '') < (b.key[1] ?? '') ? 1 : -1)))
}

/** Rows of one owner, who may be named, newest number first; undefined where it is several. */
const rowsBy = (
  view: View, principal: string, names: ReadonlyMap<string, string>, from: string | undefined,
): Iterable<AuditRow> | undefined => {
  const ids = [...names].filter(([id, name]) => id === principal || name === principal)
    .map(([id]) => id)
  if (ids.length > 1) return undefined
  const under = ids.length === 0 ? [principal] : ids
  return rowsOf(view, walkIndex(view, collections.audit, auditByPrincipal, {
    under, from, reverse: true,
  }))
}

/** Rows among which all that are asked for are, newest number first, as few as can be. */
const candidates = (
  view: View, { since, what, principal }: AuditFilter, names: ReadonlyMap<string, string>,
  from: string | undefined,
): Iterable<AuditRow> => {
  const recent = since === undefined ? undefined : rowsSince(view, since)
  if (recent !== undefined) return recent
  const own = principal === undefined ? undefined : rowsBy(view, principal, names, from)
  if (own !== undefined) return own
  return rowsOf(view, what === undefined
    ? walkIndex(view, collections.audit, auditByNumber, { from, reverse: true })
    : walkIndex(view, collections.audit, auditByName, { under: [what], from, reverse: true }))
}

const isOf = (what: string, row: AuditRow): boolean =>
  row.what === what || row.what.startsWith(`${what}.`)

/** A row by its id. Throws `not_found` `audit_not_found`. */
const requireAudit = (view: View, auditId: string): AuditRow => {
  const row = view.get(collections.audit, auditId)
  if (row === undefined || row.audit_id !== auditId) {
    throw fail.notFound('audit_not_found', 'There is no such audit row.', {
      next: 'Run `sallyport audit list`.',
    })
  }
  return row
}

/** Rows of every owner that fit, newest first, at most `limit`. */
export const findAudit = (view: View, filter: AuditFilter): readonly NamedAuditRow[] => {
  const { limit, since, what, principal, after } = filter
  const before = after === undefined ? Infinity : requireAudit(view, after).number
  const from = after === undefined ? undefined : numberPart(before)
  const names = namesOf(view)
  const nameOf = (row: AuditRow): string | null =>
    row.principal === null ? null : names.get(row.principal) ?? null
  const isWanted = (row: AuditRow): boolean =>
    row.number < before && (since === undefined || row.at >= since)
    && (what === undefined || isOf(what, row))
    && (principal === undefined || row.principal === principal || nameOf(row) === principal)
  const found: NamedAuditRow[] = []
  for (const row of candidates(view, filter, names, from)) {
    if (found.length >= limit) break
    if (isWanted(row)) found.push({ row, principalName: nameOf(row) })
  }
  return found
}

/** The row next to a number: the one before it, or the one after. */
const neighbour = (view: View, number: number, reverse: boolean): AuditRow | null => {
  const from = numberPart(reverse ? number : number + 1)
  const [row] = rowsOf(view, lookUp(view, collections.audit, auditByNumber, {
    from, reverse, limit: 1,
  }))
  return row ?? null
}

/** One row, its neighbours in the chain, and whether the three fit together. */
export interface AuditLink extends NamedAuditRow {
  /** SHA-256 of the row in canonical JSON: what the next row, or the head, has to name. */
  readonly digest: string
  readonly previous: AuditRow | null
  readonly next: AuditRow | null
  /** How many rows the head counts. */
  readonly rows: number
  /** Whether the row names the one before it (the first: none) and its number follows. */
  readonly followsPrevious: boolean
  /** Whether the row after it, or else the head, names this row as it is. */
  readonly namedByNext: boolean
}

/**
 * A row by its id, with its place in the chain. An altered, lost or added neighbour shows here; the
 * whole chain is what `state check` walks. Throws `not_found` `audit_not_found`.
 */
export const auditLink = (view: View, auditId: string): AuditLink => {
  const row = requireAudit(view, auditId)
  const previous = neighbour(view, row.number, true)
  const next = neighbour(view, row.number, false)
  const head = auditHead(view)
  const digest = digestOf(row)
  return {
    row,
    principalName: row.principal === null ? null : namesOf(view).get(row.principal) ?? null,
    digest,
    previous,
    next,
    rows: head.number,
    followsPrevious: row.number === (previous?.number ?? 0) + 1
      && row.previous_digest === (previous === null ? auditGenesis : digestOf(previous)),
    namedByNext: next === null
      ? head.number === row.number && head.digest === digest
      : next.number === row.number + 1 && next.previous_digest === digest,
  }
}
