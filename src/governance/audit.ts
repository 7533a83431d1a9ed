/**
 * The audit: append-only rows, each naming the digest of the row before, and one head document.
 * Removing, changing, reordering or adding a row outside `appendAudit` breaks the chain, because
 * the head names how many rows there are and the digest of the newest.
 */
import { digestOf } from '../base/canonical.js'
import { newId } from '../base/ids.js'
import { documents, each } from '../state/each.js'
import type { Tx, View } from '../state/types.js'
import type { Problem } from './context.js'
import { collections, type AuditRow } from './rows.js'

/** What the first row names as the row before it. */
export const auditGenesis = '0'.repeat(64)

const headId = 'the'
const factCharsMax = 512

/** One thing that happened; `facts` are content-safe: ids, names, numbers, revisions. */
interface AuditEntry {
  /** Dotted name, for example `session.login`. */
  readonly what: string
  readonly principal: string | null
  readonly root: string | null
  /** Id of what it happened to. */
  readonly subject: string | null
  readonly facts?: AuditRow['facts']
}

const requireShortFacts = (facts: AuditRow['facts']): void => {
  for (const value of Object.values(facts)) {
    // A long text is content that slipped in, and the audit is never sealed.
    if (typeof value === 'string' && value.length > factCharsMax) {
      throw new TypeError(`an audit fact is longer than ${factCharsMax} characters`)
    }
  }
}

/** Appends one row within the caller's transaction, so that it is durable with what it records. */
export const appendAudit = (tx: Tx, now: string, entry: AuditEntry): AuditRow => {
  const facts = entry.facts ?? {}
  requireShortFacts(facts)
  const head = auditHead(tx)
  const row: AuditRow = {
    audit_id: newId('aud'),
    number: head.number + 1,
    at: now,
    what: entry.what,
    principal: entry.principal,
    root: entry.root,
    subject: entry.subject,
    facts,
    previous_digest: head.digest,
  }
  tx.put(collections.audit, row.audit_id, row)
  tx.put(collections.auditHead, headId, { number: row.number, digest: digestOf(row) })
  return row
}

/** How many rows there are and the digest of the newest; the genesis where there is none. */
export const auditHead = (view: View): { readonly number: number; readonly digest: string } =>
  view.get(collections.auditHead, headId) ?? { number: 0, digest: auditGenesis }

/** Every audit row, oldest first (loads all of them). */
export const listAudit = (view: View): readonly AuditRow[] =>
  view
    .all(collections.audit)
    .map(({ doc }) => doc)
    .sort((a, b) => a.number - b.number)

/** What the row of a machine that was retired is called; its subject is the id. */
export const machineRetiredRow = 'machine.retired'
/** The same of one that has joined. */
export const machineJoinedRow = 'machine.joined'

/** Ids of machines that rows of such a name tell of (loads the whole audit). */
const machinesOf = (
  view: View, row: typeof machineRetiredRow | typeof machineJoinedRow,
): readonly string[] => {
  const ids: string[] = []
  for (const { what, subject } of documents(each(view, collections.audit))) {
    if (what === row && subject !== null) ids.push(subject)
  }
  return ids
}

/** Ids of machines of a shared state that were retired (loads the whole audit). */
export const retiredMachines = (view: View): readonly string[] =>
  machinesOf(view, machineRetiredRow)

/** Ids of those that have joined: all but the one that shared it, or made it so. */
export const joinedMachines = (view: View): readonly string[] => machinesOf(view, machineJoinedRow)

/** The rows by their numbers; they are held only where their ids do not tell the order. */
const byNumber = (view: View): Iterable<AuditRow> => {
  let number = 0
  for (const { doc } of each(view, collections.audit)) {
    if (doc.number <= number) return listAudit(view)
    number = doc.number
  }
  return documents(each(view, collections.audit))
}

/** Recomputes the whole chain; an empty list means that nothing was changed or lost. */
export const verifyAudit = (view: View): Problem[] => {
  const problems: Problem[] = []
  const found = (code: string, subject: string, text: string): void => {
    problems.push({ code, subject, text })
  }
  let digest = auditGenesis
  let number = 0
  for (const { id, doc } of each(view, collections.audit)) {
    if (id !== doc.audit_id) found('audit_id_mismatch', id, 'An audit row lies under another id.')
  }
  for (const row of byNumber(view)) {
    number += 1
    if (row.number !== number) {
      found('audit_number_gap', row.audit_id, `Audit row ${number} is missing or doubled.`)
      number = row.number
    }
    if (row.previous_digest !== digest) {
      found('audit_chain_broken', row.audit_id, 'An audit row does not continue the row before.')
    }
    digest = digestOf(row)
  }
  const head = auditHead(view)
  if (head.number !== number || head.digest !== digest) {
    found('audit_head_mismatch', headId, 'The audit head does not name the newest audit row.')
  }
  return problems
}
