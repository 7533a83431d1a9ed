/**
 * Enabling an owner whom nobody disabled: a copy of the state came into force, and nothing told
 * whether that owner still was enabled. An owner whom a person disabled stays disabled for good.
 * What the owner had consented to or acknowledged before does not come back: it ends in the same
 * record.
 */
import { fail } from '../base/errors.js'
import { appendAudit } from './audit.js'
import { nowIso, type Gov, type Session } from './context.js'
import { endAgreementsOf } from './policy/consents.js'
import { findByNameOrId, isDisabledForGood } from './principals.js'
import { collections, type Principal } from './rows.js'
import { requireRootRow } from './session/live.js'

/** The row of an owner who may log in again. */
export const enabledAgain = ({ disabled_by_restore: _, ...row }: Principal): Principal =>
  ({ ...row, disabled_at: null })

/**
 * Enables an owner that a restore or a repair has disabled; nothing to do for one that is enabled.
 * Throws `not_found`, `conflict`/`disabled_for_good` for one that a person disabled.
 */
export const enablePrincipal = (
  gov: Gov, session: Session, nameOrId: string,
): Promise<{ readonly principal: Principal; readonly enabled: boolean }> =>
  gov.store.transact('principal enable', (tx) => {
    const now = nowIso(gov)
    requireRootRow(tx, now, session.root.root_id)
    const row = findByNameOrId(tx, nameOrId)
    if (row.disabled_at === null) return { principal: row, enabled: false }
    if (isDisabledForGood(row)) {
      throw fail.conflict('disabled_for_good', 'This owner was disabled by a person, for good.', {
        next: 'Add an owner of another name: `sallyport principal add NAME --passphrase-file F`.',
      })
    }
    const principal = enabledAgain(row)
    tx.put(collections.principals, principal.principal_id, principal)
    const ended = endAgreementsOf(tx, principal.principal_id)
    if (ended > 0) tx.mark()
    appendAudit(tx, now, {
      what: 'principal.enabled', principal: session.principal.principal_id,
      root: session.root.root_id, subject: principal.principal_id,
      facts: { agreements_withdrawn: ended },
    })
    return { principal, enabled: true }
  })
