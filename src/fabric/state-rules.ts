/** Everything that the layers below know of a sound state, for check, repair and restore. */
import { billingUuidCollection } from '../alpha/billing-uuids.js'
import { alphaCapability } from '../alpha/constants.js'
import { alphaSetupCollection } from '../alpha/setup.js'
import { SallyportError } from '../base/errors.js'
import { claimCollection } from '../gateway/call/claims.js'
import { openCallCollection } from '../gateway/call/open-calls.js'
import { spendCollection } from '../gateway/call/spend.js'
import { attemptCollection, proofCollection } from '../gateway/proof.js'
import { routeReportCollection } from '../gateway/route-hook.js'
import { gatewayCollection } from '../gateway/setup.js'
import { referencedArtifacts } from '../governance/artifacts.js'
import { verifyAudit } from '../governance/audit.js'
import { verifyBoard } from '../governance/board/verify.js'
import type { Problem as RuleProblem } from '../governance/context.js'
import { isInitUnfinished } from '../governance/initialized.js'
import { findReservation } from '../governance/ledger/read.js'
import { verifyLedger } from '../governance/ledger/verify.js'
import { policyAt } from '../governance/policy/head.js'
import { verifyPolicy } from '../governance/policy/verify.js'
import { witnessStatus } from '../governance/policy/witness.js'
import { collections, type Reservation, type Task } from '../governance/rows.js'
import { requireIntact } from '../governance/vault.js'
import { runningCollection } from '../shots/analysis/rows.js'
import { digestCollections } from '../shots/digest/rows.js'
import { verifyDigests } from '../shots/digest/verify.js'
import { verifyConclusions } from '../shots/report/verify.js'
import { conclusionCollections } from '../shots/report/rows.js'
import { shotCollections } from '../shots/observations/rows.js'
import { settingsCollection } from '../shots/source/settings.js'
import { shotArtifacts, verifyShots } from '../shots/verify.js'
import type { CollectionSpec, Problem, Store, View } from '../state/types.js'

/** Every collection that any layer keeps. */
export const allCollections: readonly CollectionSpec<unknown>[] = [
  ...Object.values(collections), alphaSetupCollection, billingUuidCollection,
  gatewayCollection, proofCollection, attemptCollection, claimCollection, routeReportCollection,
  spendCollection, openCallCollection, runningCollection,
  ...Object.values(shotCollections), settingsCollection,
  ...Object.values(digestCollections), ...Object.values(conclusionCollections),
] as readonly CollectionSpec<unknown>[]

const asDamage = ({ code, subject, text }: RuleProblem): Problem => ({
  code, severity: 'damage', message: text, subject,
})

/** Whether a finished text task and its money tell the same; open ones are the ledger's. */
const agrees = (task: Task, money: Reservation | undefined): boolean => {
  if (task.state === 'succeeded') {
    return money?.state === 'settled' && money.overrun !== 'review_required'
  }
  if (task.state === 'failed' || task.state === 'cancelled') {
    return money === undefined || money.state === 'settled' || money.state === 'released'
  }
  return true
}

/** A released answer has a known charge, and an ended task holds no money. */
const verifyMoneyOfTasks = (view: View): RuleProblem[] =>
  [...view.all(collections.openTasks), ...view.all(collections.closedTasks)]
    .filter(({ doc }) => doc.kind === alphaCapability)
    .filter(({ doc }) => !agrees(doc, findReservation(view, doc.operation_id)))
    .map(({ id }) => ({
      code: 'task_money_mismatch', subject: id,
      text: 'A task and its charge contradict each other.',
    }))

/** Rules over the documents: money that balances, a chained audit, board and policy agree. */
export const documentRules: readonly ((view: View) => readonly Problem[])[] = [
  verifyLedger, verifyAudit, verifyBoard, verifyPolicy, verifyMoneyOfTasks,
  verifyShots, verifyDigests, verifyConclusions,
].map((rule) => (view) => isInitUnfinished(view) ? [] : rule(view).map(asDamage))

const initUnfinished: Problem = {
  code: 'init_unfinished', severity: 'blocked',
  message: 'The making of this state directory was interrupted: run `sallyport init` again.',
}

/** Whether the witness log vouches for the policy; a line behind is completed by the next write. */
export const witnessProblems = (store: Store): Problem[] => {
  const view = store.read()
  if (isInitUnfinished(view)) return [initUnfinished]
  const status = witnessStatus(view, store.witness, (revision) => policyAt(view, revision))
  if (status === 'ok') return []
  const severity = status === 'behind_by_one' ? 'torn' : 'blocked'
  const message =
    severity === 'torn'
      ? 'The witness log is one line behind; the next write completes it.'
      : 'The witness log does not vouch for the policy; nothing may be contacted.'
  return [{ code: `witness_${status}`, severity, message }]
}

/** Names of all stored content that some row refers to; any other belongs to no record. */
export const referencedContent = (view: View): ReadonlySet<string> => new Set([
  ...referencedArtifacts(view), ...shotArtifacts(view).map(({ ref }) => ref.stored_sha256),
])

const opening = (subject: string, open: () => void): Problem[] => {
  try {
    open()
    return []
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    // Missing files are found by their names; here it is about those that are there.
    if (error.code === 'evidence_missing') return []
    return [{ code: error.code, severity: 'damage', message: error.message, subject }]
  }
}

/**
 * Opens every private artifact that a row names and compares it with the row: sealed under its own
 * record type, of its length and digest. Needs the store's key.
 */
export const artifactProblems = (store: Store): Problem[] => {
  const view = store.read()
  const content = view.all(collections.artifacts).flatMap(({ id, doc }) =>
    opening(id, () => void store.artifacts.read(doc.label, doc.ref).fill(0)))
  const keys = view.all(collections.credentials).flatMap(({ id, doc }) =>
    opening(id, () => requireIntact(store, doc)))
  const fingerprints = shotArtifacts(view).flatMap(({ label, ref }) =>
    opening(ref.stored_sha256, () => void store.artifacts.read(label, ref).fill(0)))
  return [...content, ...keys, ...fingerprints]
}
