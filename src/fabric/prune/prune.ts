/**
 * Removing what is old, as a person decides: ended tasks with all that hangs on them, receipts of
 * nothing done, sessions that nothing names, copies of finished restores. In bounded slices, each a
 * record of its own, so that others go on beside it and a crash leaves whole slices only; then
 * everything is merged, so that no file holds what is gone; and last go the sealed files, whose
 * rows are gone from every generation by then. Copies aside go first, since merging needs room.
 */
import { isoFromMs } from '../../base/clock.js'
import { fail, SallyportError } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import { requireAnchored } from '../../governance/anchored.js'
import { appendAudit } from '../../governance/audit.js'
import type { CapabilityRows, IdleRows, Registry } from '../../governance/capability.js'
import { nowIso, type Gov, type Session } from '../../governance/context.js'
import { artifactsOfTask, type TaskAge } from '../../governance/retention/tasks.js'
import { collections } from '../../governance/rows.js'
import { dropStored, sweepStored, type DroppedFile } from '../../state/care/drop-stored.js'
import {
  asideNotFound, dropAsides, finishedAsides, isFinishedAside,
} from '../../state/care/finished-asides.js'
import { forgetRemoved, keepFewBlocks } from '../../state/care/forget.js'
import { stateBytes } from '../../state/care/size.js'
import { sweepElsewhere } from '../../state/directory.js'
import { isPlaced } from '../../state/place/is-placed.js'
import { capabilities } from '../capabilities.js'
import { stateRules } from '../state-rules.js'
import type { StatePruneDocument } from './prune-contract.js'
import type { DroppedNames } from './dropped.js'
import { countRoots, namedRoots, pruneRootRows } from './roots.js'
import { goes, newTombstone, prunableKinds, pruneTasks } from './tasks.js'

const verb = 'state prune'

/** What is asked for. */
export interface PruneRequest {
  /** Age in milliseconds; left out: nothing goes by age. */
  readonly olderThanMs: number | undefined
  /** Name of a copy aside that goes whatever it holds. */
  readonly aside: string | undefined
  /** Its abort ends the removing between two slices; what is gone by then stays gone. */
  readonly signal?: AbortSignal | undefined
}

const stopped = (): Error =>
  fail.cancelled('prune_stopped', 'The prune was stopped; what it had removed stays removed.', {
    next: 'Run it again: it goes on, and merges what this one left.',
  })

interface Pruning {
  readonly gov: Gov
  readonly rows: readonly CapabilityRows[]
  readonly age: TaskAge
}

const pruningOf = async (gov: Gov, olderThanMs: number, registry: Registry): Promise<Pruning> => ({
  gov,
  rows: await Promise.all(registry.map((one) => one.rows())),
  age: { kinds: prunableKinds(registry), before: isoFromMs(gov.clock.wallMs() - olderThanMs) },
})

const idleOf = ({ rows }: Pruning): readonly IdleRows[] =>
  rows.flatMap(({ idle }) => (idle === undefined ? [] : [idle]))

const announce = async ({ observer }: Gov, step: string): Promise<void> => {
  await observer.at(`prune.${step}`)
}

const countIdle = ({ gov, age }: Pruning, { find }: IdleRows): number => {
  let count = 0
  for (let after: string | undefined; ;) {
    const { ids, next } = find(gov.store.read(), age.before, after)
    count += ids.length
    if (next === null) return count
    after = next
  }
}

const pruneIdle = async ({ gov, age }: Pruning, { find, drop }: IdleRows): Promise<number> => {
  let count = 0
  for (let after: string | undefined; ;) {
    const { ids, next } = find(gov.store.read(), age.before, after)
    if (ids.length > 0) {
      count += await gov.store.transact(verb, (tx) => drop(tx, nowIso(gov), age.before, ids))
    }
    if (next === null) return count
    after = next
  }
}

const nothing = {
  before: null, tasks: { succeeded: 0, failed: 0, cancelled: 0 }, idle_receipts: 0, sessions: 0,
  artifacts: 0, left_at_place: null,
} as const

const asidesOf = ({ store, clock }: Gov, { olderThanMs, aside }: PruneRequest): string[] => {
  if (aside !== undefined && !isFinishedAside(store, aside)) throw asideNotFound()
  const byAge = olderThanMs === undefined
    ? [] : finishedAsides(store, clock.wallMs() - olderThanMs)
  return [...new Set([...byAge, ...(aside === undefined ? [] : [aside])])]
}

const lookByAge = (pruning: Pruning) => {
  const { gov, age } = pruning
  const tasks = { succeeded: 0, failed: 0, cancelled: 0 }
  let artifacts = 0
  // One walk over all tasks tells what goes, and which sessions the others name.
  const named = namedRoots(gov, pruning.rows, (view, task) => {
    if (!goes(view, task, age)) return false
    tasks[task.state as keyof typeof tasks] += 1
    artifacts += artifactsOfTask(view, task).length
    return true
  })
  return {
    before: age.before, tasks, artifacts,
    idle_receipts: idleOf(pruning).reduce((sum, one) => sum + countIdle(pruning, one), 0),
    sessions: countRoots(gov, age.before, named),
  }
}

/** What a prune would remove now; changes no byte. Throws `not_found` `aside_not_found`. */
export const lookForOld = async (
  gov: Gov, request: PruneRequest, registry: Registry = capabilities,
): Promise<StatePruneDocument> => {
  const { olderThanMs } = request
  keepFewBlocks(gov.store)
  const asides = asidesOf(gov, request).length
  const found = olderThanMs === undefined
    ? nothing : lookByAge(await pruningOf(gov, olderThanMs, registry))
  return {
    ...found, tasks: { ...found.tasks }, asides, dry_run: true, swept: null, behind: [],
    left_at_place: null,
    bytes_before: stateBytes(gov.store.dir), bytes_after: null,
  }
}

/** Counts of the tombstone, as they are stored. */
const tasksIn = (gov: Gov, pruneId: string): StatePruneDocument['tasks'] => {
  const row = gov.store.read().get(collections.taskPrunes, pruneId)
  return {
    succeeded: row?.succeeded ?? 0, failed: row?.failed ?? 0, cancelled: row?.cancelled ?? 0,
  }
}

const begin = async ({ gov, age }: Pruning, session: Session, pruneId: string): Promise<void> => {
  await gov.store.transact(verb, (tx) => {
    appendAudit(tx, nowIso(gov), {
      what: 'state.prune_begun', principal: session.principal.principal_id,
      root: session.root.root_id, subject: pruneId, facts: { before: age.before },
    })
  })
  await announce(gov, 'begun')
}

type RowsGone = Pick<StatePruneDocument, 'before' | 'tasks' | 'idle_receipts' | 'sessions'>

const end = (
  { gov, age }: Pruning, session: Session, pruneId: string, gone: RowsGone,
): Promise<void> => gov.store.transact(verb, (tx) => {
  const { tasks: { succeeded, failed, cancelled }, idle_receipts, sessions } = gone
  appendAudit(tx, nowIso(gov), {
    what: 'state.pruned', principal: session.principal.principal_id, root: session.root.root_id,
    subject: pruneId,
    facts: { before: age.before, succeeded, failed, cancelled, idle_receipts, sessions },
  })
})

/** Rows of every kind, each slice in a record of its own; the sealed files are still there. */
const dropRows = async (
  pruning: Pruning, session: Session, signal: AbortSignal | undefined,
): Promise<{ readonly gone: RowsGone, readonly artifacts: DroppedNames }> => {
  const { gov, age, rows } = pruning
  const pruneId = newId('pru')
  await begin(pruning, session, pruneId)
  const fresh = newTombstone(pruneId, nowIso(gov), age.before, session)
  const artifacts = await pruneTasks(gov, fresh, age, async (count) => {
    await announce(gov, 'slice')
    await announce(gov, `${count}_tasks`)
    if (signal?.aborted === true) throw stopped()
  })
  let receipts = 0
  for (const idle of idleOf(pruning)) receipts += await pruneIdle(pruning, idle)
  await announce(gov, 'receipts_gone')
  const sessions = await pruneRootRows(gov, age.before, namedRoots(gov, rows, () => false))
  const gone: RowsGone = {
    before: age.before, tasks: tasksIn(gov, pruneId), idle_receipts: receipts, sessions,
  }
  await end(pruning, session, pruneId, gone)
  return { gone, artifacts }
}

function* filesOf(artifacts: DroppedNames): Generator<DroppedFile> {
  for (const { artifactId, name } of artifacts) {
    yield { name, isNamed: (view) => view.get(collections.artifacts, artifactId) !== undefined }
  }
}

type FilesGone = Pick<StatePruneDocument, 'artifacts' | 'swept' | 'left_at_place'>

/** What a place was to remove and did not; `why` is what it said. */
const leftAt = (files: number, why: unknown): StatePruneDocument['left_at_place'] => ({
  files, why: why instanceof SallyportError ? why.code : 'failed',
})

const dropFiles = async (
  gov: Gov, artifacts: DroppedNames, registry: Registry,
): Promise<FilesGone> => {
  const { files, left, why } = await dropStored(gov.store, filesOf(artifacts), verb)
  await announce(gov, 'files_gone')
  // While an operation is under way its file may lie there with its record still to come.
  const { referenced } = await stateRules(registry)
  const swept = gov.store.holds.live() > 0 ? 0 : await sweepStored(gov.store, referenced, verb)
  const gone = { artifacts: files, swept, left_at_place: null }
  if (why !== undefined) return { ...gone, left_at_place: leftAt(left, why) }
  try {
    return { ...gone, swept: swept + await sweepElsewhere(gov.store, referenced) }
  } catch (error) {
    return { ...gone, left_at_place: leftAt(0, error) }
  }
}

const isSome = ({ tasks, idle_receipts: receipts, sessions }: RowsGone): boolean =>
  tasks.succeeded + tasks.failed + tasks.cancelled + receipts + sessions > 0

/** Machines that are not known to have followed what was removed: they may still show it. */
const behindOf = async ({ store }: Gov): Promise<StatePruneDocument['behind']> => {
  if (!isPlaced(store)) return []
  const { sequence } = store.replica.end
  const rows = await store.place.machines().catch(() => null)
  return rows?.filter(({ machine, retired, sequence: has }) =>
    retired === null && machine !== store.settings.machine && has < sequence)
    .map(({ name }) => name) ?? null
}

type AgedRequest = PruneRequest & { readonly olderThanMs: number }

const pruneByAge = async (
  gov: Gov, session: Session, { olderThanMs, signal }: AgedRequest, registry: Registry,
): Promise<RowsGone & FilesGone & Pick<StatePruneDocument, 'behind'>> => {
  const pruning = await pruningOf(gov, olderThanMs, registry)
  const { gone, artifacts } = await dropRows(pruning, session, signal)
  await announce(gov, 'rows_gone')
  await forgetRemoved(gov.store, verb)
  await announce(gov, 'forgotten')
  const files = await dropFiles(gov, artifacts, registry)
  return { ...gone, ...files, behind: isSome(gone) ? await behindOf(gov) : [] }
}

/**
 * Removes what `lookForOld` tells, as it stands by then. Whatever ends it early, what was removed
 * stays removed and the next run goes on. Throws `blocked` `store_behind_anchor`, `damaged`,
 * `locked`, `not_found` `aside_not_found`, `cancelled` `prune_stopped`, disk errors.
 */
export const pruneState = async (
  gov: Gov, session: Session, request: PruneRequest, registry: Registry = capabilities,
): Promise<StatePruneDocument> => {
  requireAnchored(gov.store)
  keepFewBlocks(gov.store)
  const { olderThanMs } = request
  const before = stateBytes(gov.store.dir)
  const asides = asidesOf(gov, request)
  // First: merging needs room on the disk, and they may give it.
  const dropped = await dropAsides(gov.store, asides, verb)
  await announce(gov, 'asides_gone')
  const gone = olderThanMs === undefined
    ? { ...nothing, tasks: { ...nothing.tasks }, swept: 0, behind: [] }
    : await pruneByAge(gov, session, { ...request, olderThanMs }, registry)
  return {
    dry_run: false, ...gone, asides: dropped,
    bytes_before: before, bytes_after: stateBytes(gov.store.dir),
  }
}
