/** The consent that looks rest on: given by a save of their own route, like every other. */
import { sha256Hex } from '../../../src/base/canonical.js'
import { fail } from '../../../src/base/errors.js'
import type { Gov, Session } from '../../../src/governance/context.js'
import { momentOf } from '../../../src/governance/judge/moment.js'
import { currentConsent } from '../../../src/governance/policy/consents.js'
import { publishSave } from '../../../src/governance/policy/save.js'
import type { Consent } from '../../../src/governance/rows.js'
import type { View } from '../../../src/state/types.js'

export const nothingRoute = 'nothing'
export const nothingPurpose = 'nothing.look'

/** Lets looks be had from now on. */
export const grantLooks = async (gov: Gov, session: Session): Promise<void> => {
  await publishSave(gov, session, {
    route: nothingRoute, expectedRevision: null, credential: null, closed: () => [],
    decide: () => ({
      ceilingMicrousd: null, widens: true, drops: [], apply: () => undefined,
      grants: [{
        purpose: nothingPurpose, statementSha256: sha256Hex('You look.'), expiresAt: null,
      }],
    }),
  })
}

/** The consent that a look may be admitted on. Throws `consent_not_current`. */
export const requireConsent = (gov: Gov, view: View): Consent => {
  const { policy, nowMs } = momentOf(gov, view)
  const consent = currentConsent(view, policy, nothingPurpose, nowMs)
  if (consent !== undefined) return consent
  throw fail.unauthorized('consent_not_current', 'Nobody lets you look.')
}
