/** Everything that the layers below know of a sound state, gathered for check, repair and restore. */
import { alphaSetupCollection } from '../../../alpha/setup.js'
import { claimCollection } from '../../../gateway/call/claims.js'
import { attemptCollection, proofCollection } from '../../../gateway/proof.js'
import { routeReportCollection } from '../../../gateway/route-hook.js'
import { gatewayCollection } from '../../../gateway/setup.js'
import { verifyAudit } from '../../../governance/audit.js'
import { verifyBoard } from '../../../governance/board/verify.js'
import type { Gov, Problem as RuleProblem } from '../../../governance/gov.js'
import { verifyLedger } from '../../../governance/ledger/verify.js'
import { policyAt } from '../../../governance/policy/head.js'
import { witnessStatus } from '../../../governance/policy/witness.js'
import { settleRestored } from '../../../governance/recovery.js'
import { collections } from '../../../governance/rows.js'
import type { CollectionSpec, Problem, Store, View } from '../../../state/types.js'
import type { VerbDeps } from '../../bound.js'

/** Every collection that any layer keeps. */
export const allCollections: readonly CollectionSpec<unknown>[] = [
  ...Object.values(collections), alphaSetupCollection, gatewayCollection, proofCollection,
  attemptCollection, claimCollection, routeReportCollection,
] as readonly CollectionSpec<unknown>[]

const asDamage = ({ code, subject, text }: RuleProblem): Problem => ({
  code, severity: 'damage', message: text, subject,
})

/** Rules over the documents: money that balances, a chained audit, a board that agrees. */
export const documentRules: readonly ((view: View) => readonly Problem[])[] = [
  (view) => verifyLedger(view).map(asDamage),
  (view) => verifyAudit(view).map(asDamage),
  (view) => verifyBoard(view).map(asDamage),
]

/** Whether the witness log vouches for the policy; a line behind is completed by the next write. */
export const witnessProblems = (store: Store): Problem[] => {
  const view = store.read()
  const status = witnessStatus(view, store.witness, (revision) => policyAt(view, revision))
  if (status === 'ok') return []
  const severity = status === 'behind_by_one' ? 'torn' : 'blocked'
  const message =
    severity === 'torn'
      ? 'The witness log is one line behind; the next write completes it.'
      : 'The witness log does not vouch for the policy; nothing may be contacted.'
  return [{ code: `witness_${status}`, severity, message }]
}

/**
 * What must hold after documents may have been lost or an old copy was put back: sessions end,
 * unfinished contacts become unknown, and the policy is revoked above what the anchor knows.
 */
export const settleOldState = (deps: VerbDeps) => async (store: Store): Promise<void> => {
  const gov: Gov = { store, clock: deps.clock, observer: deps.observer, face: 'cli' }
  await settleRestored(gov)
}

/** Place of the state, as the use cases over a whole directory take it. */
export const placeOf = (deps: VerbDeps) => ({
  dir: deps.places.stateDir,
  configDir: deps.places.configDir,
  clock: deps.clock,
  waitMs: deps.globals.waitMs,
})
