/** What goes in and comes out of the operations on connections and their consents. */
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import { closedObject, strictInteger, nullableText, text } from '../base/schema.js'
import type { StandingConnection } from '../governance/connections/find-connection.js'
import { connectionModes } from '../governance/connections/connection-rows.js'
import type { Recorded } from '../governance/stops/act.js'
import { requestsOf, requestsShape } from '../governance/stops/requests.js'
import { codehostLimits } from './constants.js'
import { standingDocument, standingDocumentShape } from './jobs/jobs-contract.js'
import type { Standing } from './jobs/job-rows.js'

const revision = strictInteger(1, Number.MAX_SAFE_INTEGER)

const consentShape = v.strictObject({
  id: text,
  /** `closed`: a job was closed under it, so that it authorizes nothing any more. */
  state: v.picklist(['issued', 'expired', 'revoked', 'stopped', 'closed']),
  repository: text,
  repository_id: v.number(),
  actions: v.array(text),
  issued_at: text,
  expires_at: text,
  root: text,
  revision: v.number(),
})

const connectionShape = v.strictObject({
  id: text,
  repository: text,
  repository_id: v.nullable(v.number()),
  mode: v.picklist(connectionModes),
  revision: v.number(),
  /** Whether writes were ever opted in to here: nothing but a consent does. */
  opt_in: v.boolean(),
  consent: v.nullable(consentShape),
  capacity: v.picklist(['free', 'reserved']),
  /** Whether nothing can free it any more; null where it is free, or was not looked at. */
  occupied_for_good: v.nullable(v.boolean()),
  active_job_id: nullableText,
  active_fence: v.number(),
  consent_fence: v.number(),
  created_at: text,
  updated_at: text,
  /** After an act that took something back: what had left before of it. */
  requests: v.optional(requestsShape),
})
/** A connection as a document; never its token. */
export type ConnectionDocument = v.InferOutput<typeof connectionShape>

const consentDocument = ({ connection: { consent }, state, usedUp }: ListedConnection) =>
  (consent === null || state === null ? null : {
    id: consent.consent_id,
    state: state === 'issued' && usedUp === true ? 'closed' as const : state,
    repository: consent.repository,
    repository_id: consent.repository_id, actions: [...consent.actions],
    issued_at: consent.issued_at, expires_at: consent.expires_at, root: consent.root,
    revision: consent.revision,
  })

/** A connection as it is listed. */
export interface ListedConnection extends StandingConnection {
  readonly occupiedForGood?: boolean | null
  /** Whether a job was closed under its consent; left out: it was not looked at. */
  readonly usedUp?: boolean
  /** What stopped what left through it; null: nothing had to. Left out: nobody took it back. */
  readonly recorded?: Pick<Recorded, 'sent'> | null
}

const connectionDocument = (standing: ListedConnection): ConnectionDocument => {
  const { connection: one, occupiedForGood = null, recorded } = standing
  return {
    id: one.connection_id, repository: one.repository, repository_id: one.repository_id,
    mode: one.mode, revision: one.revision, opt_in: one.consent !== null,
    consent: consentDocument(standing),
    capacity: one.active_job_id === null ? 'free' : 'reserved',
    occupied_for_good: occupiedForGood,
    active_job_id: one.active_job_id, active_fence: one.active_fence,
    consent_fence: one.consent_fence, created_at: one.created_at, updated_at: one.updated_at,
    ...(recorded === undefined ? {} : { requests: requestsOf(recorded) }),
  }
}

const oneConnection = {
  document: 'codehost.connection', output: connectionShape,
  toDocument: connectionDocument,
} as const

/** Saving a connection: a new one, or another token, repository or mode of one. */
export const codehostConnect = contract({
  ...oneConnection,
  name: 'codehost.connect',
  input: closedObject({
    connection: v.optional(text),
    repo: v.optional(text),
    mode: v.optional(v.picklist(['disabled', 'reconcile_only'])),
    token: v.optional(text),
    expected_revision: v.optional(revision),
  }),
})

/** The operator's connections, oldest first. */
export const codehostConnections = contract({
  name: 'codehost.connections',
  output: v.array(connectionShape),
  toDocument: (all: readonly ListedConnection[]) => all.map(connectionDocument),
})

/** Setting a mode that allows less. */
export const codehostMode = contract({
  ...oneConnection,
  name: 'codehost.mode',
  input: closedObject({ connection: text, mode: v.picklist(['disabled', 'reconcile_only']) }),
})

/** Issuing a finite consent; duration in milliseconds. */
export const codehostConsent = contract({
  ...oneConnection,
  name: 'codehost.consent',
  input: closedObject({
    connection: text,
    action: v.array(text),
    duration: strictInteger(codehostLimits.grantMsMin, codehostLimits.grantMsMax),
    acknowledge: v.optional(v.boolean()),
    expected_revision: revision,
  }),
})

export const codehostRevoke = contract({
  ...oneConnection, name: 'codehost.revoke', input: closedObject({ connection: text }),
})

/** Removing the token of a connection; its row stays. */
export const codehostDisconnect = contract({
  ...oneConnection, name: 'codehost.disconnect', input: closedObject({ connection: text }),
})

/** A connection with the standing authorities that were given on it. */
interface GrantedConnection extends ListedConnection { readonly authorities: readonly Standing[] }

const grantShape = v.strictObject({
  connection: text,
  mode: v.picklist(connectionModes),
  opt_in: v.literal(true),
  ...consentShape.entries,
  /** What stands for approvals under it; ends with it. */
  standing: v.array(standingDocumentShape),
})
/** A consent, derived from the row of its connection on each read. */
type GrantDocument = v.InferOutput<typeof grantShape>

/** What the operator's connections allow now, or allowed: one entry a consent. */
export const codehostGrants = contract({
  name: 'codehost.grants',
  output: v.array(grantShape),
  toDocument: (all: readonly GrantedConnection[]): GrantDocument[] => all.flatMap((granted) => {
    const consent = consentDocument(granted)
    const { connection_id: connection, mode } = granted.connection
    return consent === null ? [] : [{
      connection, mode, opt_in: true as const, ...consent,
      standing: granted.authorities
        .filter(({ consent_id: id }) => id === consent.id).map(standingDocument),
    }]
  }),
})
