/** Who asks the service for an operation of an operator. */
import { rowsFor, type AnchorRule } from '../fabric/open-work.js'
import type { Gov } from '../governance/context.js'
import { authenticate, authenticateRoot } from '../governance/session/authenticate.js'

/** A page that was opened from a session: it has no token of that session, only its id. */
interface PageAsker {
  readonly root: string
  /** Whether a person did something: what the page asks by its timer is no use of a session. */
  readonly isUse: boolean
}

/** The token of a session, null where none was given, or a page. It can be handed to a thread. */
export type Asker = string | null | PageAsker

/** The same for `openWork`. */
export const asWorkOrder = (by: Asker): { readonly token: string | null } | {
  readonly root: string
  readonly touch: boolean
} => (by === null || typeof by === 'string' ? { token: by } : { root: by.root, touch: by.isUse })

/**
 * Throws `unauthorized` unless somebody is behind it, and what `anchor` asks of the state; notes no
 * use.
 */
export const requireAsker = (gov: Gov, by: Asker, anchor: AnchorRule): void => {
  const view = rowsFor(gov.store, anchor)
  if (by === null || typeof by === 'string') authenticate(gov, by, { touch: false }, view)
  else authenticateRoot(gov, by.root, {}, view)
}
