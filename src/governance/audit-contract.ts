/** What goes in and comes out of reading the audit: ids, names and numbers, no content. */
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import { fail } from '../base/errors.js'
import { behindRow } from '../base/page.js'
import { closedObject, strictInteger, nullableText, sha256 } from '../base/schema.js'
import type { AuditLink, NamedAuditRow } from './audit-read.js'

/** One thing that happened. */
const auditShape = v.strictObject({
  id: v.string(),
  number: v.number(),
  at: v.string(),
  what: v.string(),
  /** Who did it, by id and by name; null where it was nobody's session. */
  principal: nullableText,
  principal_name: nullableText,
  root: nullableText,
  /** Id of what it happened to. */
  subject: nullableText,
  facts: v.record(v.string(), v.nullable(v.union([v.string(), v.number(), v.boolean()]))),
})
export type AuditDocument = v.InferOutput<typeof auditShape>

const auditDocument = ({ row, principalName }: NamedAuditRow): AuditDocument => ({
  id: row.audit_id,
  number: row.number,
  at: row.at,
  what: row.what,
  principal: row.principal,
  principal_name: principalName,
  root: row.root,
  subject: row.subject,
  facts: row.facts,
})

/** The newest rows of all owners. */
export const auditList = contract({
  name: 'audit.list',
  input: closedObject({
    limit: strictInteger(1, 10_000),
    since: v.optional(v.string()),
    what: v.optional(v.string()),
    principal: v.optional(v.string()),
    after: behindRow('aud'),
  }),
  output: v.array(auditShape),
  toDocument: (rows: readonly NamedAuditRow[]) => rows.map(auditDocument),
})

const linkShape = v.strictObject({
  audit: auditShape,
  chain: v.strictObject({
    digest: sha256,
    previous_digest: sha256,
    previous_id: nullableText,
    next_id: nullableText,
    /** How many rows the head counts. */
    rows: v.number(),
    follows_previous: v.boolean(),
    named_by_next: v.boolean(),
    /** Both: nothing was altered, lost or added at this place. */
    verifies: v.boolean(),
  }),
})
const verifies = ({ followsPrevious, namedByNext }: AuditLink): boolean =>
  followsPrevious && namedByNext

/** Reading one row. A chain that does not hold round it is a failure, and the row is shown. */
export const auditShow = contract({
  name: 'audit.show',
  input: closedObject({ audit: v.string() }),
  output: linkShape,
  toDocument: (link: AuditLink) => ({
    audit: auditDocument(link),
    chain: {
      digest: link.digest,
      previous_digest: link.row.previous_digest,
      previous_id: link.previous?.audit_id ?? null,
      next_id: link.next?.audit_id ?? null,
      rows: link.rows,
      follows_previous: link.followsPrevious,
      named_by_next: link.namedByNext,
      verifies: verifies(link),
    },
  }),
  failure: (link) => verifies(link) ? null : fail.damaged(
    'audit_chain_broken', 'The audit is broken at this row: rows were altered or lost.',
    { next: 'Run `sallyport state check`.', details: { number: link.row.number } },
  ),
})
