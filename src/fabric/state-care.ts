/** Use cases over a whole state directory: what the state verbs do, with every layer's rules. */
import { join } from 'node:path'
import type { Clock } from '../base/clock.js'
import { fail, SallyportError } from '../base/errors.js'
import type { Observer } from '../base/observer.js'
import type { Registry } from '../governance/capability.js'
import type { Face, Gov } from '../governance/context.js'
import { isInitLost } from '../governance/initialized.js'
import { listPrincipals } from '../governance/principals.js'
import { settleRestored } from '../contact/recovery.js'
import { formerStates, settleFormers } from '../state/care/aside.js'
import { backupState, type BackupReport } from '../state/care/backup.js'
import { checkState, isSound, type CheckReport } from '../state/care/check.js'
import { compactState, type CompactReport } from '../state/care/compact.js'
import { lostHistory } from '../state/care/former.js'
import { keepUnreferenced } from '../state/care/kept.js'
import type { Layout } from '../state/care/reindex.js'
import { repairState, type RepairReport } from '../state/care/repair.js'
import { restoreState, type RestoreReport } from '../state/care/restore.js'
import { verifyState, type VerifyReport } from '../state/care/verify-backup.js'
import { orIoFailure } from '../state/files.js'
import { FileStore } from '../state/file-store.js'
import type { Store } from '../state/types.js'
import { capabilities } from './capabilities.js'
import { carryRules, gateRules, recoveryRules } from './recovery.js'
import type { Kept, Left } from './state-contract.js'
import { lacksWitness, stateRules, witnessProblems, type StateRules } from './state-rules.js'

/** Where the state lies, and who looks after it. */
export interface StateSite {
  readonly dir: string
  readonly configDir: string
  readonly waitMs: number
  /** Its abort ends a wait for the lock. */
  readonly signal?: AbortSignal | undefined
  readonly clock: Clock
  readonly observer: Observer
  readonly face: Face
  /** Who restores or repairs: keeps being enabled where nothing vouches for the others. */
  readonly owner?: string | undefined
}

/** Reads everything; takes no lock and changes no byte. `ok`: nothing but notices. */
export const checkWhole = async (
  site: StateSite, registry: Registry = capabilities,
): Promise<CheckReport> => checkBy(site, await stateRules(registry))

const checkBy = (
  site: StateSite, rules: StateRules, unopened: readonly string[] = [],
): CheckReport => {
  const { collections, documents, referenced, openArtifacts, lying } = rules
  const found = checkState({ ...site, specs: collections, extra: documents, referenced })
  // A damaged log has no witness to compare with, and without the key nothing can be opened.
  const isClosed = (code: string): boolean => code === 'key_missing' || unopened.includes(code)
  const bad = found.problems.some(({ severity, code }) =>
    (severity === 'damage' && code !== 'spare_damaged') || isClosed(code))
  if (bad) return found
  // Of a replica its own files are judged.
  const store = new FileStore({ ...site, mode: 'read' })
  try {
    const more = orIoFailure('checking the state', () =>
      [...witnessProblems(store), ...openArtifacts(store), ...lying(store)])
    const problems = [...found.problems, ...more]
    return { ...found, ok: isSound(problems), problems }
  } finally {
    store.close()
  }
}

/** Whether a backup could be restored, by the rules of every layer. Reads only. */
export const verifyWhole = async (
  site: StateSite, backup: string, registry: Registry = capabilities,
): Promise<VerifyReport> => {
  const rules = await stateRules(registry)
  // A restore brings the format of before to the present one; this opens neither.
  return verifyState({ ...site, backup }, (dir) =>
    checkBy({ ...site, dir }, rules, ['state_too_old']))
}

/** What a repair and a restore need to make indexes and counts again. */
const layoutOf = async (registry: Registry): Promise<Layout> => {
  const { collections, derived } = await stateRules(registry)
  return { specs: collections, derived }
}

/** Else a mistyped name would leave the first owner enabled, and lock out whoever was meant. */
const requireOwner = ({ owner }: StateSite, store: Store): void => {
  if (owner === undefined || listPrincipals(store.read()).some(({ name }) => name === owner)) return
  throw fail.notFound('principal_not_found', 'There is no owner of this name.', {
    next: 'Name an owner of what is put back. Without --owner it is the first one.',
  })
}

/** The same before anything is changed, where the state opens. */
const requireOwnerAt = (site: StateSite, dir: string): void => {
  if (site.owner === undefined) return
  try {
    const store = new FileStore({ ...site, dir, mode: 'read' })
    try {
      requireOwner(site, store)
    } finally {
      store.close()
    }
  } catch (error) {
    const cannotTell = error instanceof SallyportError && error.kind !== 'not_found'
    if (!cannotTell) throw error
  }
}

const nothingKept: Kept = {
  kept_liabilities: 0, unread_operations: [], unreadable_states: 0, kept_artifacts: 0,
  owners_to_enable: [],
}

/**
 * Without an owner and a policy nothing can be published: the store stays behind its anchor, and
 * what it owes is carried over once it has them.
 */
const requireFirstRecord = (store: Store): void => {
  if (!isInitLost(store.read())) return
  throw fail.damaged('init_lost', 'The record that made this state directory cannot be read.', {
    next: 'Restore a backup; or run `sallyport init` with the same arguments, and ' +
      '`sallyport state repair` after it.',
  })
}

/**
 * What must hold after documents may have been lost or an old copy was put back; see
 * `settleRestored`. Every state that was put aside here is asked for what it owed, also by a repair
 * that goes on where another one, or a restore, was cut off.
 */
const settleOldState = (site: StateSite, registry: Registry, told: (kept: Kept) => void) =>
  async (store: Store): Promise<void> => {
    requireFirstRecord(store)
    requireOwner(site, store)
    const gov: Gov = { store, clock: site.clock, observer: site.observer, face: site.face }
    // Before the store is good for anything again: from then on a compaction may sweep.
    const kept = await keepUnreferenced(store, (await stateRules(registry)).referenced)
    const formers = formerStates(store.dir, store.storeId)
    const lost = lostHistory(store.anchor(), formers, store.read().sequence)
    const settled = await settleRestored(gov, {
      rules: await recoveryRules(store, registry),
      formers: lost === null ? formers : [lost, ...formers],
      carries: await carryRules(registry),
      gates: await gateRules(registry),
      restorer: site.owner ?? null,
    })
    settleFormers(store.dir)
    told({
      kept_liabilities: settled.keptLiabilities.length,
      unread_operations: settled.unread,
      unreadable_states: settled.unreadable,
      kept_artifacts: kept,
      owners_to_enable: settled.unvouched,
    })
  }

/**
 * Back to the last moment that is provably whole, and what damage is left then: bytes of an
 * artifact, or rows that contradict each other, are in no log. What cannot be read of the files
 * `lost` counts as lost. Throws `damaged` `beyond_repair`.
 */
export const repairWhole = async (
  site: StateSite, lost: readonly string[] = [], registry: Registry = capabilities,
): Promise<RepairReport & Kept & Left> => {
  requireOwnerAt(site, site.dir)
  let kept = nothingKept
  const { replicaToRepair } = await import('./replica-repair.js')
  const replica = await replicaToRepair(site)
  const report = await repairState({
    ...site, ...await layoutOf(registry), lost, unplaced: replica?.unplaced,
    onLoss: settleOldState(site, registry, (told) => { kept = told }),
  })
  const { referenced } = await stateRules(registry)
  const fetched = replica === null ? []
    : await replica.fetch((await checkWhole(site, registry)).problems, referenced)
  const { problems } = await checkWhole(site, registry)
  const done = [...report.done, ...fetched]
  return {
    ...report, ...kept, changed: report.changed || fetched.length > 0, done,
    left: problems.filter(({ severity }) => severity === 'damage'),
  }
}

/** Puts a backup in place, revoked; what the replaced state owed since stays owed. */
export const restoreWhole = async (
  site: StateSite, backup: string, registry: Registry = capabilities,
): Promise<RestoreReport & Kept> => {
  requireOwnerAt(site, join(backup, 'state'))
  let kept = nothingKept
  const report = await restoreState({
    ...site, ...await layoutOf(registry), backup,
    afterRestore: settleOldState(site, registry, (told) => { kept = told }),
  })
  return { ...report, ...kept }
}

/** Copies a store into the new folder `to`; a damaged one only to salvage what is left. */
export const backupWhole = async (
  store: Store, to: string, salvage: boolean, registry: Registry = capabilities,
): Promise<BackupReport> => {
  const { referenced } = await stateRules(registry)
  return backupState(store, to, { salvage, referenced, lacksWitness })
}

/**
 * Folds the log and sweeps artifacts that no row names. While any operation is under way nothing
 * is swept: its artifact may lie there with its record still to come.
 */
export const compactWhole = async (
  store: Store, registry: Registry = capabilities,
): Promise<CompactReport> => {
  const { referenced } = await stateRules(registry)
  return compactState(store, store.holds.live() > 0 ? undefined : referenced)
}
