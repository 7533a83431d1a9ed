/** What must hold of saved connections, for `state check`. Pure. */
import type { View } from '../../state/types.js'
import type { Problem } from '../context.js'
import { collections } from '../rows.js'
import { bindingOf } from './grant.js'
import { connectionCollection, type Connection } from './connection-rows.js'
import { credentialRefOf } from './save.js'

const texts = {
  connection_id_differs: 'A connection lies under another id than its own.',
  connection_credential: 'A connection has no credential under its own name.',
  connection_owner: 'The owner of a connection has no row.',
  connection_consent: 'A consent contradicts the connection that it lies in.',
  connection_active: 'An active connection has no consent that made it so.',
  connection_capacity: 'An occupied connection was never reserved.',
} as const

const consentHolds = ({ connection_id: id, consent, revision }: Connection): boolean =>
  consent === null
  || (consent.binding_sha256 === bindingOf(id, consent) && consent.revision <= revision
    && consent.expires_at > consent.issued_at)

/** Without a token nothing may be written through it, and no job may occupy it. */
const isDisconnected = ({ consent, mode, active_job_id: job }: Connection): boolean =>
  mode !== 'active' && job === null && (consent === null || consent.ended !== null)

const holds = (view: View, id: string, one: Connection): Record<keyof typeof texts, boolean> => ({
  connection_id_differs: one.connection_id === id,
  connection_credential: one.credential_ref === credentialRefOf(id)
    && (view.get(collections.credentials, one.credential_ref) !== undefined
      || isDisconnected(one)),
  connection_owner: view.get(collections.principals, one.owner) !== undefined,
  connection_consent: consentHolds(one),
  connection_active: one.mode !== 'active' || one.consent !== null,
  connection_capacity: one.active_job_id === null || one.active_fence > 0,
})

/** Every connection whose row contradicts itself or those that it names. */
export const verifyConnections = (view: View): Problem[] =>
  view.all(connectionCollection).flatMap(({ id, doc }) => {
    const found = holds(view, id, doc)
    return (Object.keys(texts) as (keyof typeof texts)[]).filter((code) => !found[code])
      .map((code) => ({ code, subject: id, text: texts[code] }))
  })
