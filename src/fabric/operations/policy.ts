import { policyShow } from '../../governance/policy/policy-contract.js'
import { showPolicy } from '../../governance/policy/show.js'
import { sessionShow } from '../../governance/session/session-contract.js'
import { sessionFacts } from '../../governance/session/live.js'
import { operation } from '../operation.js'

/** What is allowed. */
export const policy = { show: operation(policyShow, 'read', ({ gov }) => showPolicy(gov)) }

/** Who is in. */
export const session = {
  show: operation(sessionShow, 'read', ({ gov, session: own }) =>
    sessionFacts(gov.store.read(), gov, own.root)),
}
