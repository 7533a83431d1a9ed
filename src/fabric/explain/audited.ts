/**
 * What the audit tells of one id. The audit has no index by subject: rows are looked at around the
 * moments that the rows of the id name, behind the moment in which it was made, and among the
 * newest of whoever asks, a bounded number of each.
 */
import { msOfUuid7 } from '../../base/ids.js'
import { isoFromMs } from '../../base/clock.js'
import type { ExplainedEvent, ExplainSite } from '../../governance/explained.js'
import { auditByPrincipal, auditByTime, collections, type AuditRow } from '../../governance/rows.js'
import { lookUp } from '../../state/indexes.js'

/** Rows of the audit at one moment, after the first one, and of the newest, at most. */
const most = { atOnce: 16, moments: 12, after: 64, newest: 64 } as const

/** What was found, oldest first. */
export interface Audited {
  readonly rows: readonly AuditRow[]
  /** Whether every row was looked at that can tell of the id. */
  readonly isWhole: boolean
}

const isAbout = (id: string) => ({ subject, facts }: AuditRow): boolean =>
  subject === id || Object.values(facts).includes(id)

/** When an id says that it was made, ISO; a clock that was set apart makes it no worse. */
const madeAt = (id: string): string | null => {
  const ms = msOfUuid7(id.slice(id.lastIndexOf('_') + 1))
  return ms === undefined ? null : isoFromMs(Math.max(0, ms - 1_000))
}

export const auditedOf = (
  { view, session }: ExplainSite, id: string, events: readonly ExplainedEvent[],
): Audited => {
  const spec = collections.audit
  const moments = [...new Set(events.map(({ at }) => at))].sort()
  const [first] = [madeAt(id), ...moments].filter((at) => at !== null).sort()
  const after = first === undefined ? [] : lookUp(view, spec, auditByTime, {
    from: first, limit: most.after,
  })
  const found = [
    ...after,
    ...moments.slice(-most.moments).flatMap((at) =>
      lookUp(view, spec, auditByTime, { under: [at], limit: most.atOnce })),
    ...lookUp(view, spec, auditByPrincipal, {
      under: [session.principal.principal_id], reverse: true, limit: most.newest,
    }),
  ]
  const ids = [...new Set(found.map((one) => one.id))].sort()
  const rows = view.getMany(spec, ids).filter((row) => row !== undefined).filter(isAbout(id))
  return {
    rows: [...rows].sort((a, b) => a.number - b.number),
    isWhole: first !== undefined && after.length < most.after,
  }
}
