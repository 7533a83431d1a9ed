/**
 * Whether an admitted ask may still contact the provider, or adopt an answer, judged anew from the
 * rows each time. Pure but for the policy
 * standing, which also reads the witness file and the anchor.
 */
import { fail, SallyportError } from '../../base/errors.js'
import { msFromIso } from '../../base/clock.js'
import type { View } from '../../state/types.js'
import type { Gov } from '../../governance/context.js'
import { currentConsent } from '../../governance/policy/consents.js'
import { policyStanding } from '../../governance/policy/standing.js'
import { collections, type Consent, type Task } from '../../governance/rows.js'
import { liveRoot } from '../../governance/session/live.js'
import { requireConfigured } from '../readiness.js'
import { alphaPurpose } from '../constants.js'
import type { AlphaContext } from '../context.js'
import type { AlphaTextInput } from '../input.js'
import { alphaSetupCollection, type AlphaTextSetup } from '../setup.js'

/** Everything an allowed contact rests on. */
export interface AskAuthority {
  readonly setup: AlphaTextSetup
  readonly consent: Consent
  readonly policyRevision: number
}

const lost = (reason: string, message: string): SallyportError =>
  fail.unauthorized('ask_not_authorized', message, {
    reason, next: 'Nothing more is sent for this task. See: sallyport alpha show',
  })

const requireGoal = (view: View, task: Task): void => {
  const goal = view.get(collections.goals, task.goal_id)
  if (!goal || goal.state !== 'open' || goal.revision !== task.goal_revision) {
    throw lost('goal_changed', 'The goal of this task has changed since it was admitted.')
  }
}

const requireRoot = (gov: Gov, view: View, task: Task): void => {
  try {
    const root = liveRoot(view, gov, task.original_root)
    if (root.principal_id === task.owner) return
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
  }
  throw lost('root_gone', 'The login session that admitted this task is not live any more.')
}

/** The setup and consent that authorize the task's purpose now; throws `unauthorized`. */
export const requireAskAuthority = (
  gov: Gov, view: View, task: Task, input: AlphaTextInput,
): AskAuthority => {
  requireRoot(gov, view, task)
  requireGoal(view, task)
  const nowMs = gov.clock.wallMs()
  const setup = view.get(alphaSetupCollection, 'the')
  if (!setup?.enabled) throw lost('alpha_disabled', 'The capability is disabled.')
  const standing = policyStanding(gov.store, view)
  if (standing.block !== null) {
    throw lost(standing.block, 'The policy does not allow contact now.')
  }
  const consent = currentConsent(view, standing, alphaPurpose, nowMs)
  const same = consent !== undefined
    && consent.consent_id === task.purpose.consent_id
    && consent.granted_revision === setup.plaintext_egress_consent_revision
  if (!same || msFromIso(task.purpose.expires_at) <= nowMs) {
    throw lost('consent_not_current', 'The consent that admitted this task is not current.')
  }
  if (input.max_output_tokens > setup.max_output_tokens) {
    throw lost('output_cap_lowered', 'The configured max_output_tokens is now below the task\'s.')
  }
  return { setup, consent, policyRevision: standing.head.revision }
}

/**
 * The same for contact, where the whole configuration must still stand as for a new ask: fixed
 * route, key and accounting too. An answer once paid for does not need them.
 */
export const requireContactAuthority = (
  ctx: AlphaContext, view: View, task: Task, input: AlphaTextInput,
): AskAuthority => {
  const authority = requireAskAuthority(ctx.gov, view, task, input)
  requireConfigured(ctx, view)
  return authority
}

/** The reason why an answer may not be adopted, or null while everything is current. */
export const authorityLost = (
  gov: Gov, view: View, task: Task, input: AlphaTextInput,
): string | null => {
  try {
    requireAskAuthority(gov, view, task, input)
    return null
  } catch (error) {
    if (error instanceof SallyportError && error.kind === 'unauthorized') {
      return error.reason ?? error.code
    }
    throw error
  }
}

/**
 * Throws `unauthorized` where a person may not adopt the held answer of their task now. A session
 * that took the task over stands in the place of the one that asked; nothing is contacted.
 */
export const requireAdoptionAuthority = (
  gov: Gov, view: View, task: Task, input: AlphaTextInput,
): void => {
  requireAskAuthority(gov, view, { ...task, original_root: task.current_root }, input)
}
