import { isoFromMs, type Clock } from '../base/clock.js'
import { fail } from '../base/errors.js'
import type { Store } from '../state/types.js'
import { appendAudit } from './audit.js'
import { hashPassphrase, type Passphrase } from './passphrase.js'
import { publishInitialPolicy } from './policy/publish.js'
import { putDefaultPrincipal, putPrincipal, requirePrincipalName } from './principals.js'
import { collections, type Goal, type Principal } from './rows.js'

/** How a new store begins. */
interface Initialization {
  readonly ownerName: string
  readonly passphrase?: Passphrase | undefined
  readonly clock: Clock
}

/**
 * Gives a new store its first owner, who is its default principal, the owner's default goal and
 * policy revision 1, in one transaction; also one of which damage took the owners, and maybe the
 * policy. Opens no session and grants nothing. Throws `conflict`/`already_initialized`, `rejected`
 * for the name or passphrase.
 */
export const initialize = async (
  store: Store,
  { ownerName, passphrase, clock }: Initialization,
): Promise<{ readonly principal: Principal; readonly goal: Goal }> => {
  requirePrincipalName(ownerName)
  const hash = passphrase === undefined ? null : await hashPassphrase(passphrase)
  return store.transact('init', (tx) => {
    if (tx.all(collections.principals).length > 0) {
      throw fail.conflict('already_initialized', 'This state directory has owners already.')
    }
    const now = isoFromMs(clock.wallMs())
    const made = putPrincipal(tx, now, ownerName, hash)
    putDefaultPrincipal(tx, made.principal)
    const principal = made.principal.principal_id
    const facts = { name: ownerName, has_passphrase: hash !== null }
    appendAudit(tx, now, { what: 'store.initialized', principal, root: null, subject: null, facts })
    // Where damage took the owners alone, revision 1 would put the policy back below its anchor.
    if (tx.get(collections.policyHead, 'the') === undefined) {
      publishInitialPolicy(tx, store, now, principal)
    }
    return made
  })
}
