/**
 * A question that was handed in before it is asked: sealed at once, named by an id, and gone after
 * a quarter of an hour unless a task was made of it.
 */
import * as v from 'valibot'
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { contract } from '../../base/contract.js'
import { fail } from '../../base/errors.js'
import { closedObject } from '../../base/schema.js'
import { newId } from '../../base/ids.js'
import {
  discardStored, discardUnnamed, dropArtifact, registerArtifact, requireArtifact,
} from '../../governance/artifacts.js'
import type { Gov, Session } from '../../governance/context.js'
import { collections, type ArtifactRow } from '../../governance/rows.js'
import { liveRoot } from '../../governance/session/live.js'
import type { CollectionSpec, Tx, View } from '../../state/types.js'
import { alphaArtifactLabels } from '../constants.js'
import { alphaInputShape, encodeInput, parseAlphaInput, type AlphaTextInput } from '../input.js'

/** How long a question waits for its task, ms. */
export const keptInputMs = 15 * 60_000
/** Questions of one owner that may wait at once. */
const waitingMax = 16

const keptShape = v.strictObject({
  artifact_id: v.string(), owner: v.string(), expires_at: v.string(),
})
/** A question that waits for its task. */
type KeptInput = v.InferOutput<typeof keptShape>

/** Those that wait: few, and gone when their time is over. */
export const keptInputCollection: CollectionSpec<KeptInput> = {
  name: 'alpha_inputs', schema: keptShape, partition: 'one',
}

const waitingShape = v.strictObject({ input_artifact_id: v.string(), expires_at: v.string() })

const waitingDocument = ({ artifact_id: id, expires_at: end }: KeptInput) =>
  ({ input_artifact_id: id, expires_at: end })

/** Handing a question in. */
export const alphaInput = contract({
  name: 'alpha.input', input: alphaInputShape, output: waitingShape,
  toDocument: waitingDocument,
})

/** Those that wait, oldest first: what they ask is not told. */
export const alphaInputs = contract({
  name: 'alpha.inputs', output: v.array(waitingShape),
  toDocument: (waiting: readonly KeptInput[]) => waiting.map(waitingDocument),
})

/** Dropping one that waits. */
export const alphaDrop = contract({
  name: 'alpha.drop', input: closedObject({ input: v.string() }),
  output: v.strictObject({ input_artifact_id: v.string(), dropped: v.literal(true) }),
  toDocument: (artifactId: string) =>
    ({ input_artifact_id: artifactId, dropped: true as const }),
})

/** How far a clock may be set back without taking a question that waits away, ms. */
const setBackMsMax = 60_000

/**
 * Whether a question waits no more. One that would wait longer than any may was handed in under a
 * clock that stood ahead of this one.
 */
const isOver = ({ expires_at: end }: KeptInput, nowMs: number): boolean => {
  const leftMs = msFromIso(end) - nowMs
  return leftMs <= 0 || leftMs > keptInputMs + setBackMsMax
}

const overdue = (view: View, nowMs: number): readonly KeptInput[] =>
  view.all(keptInputCollection).map(({ doc }) => doc)
    .filter((one) => isOver(one, nowMs))

/** Drops the row of one that waited; gives the stored name, to be removed once that is durable. */
const drop = (tx: Tx, { artifact_id: id }: KeptInput): string | null => {
  tx.remove(keptInputCollection, id)
  return dropArtifact(tx, id)
}

/** Questions of an owner, oldest first. */
const ofOwner = (view: View, owner: string): readonly KeptInput[] =>
  view.all(keptInputCollection).map(({ doc }) => doc).filter((one) => one.owner === owner)

/** The questions of whoever asks that wait for their task, oldest first. */
export const waitingInputs = (
  { clock }: Gov, view: View, { principal }: Session,
): readonly KeptInput[] => ofOwner(view, principal.principal_id)
  .filter((one) => !isOver(one, clock.wallMs()))

/** Removes questions whose time is over; takes the lock only where there is one. */
export const sweepInputs = async (gov: Gov): Promise<number> => {
  const { store, clock } = gov
  if (overdue(store.read(), clock.wallMs()).length === 0) return 0
  const names = await store.transact('alpha input', (tx) =>
    overdue(tx, clock.wallMs()).map((one) => drop(tx, one)))
  for (const name of names) discardStored(store, name)
  return names.length
}

/**
 * Keeps a question, exactly as its bytes say it. Throws `rejected` for what is no input, `conflict`
 * `inputs_waiting` where too many of the owner's wait, `unauthorized`.
 */
export const keepInput = async (
  gov: Gov, session: Session, bytes: Uint8Array,
): Promise<KeptInput> => {
  const { store, clock } = gov
  const input = parseAlphaInput(bytes)
  await sweepInputs(gov)
  const ref = store.artifacts.write(alphaArtifactLabels.input, encodeInput(input))
  const owner = session.principal.principal_id
  const artifactId = newId('art')
  return discardUnnamed(store, [ref.stored_sha256], (tried) =>
    store.transact('alpha input', tried((named, tx) => {
      liveRoot(tx, gov, session.root.root_id)
      if (ofOwner(tx, owner).length >= waitingMax) {
        throw fail.conflict('inputs_waiting', `At most ${waitingMax} questions wait for a task.`, {
          next: 'Make a task of one, wait a quarter of an hour, or drop one of '
            + '`sallyport alpha inputs` by `sallyport alpha drop INPUT`.',
          details: { waiting_max: waitingMax },
        })
      }
      const nowMs = clock.wallMs()
      const row = { artifact_id: artifactId, owner, expires_at: isoFromMs(nowMs + keptInputMs) }
      registerArtifact(tx, isoFromMs(nowMs), {
        artifactId, label: alphaArtifactLabels.input, ref, owner, taskId: null, adopted: false,
      })
      tx.put(keptInputCollection, artifactId, row)
      named()
      return row
    })))
}

const gone = () => fail.notFound('input_not_found', 'There is no such input artifact.', {
  next: 'Hand the question in again; an input waits a quarter of an hour for its task.',
})

const isInputOf = ({ principal }: Session, { label, owner }: ArtifactRow): boolean =>
  label === alphaArtifactLabels.input && owner === principal.principal_id

/**
 * The question of an own input, whether its task was made already or not. Throws `not_found`
 * `input_not_found`, also for another owner's.
 */
export const readKeptInput = (
  { store }: Gov, view: View, session: Session, artifactId: string,
): AlphaTextInput => {
  const row = view.get(collections.artifacts, artifactId)
  if (row === undefined || !isInputOf(session, row)) throw gone()
  return parseAlphaInput(store.artifacts.read(row.label, row.ref))
}

const used = () => fail.conflict('input_used', 'A task was made of this input already.', {
  next: 'Hand the question in again for another task.',
})

/**
 * Removes a question of one's own that waits, with what it asks. Throws `not_found`
 * `input_not_found`, also for another owner's; `conflict` `input_used` where a task was made of it;
 * `unauthorized`.
 */
export const dropInput = async (
  gov: Gov, session: Session, artifactId: string,
): Promise<string> => {
  const { store } = gov
  const name = await store.transact('alpha drop', (tx) => {
    liveRoot(tx, gov, session.root.root_id)
    const row = tx.get(collections.artifacts, artifactId)
    if (row === undefined || !isInputOf(session, row)) throw gone()
    const kept = tx.get(keptInputCollection, artifactId)
    if (kept === undefined) throw used()
    return drop(tx, kept)
  })
  discardStored(store, name)
  return artifactId
}

/** Gives a question that waits to its task. Throws `conflict` `input_used`, `not_found`. */
export const takeKeptInput = (
  tx: Tx, nowMs: number, session: Session, artifactId: string, taskId: string,
): void => {
  const kept = tx.get(keptInputCollection, artifactId)
  const row = requireArtifact(tx, artifactId)
  if (row.owner !== session.principal.principal_id) throw gone()
  if (kept === undefined) throw used()
  if (isOver(kept, nowMs)) throw gone()
  tx.remove(keptInputCollection, artifactId)
  tx.put(collections.artifacts, artifactId, { ...row, task_id: taskId, adopted: true })
}
