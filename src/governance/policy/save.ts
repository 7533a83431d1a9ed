/**
 * A save of a route, in five steps: s1 publish r+1 revoked with a durable intent, s2 credential,
 * s3 accounting, s4 publish r+2 by compare-and-set together with the route's documents, s5 answer.
 * Between s1 and s4 nobody may contact anyone. An operator's revoke in between wins: the last step
 * finds another head, and what s2 and s3 did is undone.
 */
import { isoFromMs } from '../../base/clock.js'
import { fail, SallyportError } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import { lookUp } from '../../state/indexes.js'
import type { Tx, View } from '../../state/types.js'
import { discardStored, discardUnnamed } from '../artifacts.js'
import { appendAudit } from '../audit.js'
import type { Gov, Session } from '../context.js'
import { setCeiling } from '../ledger/account.js'
import {
  collections, intentsOpen, type Consent, type PolicyRevision, type RouteName, type SaveIntent,
} from '../rows.js'
import { liveRoot } from '../session/live.js'
import { noteNamed } from '../session/named.js'
import { askedThrough } from '../stops/act.js'
import { pendingStops } from '../stops/pending.js'
import { closeBySave, type RestrictiveSave, type Spend } from '../stops/restrictive-save.js'
import { covers, offRoutes, type SaveAim } from '../stops/stop.js'
import { adoptStaged, dropStaged, removeCredential, sealCredential, stageSealed } from '../vault.js'
import { applyCeiling, checkCeiling, ownCeiling } from './ceiling.js'
import {
  acknowledgeConsent, carryOver, endConsents, grantConsent, latestConsent, type ConsentGrant,
} from './consents.js'
import { isGloballyRevoked, policyAt, policyHead } from './head.js'
import { nextRevisionOf, publishRevision } from './publish.js'
import { policyStatus } from './policy-status.js'
import { lostBy, requireAcceptedVoids, voidsOf, type AcceptedVoids } from './voids.js'

/** What the rows at r decide about a save. */
export interface SaveDecision {
  /** The shared ceiling to stand after the save, micro-USD; null leaves it alone. */
  readonly ceilingMicrousd: number | null
  readonly grants: readonly ConsentGrant[]
  /** Purposes whose consent stands as it is and that whoever saves acknowledges with this save. */
  readonly acknowledges?: readonly Omit<ConsentGrant, 'expiresAt'>[]
  /** Purposes of this route that end unless granted anew (changed or disabled). */
  readonly drops: readonly string[]
  /** It needs the acknowledgment: something is enabled, widened or consented to. */
  readonly widens: boolean
  /** The save does nothing but stop something, which is refused for no answer that it voids. */
  readonly onlyStops?: boolean
  /** What it closes: whatever leaves through that is stopped before r+1. */
  readonly closes?: readonly SaveAim[]
  /** Writes the route's own documents, in the same record as r+2. */
  apply(tx: Tx, now: string, outcome: SaveOutcome): void
}

/** What the last step knows. */
interface SaveOutcome {
  readonly revision: number
  readonly consents: readonly Consent[]
}

interface SavePlan {
  readonly route: RouteName
  /** Compared with the head; null only where the route allows it (disabling). */
  readonly expectedRevision: number | null
  /**
   * Pure over the rows at r, asked before anything is stopped and once more under the lock; a throw
   * changes nothing. Null: no change.
   */
  decide(view: View): SaveDecision | null
  /** What is closed once it is saved, whoever closed it; asked of the rows before anything. */
  closed(view: View): readonly SaveAim[]
  readonly credential: { readonly ref: string; readonly secret: Buffer } | null
  /** Vault name of the key that goes with this save; none where it is left out. */
  readonly removesKey?: string | undefined
  /** Paid results that whoever saves gives up; none where it is left out. */
  readonly accepts?: AcceptedVoids | undefined
}

/** Refuses a save whose caller looked at another revision. */
const checkExpectedRevision = (view: View, expected: number | null): void => {
  const { revision } = policyHead(view)
  if (expected === null || expected === revision) return
  throw fail.conflict(
    'stale_policy_revision',
    `The policy stands at revision ${revision}, not at the expected one.`,
    { next: 'Read the configuration again and repeat the save.', details: { revision } },
  )
}

interface Judged {
  readonly decision: SaveDecision
  /** How many paid results it puts out of reach. */
  readonly voided: number
}

/** What a save comes to on the rows of one moment; null: no change. Throws what refuses it. */
const judgeSave = (gov: Gov, session: Session, plan: SavePlan, view: View): Judged | null => {
  liveRoot(view, gov, session.root.root_id)
  checkExpectedRevision(view, plan.expectedRevision)
  const decision = plan.decide(view)
  if (decision === null) return null
  if (decision.ceilingMicrousd !== null) {
    checkCeiling(view, plan.route, decision.ceilingMicrousd)
  }
  requireUndamagedPolicy(gov, view)
  requireNoOtherSave(view, plan, decision)
  const standing = policyStatus(gov.store, view)
  const voids = voidsOf(view, standing, gov.clock.wallMs(), decision.drops)
  if (decision.onlyStops !== true) requireAcceptedVoids(voids, plan.accepts ?? [])
  return { decision, voided: lostBy(voids).length }
}

/** A save with what was stopped for it. */
interface StoppedPlan extends SavePlan {
  readonly aims: readonly SaveAim[]
  /** Writes the rows of those stops. */
  readonly spend: Spend
}

interface Begun extends Judged {
  readonly intent: SaveIntent
  readonly carriesFrom: number | null
  readonly global: boolean
  /** A save that died before left the policy revoked, and this one may not end that. */
  readonly staysInterrupted: boolean
}

/** What somebody else saved meanwhile may make this close more than was stopped for it. */
const requireStopped = ({ aims }: StoppedPlan, { closes = [] }: SaveDecision): void => {
  const open = closes.some(({ kind, target }) =>
    !aims.some((aim) => aim.kind === kind && aim.target === target))
  if (open) throw superseded()
}

/** Whether an interrupted save is the last that is known of the policy, below those under way. */
const isInterrupted = (view: View, { reason, revision }: PolicyRevision): boolean => {
  if (reason !== 'save_begin') return reason === 'save_interrupted'
  const beneath = policyAt(view, revision - 1)
  return beneath !== undefined && isInterrupted(view, beneath)
}

const begin = (
  gov: Gov, session: Session, plan: StoppedPlan, intentId: string,
): Promise<Begun | null> =>
  gov.store.transact(`${plan.route} setup`, (tx) => {
    const now = isoFromMs(gov.clock.wallMs())
    const judged = judgeSave(gov, session, plan, tx)
    if (judged === null) return null
    const { decision } = judged
    requireStopped(plan, decision)
    const base = policyHead(tx)
    const account = tx.all(collections.ledgerAccounts).at(0)?.doc
    const intent: SaveIntent = {
      intent_id: intentId,
      route: plan.route,
      phase: 'revoked',
      base_revision: base.revision,
      revoked_revision: nextRevisionOf(tx),
      principal: session.principal.principal_id,
      root: session.root.root_id,
      ceiling_before_microusd: account?.ceiling_microusd ?? null,
      staged_credential: null,
      created_at: now,
      ended_at: null,
    }
    tx.put(collections.saveIntents, intentId, intent)
    noteNamed(tx, intent.root)
    publishRevision(tx, gov.store, now, {
      state: 'revoked', reason: 'save_begin', principal: intent.principal,
      carriesFrom: base.carries_from,
    })
    return {
      ...judged,
      intent,
      carriesFrom: base.carries_from,
      global: isGloballyRevoked(base),
      // Nothing activates by itself: what only stops or lowers something names no revision.
      staysInterrupted: isInterrupted(tx, base) && plan.expectedRevision === null
        && decision.grants.length === 0,
    }
  }, { first: plan.aims.length > 0 })

/**
 * While another save has not ended only one that merely stops something may overtake it: two saves
 * must never have a staged key or a moved ceiling at once, or undoing the one would undo the other.
 * A revoke in between ends no save: the save itself does, when it comes to its next step.
 */
const requireNoOtherSave = (view: View, plan: SavePlan, decision: SaveDecision): void => {
  const open = lookUp(view, collections.saveIntents, intentsOpen, { limit: 1 }).length > 0
  if (!open && policyHead(view).reason !== 'save_begin') return
  const onlyStops = plan.credential === null && plan.removesKey === undefined
    && decision.ceilingMicrousd === null
    && decision.grants.length === 0 && !decision.widens
  if (onlyStops) return
  throw fail.conflict(
    'save_in_progress', 'Another save of the model configuration is under way.',
    { next: 'Wait for it to end, read the configuration again and repeat the save.' },
  )
}

/** A save must not paper over a damaged witness or an old copy of the store. */
const requireUndamagedPolicy = (gov: Gov, view: View): void => {
  const { block } = policyStatus(gov.store, view)
  if (block !== 'witness_mismatch' && block !== 'store_behind_anchor') return
  throw fail.blocked(
    block, 'The policy record of this state cannot be trusted; nothing was saved.',
    { next: 'Run `sallyport state check`.', reason: block },
  )
}

/** Raised inside s2 to s4 when another publication came in between. */
const superseded = (): SallyportError =>
  fail.conflict(
    'policy_moved', 'The policy was revoked or saved by somebody else during this save.',
    { next: 'Nothing of this save is in force. Read the configuration again.' },
  )

/** A stop that nobody has recorded yet came in between as well. */
const requireUnstopped = (gov: Gov, tx: Tx, { principal, root }: SaveIntent): void => {
  const pending = pendingStops(gov.store.stops.lying(), tx)
  const party = { principal, root, task: null, connection: null, ...offRoutes }
  if (pending.some((stop) => covers(stop, party))) throw superseded()
}

const advance = (tx: Tx, intent: SaveIntent, change: Partial<SaveIntent>): SaveIntent => {
  if (policyHead(tx).revision !== intent.revoked_revision) throw superseded()
  const current = tx.get(collections.saveIntents, intent.intent_id)
  if (!current || current.ended_at !== null) throw superseded()
  const next = { ...current, ...change }
  tx.put(collections.saveIntents, intent.intent_id, next)
  return next
}

const updateCredential = async (gov: Gov, plan: SavePlan, begun: Begun): Promise<void> => {
  const { credential } = plan
  if (credential === null) return
  const sealed = sealCredential(gov.store, credential)
  const stored = [sealed.artifact.stored_sha256]
  const displaced = await discardUnnamed(gov.store, stored, (tried) =>
    gov.store.transact(`${plan.route} setup`, tried((named, tx) => {
      advance(tx, begun.intent, { phase: 'credential', staged_credential: credential.ref })
      named()
      return stageSealed(tx, isoFromMs(gov.clock.wallMs()), sealed)
    })))
  discardStored(gov.store, displaced)
}

const updateAccounting = async (gov: Gov, plan: SavePlan, begun: Begun): Promise<void> => {
  const ceiling = begun.decision.ceilingMicrousd
  if (ceiling === null) return
  await gov.store.transact(`${plan.route} setup`, (tx) => {
    advance(tx, begun.intent, { phase: 'accounting' })
    applyCeiling(tx, isoFromMs(gov.clock.wallMs()), ceiling)
  })
}

/** Consents of every other route end for good when one route is granted after a revocation. */
const clearOthers = (tx: Tx, route: RouteName): void => {
  endConsents(tx, 'revoked', 'cleared', (old) => old.route !== route)
}

const finish = async (
  gov: Gov, session: Session, plan: StoppedPlan, begun: Begun,
): Promise<SaveOutcome> => {
  let replaced: string | null = null
  const outcome = await gov.store.transact(`${plan.route} setup`, (tx) => {
    const now = isoFromMs(gov.clock.wallMs())
    const { decision, global } = begun
    const intent = advance(tx, begun.intent, { phase: 'applied', ended_at: now })
    liveRoot(tx, gov, session.root.root_id)
    requireUnstopped(gov, tx, intent)
    plan.spend(tx)
    const regrants = decision.grants.length > 0
    const active = !begun.staysInterrupted && (!global || regrants)
    const revision = nextRevisionOf(tx)
    if (global && regrants) clearOthers(tx, plan.route)
    const from = active ? begun.carriesFrom : null
    carryOver(tx, gov.clock.wallMs(), from, revision, new Set(decision.drops))
    const by = { route: plan.route, revision, principal: intent.principal, root: intent.root }
    for (const one of decision.acknowledges ?? []) {
      acknowledgeCarried(tx, now, revision, { ...one, owner: intent.principal })
    }
    const consents = decision.grants.map((grant) => grantConsent(tx, now, grant, by))
    if (plan.credential !== null) replaced = adoptStaged(tx, now, plan.credential.ref)
    if (plan.removesKey !== undefined) replaced = removeCredential(tx, plan.removesKey)
    if (decision.ceilingMicrousd !== null) ownCeiling(tx, plan.route)
    decision.apply(tx, now, { revision, consents })
    publishRevision(tx, gov.store, now, {
      state: active ? 'active' : 'revoked',
      reason: begun.staysInterrupted ? 'save_interrupted' : 'save',
      principal: intent.principal,
      carriesFrom: begun.carriesFrom,
    })
    appendAudit(tx, now, {
      what: `${plan.route}.saved`, principal: intent.principal, root: intent.root,
      subject: intent.intent_id,
      facts: {
        revision, active, grants: consents.length, credential: plan.credential !== null,
        ...(plan.removesKey === undefined ? {} : { key_removed: true }),
        ...(begun.voided > 0 ? { voided: begun.voided } : {}),
      },
    })
    return { revision, consents }
  })
  discardStored(gov.store, replaced)
  return outcome
}

/** Whoever saves acknowledges the consent that this publication carries over. */
const acknowledgeCarried = (tx: Tx, now: string, revision: number, by: {
  readonly purpose: string; readonly owner: string; readonly statementSha256: string
}): void => {
  const consent = latestConsent(tx, by.purpose)
  if (consent?.state === 'granted' && consent.bound_revision === revision) {
    acknowledgeConsent(tx, now, consent, by)
  }
}

/** Without a sound ledger there is no ceiling to put back, and every route is blocked by that. */
const restoreCeiling = (tx: Tx, now: string, before: number | null): void => {
  if (before === null || tx.all(collections.ledgerAccounts).length === 0) return
  try {
    setCeiling(tx, now, before)
  } catch (error) {
    if (!(error instanceof SallyportError) || error.kind !== 'blocked') throw error
  }
}

/**
 * Undoes s2 and s3 of a save that did not reach r+2: the staged key is dropped, the old ceiling
 * stands again. When its own r+1 is still the head, the policy is left revoked with the reason
 * `save_interrupted`; when somebody revoked in between, that stays. Used by the save itself and by
 * the recovery of a dead one.
 */
export const rollBackSave = (gov: Gov, tx: Tx, now: string, intent: SaveIntent): void => {
  const staged = intent.staged_credential === null ? null : dropStaged(tx, intent.staged_credential)
  // Only once the row that names it is durably gone.
  if (staged !== null) tx.afterSync(() => discardStored(gov.store, staged))
  // Written in the record that moves it: a save that moved none found what another one had moved.
  if (intent.phase === 'accounting') restoreCeiling(tx, now, intent.ceiling_before_microusd)
  const head = policyHead(tx)
  const own = head.revision === intent.revoked_revision
  if (own) {
    publishRevision(tx, gov.store, now, {
      state: 'revoked', reason: 'save_interrupted', principal: intent.principal,
      carriesFrom: head.carries_from,
    })
  }
  tx.put(collections.saveIntents, intent.intent_id, {
    ...intent, phase: own ? 'rolled_back' : 'superseded', ended_at: now,
  })
  appendAudit(tx, now, {
    what: `${intent.route}.save_rolled_back`, principal: intent.principal, root: intent.root,
    subject: intent.intent_id, facts: { superseded: !own },
  })
}

/**
 * Undoes a save that failed. Where that fails too (a lock, a full disk), the next recovery does it,
 * because the guard is given back with the intent still open; the policy stays revoked until then,
 * and the error to tell is the one that the save itself met.
 */
const compensate = async (gov: Gov, route: RouteName, intentId: string): Promise<void> => {
  try {
    await gov.store.transact(`${route} setup`, (tx) => {
      const intent = tx.get(collections.saveIntents, intentId)
      if (!intent || intent.ended_at !== null) return
      rollBackSave(gov, tx, isoFromMs(gov.clock.wallMs()), intent)
    })
  } catch (error) {
    if (!(error instanceof SallyportError) || error.kind === 'damaged') throw error
  }
}

const publish = async (
  gov: Gov, session: Session, plan: StoppedPlan,
): Promise<SaveOutcome | null> => {
  const intentId = newId('int')
  // Held for the whole save: recovery takes a save for dead only when it can lock this file.
  const guard = await gov.store.holds.hold('save', intentId)
  try {
    const begun = await begin(gov, session, plan, intentId)
    if (begun === null) return null
    try {
      await gov.observer.at('save.revoked')
      await updateCredential(gov, plan, begun)
      await gov.observer.at('save.credential')
      await updateAccounting(gov, plan, begun)
      await gov.observer.at('save.accounting')
      const outcome = await finish(gov, session, plan, begun)
      await gov.observer.at('save.published')
      return outcome
    } catch (error) {
      await compensate(gov, plan.route, intentId)
      throw error
    }
  } finally {
    guard.release()
  }
}

/**
 * Runs a save; what it closes is stopped first, and what had left of that before is answered. Saves
 * null when the rows decide that nothing changes: no revision is published. Throws `conflict` for a
 * stale revision or when somebody else published in between, and as `closeBySave` where it is
 * saved.
 */
export const publishSave = async (
  gov: Gov, session: Session, plan: SavePlan,
): Promise<RestrictiveSave<SaveOutcome | null>> => {
  const view = gov.store.read()
  const aims = judgeSave(gov, session, plan, view)?.decision.closes ?? []
  const closes = {
    aims, closed: plan.closed(view), by: askedThrough(`${plan.route} setup`, session),
  }
  return closeBySave(gov, closes, (spend) => publish(gov, session, { ...plan, aims, spend }))
}
