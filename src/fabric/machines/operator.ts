/**
 * Who decides where nobody can sign in: a login is a record, and a server that is not accepted, or
 * that a state was taken back from, takes none. An owner proves himself as at a login then.
 */
import type { Gov, Session } from '../../governance/context.js'
import { collections, type Principal } from '../../governance/rows.js'
import { requireRootRow } from '../../governance/session/live.js'
import { noteRefusal, proveOwner, type LoginRequest } from '../../governance/session/login.js'
import { fail } from '../../base/errors.js'
import type { Tx } from '../../state/types.js'

/** An owner, and the session that he asks through; null where he asks through none. */
export interface Operator {
  readonly principal: Pick<Principal, 'principal_id' | 'name'>
  readonly root: string | null
}

export const operatorOf = ({ principal, root }: Session): Operator =>
  ({ principal, root: root.root_id })

/** A refusal where nothing can be recorded is one all the same. */
const noteIfAny: typeof noteRefusal = (gov, subject) =>
  noteRefusal(gov, subject).catch(() => undefined)

/** Who proves himself without one. Throws as `proveOwner`. */
export const provenOperator = async (
  gov: Gov, request: Pick<LoginRequest, 'owner' | 'passphrase'>,
): Promise<Operator> => ({ principal: await proveOwner(gov, request, noteIfAny), root: null })

/** Throws `unauthorized` where session or owner ended meanwhile. */
export const requireOperator = (tx: Tx, now: string, { principal, root }: Operator): void => {
  if (root !== null) {
    requireRootRow(tx, now, root)
    return
  }
  const row = tx.get(collections.principals, principal.principal_id)
  if (row !== undefined && row.disabled_at === null) return
  throw fail.unauthorized('principal_disabled', 'This owner was disabled meanwhile.', {
    next: 'Another owner decides: run it again with --owner NAME.',
  })
}
