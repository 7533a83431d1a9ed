/** Which connection a publication goes through where nobody names one. */
import { fail } from '../../../base/errors.js'
import { listConnections } from '../../../governance/connections/find-connection.js'
import type { Connection } from '../../../governance/connections/connection-rows.js'
import type { Gov, Session } from '../../../governance/context.js'
import { vaultIdentity } from '../../../governance/vault.js'

/** The operator's connections that have a token, oldest first. */
export const usableConnections = (gov: Gov, session: Session): readonly Connection[] => {
  const view = gov.store.read()
  return listConnections(view, session)
    .filter(({ credential_ref: ref }) => vaultIdentity(view, ref) !== null)
}

/**
 * The only one of some. Throws `not_found` `connection_not_found` where there is none, `usage`
 * `connection_needed` where there are several: which repository is written to is never guessed.
 */
export const onlyConnection = (usable: readonly Connection[]): Connection => {
  const [only, ...others] = usable
  if (only === undefined) {
    throw fail.notFound('connection_not_found', 'There is no connection to publish through.', {
      next: 'Save one by `codehost connect`: see `sallyport codehost connect --help`.',
    })
  }
  if (others.length === 0) return only
  throw fail.usage('connection_needed', 'You have several connections: name one of them.', {
    next: 'Give --connection; see `sallyport codehost connections`.',
    details: { connections: usable.length },
  })
}
