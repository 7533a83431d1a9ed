/** Reading the audit: a bounded list, and one row with how the chain stands round it. */
import { digestOf } from '../base/canonical.js'
import { fail } from '../base/errors.js'
import type { View } from '../state/types.js'
import { auditGenesis, auditHead, listAudit } from './audit.js'
import { collections, type AuditRow } from './rows.js'

/** Which rows to list. */
export interface AuditFilter {
  readonly limit: number
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

const isOf = (what: string, row: AuditRow): boolean =>
  row.what === what || row.what.startsWith(`${what}.`)

/** Rows of every owner that fit, newest first, at most `limit`. Loads all of the audit. */
export const findAudit = (view: View, filter: AuditFilter): readonly NamedAuditRow[] => {
  const { limit, since, what, principal } = filter
  const names = namesOf(view)
  const nameOf = (row: AuditRow): string | null =>
    row.principal === null ? null : names.get(row.principal) ?? null
  return [...listAudit(view)]
    .reverse()
    .filter((row) => since === undefined || row.at >= since)
    .filter((row) => what === undefined || isOf(what, row))
    .filter((row) =>
      principal === undefined || row.principal === principal || nameOf(row) === principal)
    .slice(0, limit)
    .map((row) => ({ row, principalName: nameOf(row) }))
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
  const row = view.get(collections.audit, auditId)
  if (row === undefined || row.audit_id !== auditId) {
    throw fail.notFound('audit_not_found', 'There is no such audit row.', {
      next: 'Run `sallyport audit list`.',
    })
  }
  const all = listAudit(view)
  const at = all.findIndex((one) => one.audit_id === auditId)
  const [previous = null, next = null] = [all[at - 1], all[at + 1]]
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
