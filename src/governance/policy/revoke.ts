import { isoFromMs } from '../../base/clock.js'
import { appendAudit } from '../audit.js'
import type { Gov } from '../context.js'
import type { PolicyRevision } from '../rows.js'
import { endConsents } from './consents.js'
import { publishRevision } from './publish.js'

/**
 * The operator's global revoke: every route stops, every consent ends. It needs no session,
 * because stopping must never be hard (decision in docs/decisions); it grants nothing.
 */
export const revokePolicy = (
  gov: Gov, by: { principal: string | null; root: string | null },
): Promise<PolicyRevision> =>
  gov.store.transact('policy revoke', (tx) => {
    const now = isoFromMs(gov.clock.wallMs())
    endConsents(tx, 'revoked', (consent) => consent.state === 'granted')
    const policy = publishRevision(tx, gov.store, now, {
      state: 'revoked', reason: 'operator_revoke', principal: by.principal,
      carriesFrom: null, global: true,
    })
    appendAudit(tx, now, {
      what: 'policy.revoked', principal: by.principal, root: by.root,
      subject: String(policy.revision), facts: { epoch: policy.epoch, fence: policy.fence },
    })
    return policy
  })
