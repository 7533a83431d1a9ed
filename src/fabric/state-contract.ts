/** What goes in and comes out of looking after a whole state directory. */
import * as v from 'valibot'
import { sentence } from '../base/told.js'
import { contract } from '../base/contract.js'
import { fail, type SallyportError } from '../base/errors.js'
import { closedObject, count } from '../base/schema.js'
import type { CheckReport } from '../state/care/check.js'
import type { KeptArtifact } from '../state/care/kept.js'
import type { RepairReport } from '../state/care/repair.js'
import type { RestoreReport } from '../state/care/restore.js'
import type { VerifyReport } from '../state/care/verify-backup.js'
import type { Problem } from '../state/types.js'

/** What a repair or a restore kept of former states. */
export interface Kept {
  readonly kept_liabilities: number
  readonly unread_operations: readonly string[]
  readonly unreadable_states: number
  readonly kept_artifacts: number
  readonly owners_to_enable: readonly string[]
}

/** What a repair cannot bring back and says. */
export interface Left {
  /** Damage that a check still finds. */
  readonly left: readonly Problem[]
}

const anchorShape = v.picklist(['ok', 'behind', 'forked', 'missing', 'forged'])

/** One finding. */
const problemShape = v.strictObject({
  code: v.string(),
  severity: v.picklist(['damage', 'blocked', 'torn', 'notice']),
  message: sentence,
  subject: v.optional(v.string()),
})

const checkShape = v.strictObject({
  ok: v.boolean(),
  store_id: v.nullable(v.string()),
  epoch: v.nullable(count),
  sequence: v.nullable(count),
  log_records: count,
  documents: count,
  artifacts: count,
  anchor: v.nullable(anchorShape),
  /** The first 20 of each code. */
  problems: v.array(problemShape),
  /** How many there are, of each code of which not all are listed. */
  more: v.optional(v.record(v.string(), count)),
})
/** What a check found; `ok` when nothing but notices. */
export type StateCheckDocument = v.InferOutput<typeof checkShape>

/** The step that helps, by the reason that comes first. */
const nextOf = (problems: readonly Problem[]): string => {
  const has = (name: string): boolean => problems.some(({ code }) => code === name)
  if (has('init_unfinished')) return 'Run `sallyport init` again, with the same arguments.'
  return has('key_missing')
    ? 'Put the key file back into the key folder; `sallyport doctor` tells where that is.'
    : 'See `sallyport help anchor`.'
}

/** Whether a finding is no damage, or damage of nothing but what a repair would fill from. */
const isSpare = ({ severity, code }: Problem): boolean =>
  severity !== 'damage' || code === 'spare_damaged'

const checkFailure = ({ problems }: CheckReport): SallyportError | null => {
  const of = (severity: Problem['severity']): number =>
    problems.filter((one) => one.severity === severity).length
  const details = { damage: of('damage'), blocked: of('blocked') }
  if (details.damage > 0 && problems.every(isSpare)) {
    return fail.damaged('spare_damaged', 'The state is whole, but a repair could not fill it.', {
      next: 'Run `sallyport state compact`: it replaces what a repair would fill from.', details,
    })
  }
  if (details.damage > 0) {
    return fail.damaged('state_damaged', 'The state is damaged or contradicts itself.', {
      next: 'Run `sallyport state repair`; what it leaves needs `sallyport state restore DIR`.',
      details,
    })
  }
  if (details.blocked === 0) return null
  return fail.blocked('state_blocked', 'The state is whole, but nothing may be contacted.', {
    next: nextOf(problems), details,
  })
}

/** Findings of one code that a report lists. */
const listedMax = 20

/** The first findings of each kind, and how many there are of each. */
const firstOf = (
  problems: readonly Problem[],
): { readonly listed: Problem[]; readonly counts: ReadonlyMap<string, number> } => {
  const counts = new Map<string, number>()
  const listed = problems.filter(({ code }) => {
    const seen = (counts.get(code) ?? 0) + 1
    counts.set(code, seen)
    return seen <= listedMax
  })
  return { listed, counts }
}

/** A report of bounded length: the first of each kind, and how many there are. */
const bounded = (report: CheckReport): StateCheckDocument => {
  const { listed: problems, counts } = firstOf(report.problems)
  const more = Object.fromEntries([...counts].filter(([, seen]) => seen > listedMax))
  return { ...report, problems, ...(Object.keys(more).length === 0 ? {} : { more }) }
}

/** Reading everything. Damage is a failure, and so is what forbids contact. */
export const stateCheck = contract({
  name: 'state.check',
  output: checkShape,
  toDocument: bounded,
  failure: checkFailure,
})

const verifyShape = v.strictObject({
  ok: v.boolean(),
  store_id: v.string(),
  created_at: v.string(),
  sequence: count,
  files: count,
  bytes: count,
  documents: count,
  artifacts: count,
  /** What a salvaged backup lacks; null for a whole one. */
  loss: v.nullable(v.strictObject({ damage: v.array(v.string()), artifacts: v.array(v.string()) })),
  /** The first 20 of each code. */
  problems: v.array(problemShape),
  /** How many there are in all. */
  problems_in_all: count,
})
/** What was found of a backup. */
export type StateVerifyDocument = v.InferOutput<typeof verifyShape>

const verifyFailure = ({ problems }: VerifyReport): SallyportError | null => {
  if (problems.some(({ severity }) => severity === 'damage')) {
    return fail.damaged('backup_damaged', 'The backup is not whole.', {
      next: 'Use another backup; `sallyport state backup DIR` makes one.',
    })
  }
  if (!problems.some(({ severity }) => severity === 'blocked')) return null
  return fail.blocked('backup_blocked', 'The backup is whole, but it cannot be opened here.', {
    next: nextOf(problems),
  })
}

/** Whether a backup could be restored. */
export const stateVerify = contract({
  name: 'state.verify',
  input: closedObject({ dir: v.string() }),
  output: verifyShape,
  toDocument: (report: VerifyReport) => ({
    ...report, problems: firstOf(report.problems).listed, problems_in_all: report.problems.length,
  }),
  failure: verifyFailure,
})

/** What was carried over from states that were put aside. */
const keptShape = {
  /** Operations that a former state owed and the present rows do not know: kept as unknown. */
  kept_liabilities: count,
  /** Operations that hold the whole ceiling, until a person who has seen the bill settles them. */
  unread_operations: v.array(v.string()),
  /** Former states that could not be read at all. */
  unreadable_states: count,
  /** Stored artifacts that no record names any more, moved aside: `state prune --show`. */
  kept_artifacts: count,
  /** Owners who wait to be enabled: all but the one who restores or repairs. */
  owners_to_enable: v.array(v.string()),
}

const repairShape = v.strictObject({
  changed: v.boolean(),
  copied_to: v.nullable(v.string()),
  done: v.array(problemShape),
  loss: v.strictObject({
    records_after: v.nullable(count), records_seen: count, bytes: count, documents: count,
  }),
  sequence: count,
  /** Damage that is left, which only a backup may mend; the first 20 of each code. */
  left: v.array(problemShape),
  /** How much of it there is in all. */
  left_in_all: count,
  ...keptShape,
})
/** What a repair did and what it could not bring back. */
export type StateRepairDocument = v.InferOutput<typeof repairShape>

const listsOf = ({ unread_operations: unread, owners_to_enable: owners }: Kept) =>
  ({ unread_operations: [...unread], owners_to_enable: [...owners] })

/**
 * Going back to the last moment that is provably whole; `owner`: who does it, `lost`: files of
 * which what the disk does not give back is given up.
 */
export const stateRepair = contract({
  name: 'state.repair',
  input: closedObject({ owner: v.optional(v.string()), lost: v.optional(v.array(v.string())) }),
  output: repairShape,
  toDocument: ({ left, ...report }: Kept & RepairReport & Left) => ({
    ...report, done: [...report.done], ...listsOf(report),
    left: firstOf(left).listed, left_in_all: left.length,
  }),
})

const backupShape = v.strictObject({
  to: v.string(), store_id: v.string(), sequence: count, files: count, bytes: count,
  /** What a salvaged backup lacks; null for a whole one. */
  loss: v.nullable(v.strictObject({ damage: v.array(v.string()), artifacts: v.array(v.string()) })),
})
export const stateBackup = contract({
  name: 'state.backup',
  input: closedObject({ dir: v.string(), salvage: v.optional(v.boolean()) }),
  output: backupShape,
})

const restoreShape = v.strictObject({
  store_id: v.string(),
  sequence: count,
  copied_to: v.nullable(v.string()),
  anchor: anchorShape,
  ...keptShape,
})
export type StateRestoreDocument = v.InferOutput<typeof restoreShape>

/** Putting a backup in place, revoked. */
export const stateRestore = contract({
  name: 'state.restore',
  input: closedObject({ dir: v.string(), owner: v.optional(v.string()) }),
  output: restoreShape,
  toDocument: (report: Kept & RestoreReport) => ({ ...report, ...listsOf(report) }),
})

const compactShape = v.strictObject({
  epoch: count, sequence: count, log_bytes_before: count, orphans_removed: count,
})
/** Folding the log into snapshots. */
export const stateCompact = contract({ name: 'state.compact', output: compactShape })

const keptArtifactsShape = v.strictObject({
  /** Artifacts whose records were not replayed, by the SHA-256 of their sealed bytes. */
  kept: v.array(v.strictObject({ name: v.string(), bytes: count })),
  /** The one that this run removed. */
  removed: v.nullable(v.string()),
})
/** Listing what is kept aside, and removing one of it for good. */
export const stateKept = contract({
  name: 'state.kept',
  input: closedObject({ remove: v.optional(v.string()) }),
  output: keptArtifactsShape,
  toDocument: ({ kept, removed }: {
    readonly kept: readonly KeptArtifact[]
    readonly removed: string | null
  }) => ({ kept: [...kept], removed }),
})

const pathShape = v.strictObject({
  state_dir: v.string(), config_dir: v.string(), exists: v.boolean(),
})
/** The two folders, and whether there is a state directory. */
export const statePath = contract({ name: 'state.path', output: pathShape })
