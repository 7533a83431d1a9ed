/** Every rejection by the permanent fence leaves one row in the audit (C-180). */
import { appendAudit } from '../../governance/audit.js'
import { nowIso, type Gov } from '../../governance/context.js'
import type { Session } from '../../governance/session/types.js'
import { fenceRejection } from './fence.js'

/** Who asked. */
type Asker = Pick<Session, 'principal' | 'root'>

/** Writes the row of a rejection; nothing for any other error. */
export const auditFenced = async (gov: Gov, asker: Asker, error: unknown): Promise<void> => {
  const rejection = fenceRejection(error)
  if (rejection === null) return
  const { jobId, closureId, route, fence } = rejection
  await gov.store.transact('codehost fence', (tx) => appendAudit(tx, nowIso(gov), {
    what: 'codehost.fenced', principal: asker.principal.principal_id,
    root: asker.root.root_id, subject: jobId, facts: { route, fence, closure: closureId },
  }))
}

/** Runs a route; what the fence rejects is written down, and thrown on as it is. */
export const fenced = async <T>(gov: Gov, asker: Asker, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    await auditFenced(gov, asker, error)
    throw error
  }
}
