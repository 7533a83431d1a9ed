/**
 * Everything that governance and the capabilities know of a sound state, for check, repair,
 * restore and compaction.
 */
import { SallyportError } from '../base/errors.js'
import { routeCollection } from '../contact/routes.js'
import { referencedArtifacts } from '../governance/artifacts.js'
import { verifyAudit } from '../governance/audit.js'
import { verifyBoard } from '../governance/board/verify-board.js'
import type { CapabilityRows, Registry } from '../governance/capability.js'
import { connectionCollection } from '../governance/connections/connection-rows.js'
import { verifyConnections } from '../governance/connections/verify-connections.js'
import type { Problem as RuleProblem } from '../governance/context.js'
import { isInitUnfinished } from '../governance/initialized.js'
import { endedDevices } from '../governance/devices.js'
import { verifyLedger } from '../governance/ledger/verify-ledger.js'
import { machineBoundCollection } from '../governance/machine-bound.js'
import { policyAt } from '../governance/policy/head.js'
import { verifyPolicy } from '../governance/policy/verify-policy.js'
import { witnessStatus, type WitnessStatus } from '../governance/policy/witness.js'
import { verifyPrincipals } from '../governance/principals.js'
import { collections } from '../governance/rows.js'
import { requireIntact } from '../governance/vault.js'
import type { DerivedRows } from '../state/derived.js'
import { findEach } from '../state/each.js'
import type { CollectionSpec, Problem, Store, View, WitnessLog } from '../state/types.js'
import { capabilities } from './capabilities.js'
import { verifyOwnership } from './ownership.js'

/** The rules of one program: its capabilities' and those that hold for all. */
export interface StateRules {
  /** Every collection that any layer keeps. */
  readonly collections: readonly CollectionSpec<unknown>[]
  /** Collections that are counted from others. */
  readonly derived: readonly DerivedRows[]
  /** Rules over the documents: money that balances, a chained audit, rows that agree. */
  readonly documents: readonly ((view: View) => readonly Problem[])[]
  /** Names of all stored content that some row refers to; any other belongs to no record. */
  readonly referenced: (view: View) => ReadonlySet<string>
  /**
   * Opens every private artifact that a row names and compares it with the row: sealed under its
   * own record type, of its length and digest. Needs the store's key.
   */
  readonly openArtifacts: (store: Store) => readonly Problem[]
  /** What lies in folders of capabilities and belongs to nothing that their rows tell of. */
  readonly lying: (store: Store) => readonly Problem[]
}

const asDamage = ({ code, subject, text }: RuleProblem): Problem => ({
  code, severity: 'damage', message: text, subject,
})

const ofGovernance = [
  verifyPrincipals, verifyLedger, verifyAudit, verifyBoard, verifyPolicy, verifyConnections,
]

const initUnfinished: Problem = {
  code: 'init_unfinished', severity: 'blocked',
  message: 'The making of this state directory was interrupted: run `sallyport init` again.',
}

const witnessOf = (view: View, witness: WitnessLog): WitnessStatus =>
  witnessStatus(view, witness, (revision) => policyAt(view, revision))

/** Whether there is no witness of a policy that was witnessed. */
export const lacksWitness = (view: View, witness: WitnessLog): boolean =>
  !isInitUnfinished(view) && witnessOf(view, witness) === 'missing'

/** Whether the witness log vouches for the policy; a line behind is completed by the next write. */
export const witnessProblems = (store: Store): Problem[] => {
  const view = store.read()
  if (isInitUnfinished(view)) return [initUnfinished]
  const status = witnessOf(view, store.witness)
  if (status === 'ok') return []
  const severity = status === 'behind_by_one' ? 'torn' : 'blocked'
  const message =
    severity === 'torn'
      ? 'The witness log is one line behind; the next write completes it.'
      : 'The witness log does not vouch for the policy; nothing may be contacted.'
  return [{ code: `witness_${status}`, severity, message }]
}

const opening = (subject: string, open: () => void): Problem[] => {
  try {
    open()
    return []
  } catch (error) {
    // What the disk says may pass: it is no damage.
    if (!(error instanceof SallyportError) || error.kind === 'failed') throw error
    // Missing files are found by their names; here it is about those that are there.
    if (error.code === 'evidence_missing') return []
    return [{ code: error.code, severity: 'damage', message: error.message, subject }]
  }
}

const sealedIn = (rows: readonly CapabilityRows[], view: View) =>
  rows.flatMap(({ sealed }) => sealed?.(view) ?? [])

const openArtifacts = (rows: readonly CapabilityRows[], store: Store): Problem[] => {
  const view = store.read()
  const content = findEach(view, collections.artifacts, ({ id, doc }) =>
    opening(id, () => store.artifacts.verify(doc.label, doc.ref)))
  const keys = view.all(collections.credentials).flatMap(({ id, doc }) =>
    opening(id, () => requireIntact(store, doc)))
  const named = sealedIn(rows, view).flatMap(({ label, ref }) =>
    opening(ref.stored_sha256, () => store.artifacts.verify(label, ref)))
  return [...content, ...keys, ...named]
}

export const stateRules = async (registry: Registry = capabilities): Promise<StateRules> => {
  const rows = await Promise.all(registry.map((one) => one.rows()))
  return {
    collections: [
      ...Object.values(collections), connectionCollection, routeCollection, endedDevices,
      machineBoundCollection,
      ...rows.flatMap((one) => one.collections),
    ],
    derived: rows.flatMap(({ derived }) => derived ?? []),
    documents: [...ofGovernance, verifyOwnership(registry), ...rows.flatMap(({ rules }) => rules)]
      .map((rule) => (view) => isInitUnfinished(view) ? [] : rule(view).map(asDamage)),
    referenced: (view) => new Set([
      ...referencedArtifacts(view), ...sealedIn(rows, view).map(({ ref }) => ref.stored_sha256),
    ]),
    openArtifacts: (store) => openArtifacts(rows, store),
    lying: (store) => rows.flatMap(({ lying }) => lying?.(store, store.read()) ?? [])
      .map(({ code, subject, text }) => ({ code, severity: 'notice', message: text, subject })),
  }
}
