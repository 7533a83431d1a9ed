/**
 * Recording stops: whoever writes next, whatever it writes, first makes rows of the stops that
 * wait, in one marked record that names their ids, and then removes their files. A crash in between
 * changes nothing, because a stop whose id is recorded is spent.
 */
import { fail, SallyportError } from '../../base/errors.js'
import { isoFromMs, type Clock } from '../../base/clock.js'
import type { Stop } from '../../state/stop-board.js'
import type { FirstRecord, Store, Tx } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import { requestCancel } from '../board/cancel.js'
import { restrictedConnection, revokedConnection } from '../connections/end-consent.js'
import { requireOwnConnection } from '../connections/find-connection.js'
import { connectionCollection } from '../connections/connection-rows.js'
import { endDevice } from '../devices.js'
import { endConsents } from '../policy/consents.js'
import { publishRevision } from '../policy/publish.js'
import { disableRow } from '../principals.js'
import { collections, type RecordedStop } from '../rows.js'
import { endRootRow } from '../session/end.js'
import { dropLastUse } from '../session/last-use.js'
import { requireRootRow } from '../session/live.js'
import { pendingStops } from './pending.js'
import { noteRecorded } from './recent.js'
import { connectionStops, deviceStop, isOfSave, type ConnectionStop } from './stop.js'

type Facts = RecordedStop['facts']

interface Recording {
  readonly store: Store
  readonly tx: Tx
  readonly now: string
  /** Ids of roots whose last use is forgotten once the record is durable. */
  readonly ended: string[]
}

/** The session that asked, as its rows have it; it may have expired since, but not have ended. */
const askedBy = ({ tx }: Recording, { at, by }: Stop) => requireRootRow(tx, at, by.root ?? '')

/** One revocation stands for every stop of everything that waited. */
const revokeAll = (
  { store, tx, now }: Recording, { id, by: { principal, root } }: Stop, before: Facts | null,
): Facts => {
  if (before !== null) return before
  endConsents(tx, 'granted', 'revoked')
  const policy = publishRevision(tx, store, now, {
    state: 'revoked', reason: 'operator_revoke', principal, carriesFrom: null, global: true,
  })
  appendAudit(tx, now, {
    what: 'policy.revoked', principal, root, subject: String(policy.revision),
    facts: { epoch: policy.epoch, fence: policy.fence, stop: id },
  })
  return { revision: policy.revision }
}

const endRoot = (recording: Recording, stop: Stop): Facts => {
  const { tx, now, ended } = recording
  const { by: { principal, root }, target } = stop
  const isOwn = root === target
  if (!isOwn) askedBy(recording, stop)
  const row = tx.get(collections.roots, target ?? '')
  if (row === undefined) return { ended: false }
  const reason = stop.by.verb === 'logout' ? 'logout' : 'revoked'
  const did = endRootRow(tx, now, row, reason, { principal, root })
  if (did) ended.push(row.root_id)
  return { ended: did }
}

const disable = (recording: Recording, stop: Stop): Facts => {
  const { tx, now, ended } = recording
  const gone = disableRow(tx, now, askedBy(recording, stop), stop.target ?? '')
  ended.push(...gone)
  return { sessions_ended: gone.length }
}

const cancel = (recording: Recording, stop: Stop): Facts => {
  const { tx, now } = recording
  return { state: requestCancel(tx, now, askedBy(recording, stop), stop.target ?? '').state }
}

/** Takes back what may be written through a connection of whoever asked. */
const restrict = (recording: Recording, stop: Stop): Facts => {
  const { tx, now } = recording
  const asked = askedBy(recording, stop)
  const before = requireOwnConnection(tx, asked, stop.target ?? '')
  const mode = connectionStops[stop.kind as ConnectionStop]
  const after = mode === null
    ? revokedConnection(before, now) : restrictedConnection(before, now, mode)
  if (after === before) return { changed: false }
  tx.put(connectionCollection, after.connection_id, after)
  const { revision, consent_fence: fence } = after
  appendAudit(tx, now, {
    what: mode === null ? 'connection.revoked' : 'connection.mode',
    principal: asked.principal.principal_id, root: asked.root.root_id,
    subject: after.connection_id, facts: { revision, fence, mode: after.mode },
  })
  return { changed: true, revision, fence }
}

const unpair = (recording: Recording, stop: Stop): Facts => {
  const { tx, now } = recording
  const { principal, root } = askedBy(recording, stop)
  const by = { principal: principal.principal_id, root: root.root_id }
  return { ended: endDevice(tx, now, stop.target ?? '', by) }
}

/** A save puts its stops before its record and spends them in it: this one was never made. */
const unsaved = (): Facts => {
  throw fail.conflict('save_not_made', 'The save that this stop was a part of was not made.')
}

/** What each kind ends; any other kind ends everything. */
const kinds: Readonly<Record<string, (recording: Recording, stop: Stop) => Facts>> = {
  principal: disable, root: endRoot, task: cancel, [deviceStop]: unpair,
  connection: restrict, connection_disabled: restrict, connection_reconcile_only: restrict,
  alpha: unsaved, gateway_slot: unsaved, shots_purpose: unsaved, folder: unsaved,
  saved_connection: unsaved,
}

const putRecorded = (
  { tx, now }: Pick<Recording, 'tx' | 'now'>, { id, kind, target, by, at }: Stop,
  end: Pick<RecordedStop, 'outcome' | 'reason' | 'facts'>,
): void => tx.put(collections.stops, id, {
  stop_id: id, kind, target, by, at, recorded_at: now, ...end,
})

/**
 * Spends a stop of a save in the record that closes what it is aimed at: what began to leave under
 * the rows of before is told, though its file is gone.
 */
export const putSpent = (tx: Tx, now: string, stop: Stop): void => {
  putRecorded({ tx, now }, stop, { outcome: 'recorded', reason: null, facts: {} })
  noteRecorded(tx, stop)
}

/** A refusal changes no row but that the stop is spent; whoever asked is named in the audit. */
const recordOne = (recording: Recording, stop: Stop, revoked: Facts | null): Facts | null => {
  const act = kinds[stop.kind]
  const { tx, now } = recording
  try {
    const facts = act === undefined ? revokeAll(recording, stop, revoked) : act(recording, stop)
    putRecorded(recording, stop, { outcome: 'recorded', reason: null, facts })
    noteRecorded(tx, stop)
    return act === undefined ? facts : revoked
  } catch (error) {
    if (!(error instanceof SallyportError) || error.kind === 'damaged') throw error
    const { code } = error
    putRecorded(recording, stop, { outcome: 'refused', reason: code, facts: {} })
    const { principal, root } = stop.by
    appendAudit(tx, now, {
      what: 'stop.refused', principal, root, subject: stop.id,
      facts: { kind: stop.kind, target: stop.target, reason: code },
    })
    return revoked
  }
}

/** Writes rows for `pending` in the caller's record. */
const writeRows = (store: Store, clock: Clock, tx: Tx, pending: readonly Stop[]): void => {
  const recording: Recording = { store, tx, now: isoFromMs(clock.wallMs()), ended: [] }
  let revoked: Facts | null = null
  for (const stop of pending) revoked = recordOne(recording, stop, revoked)
  tx.mark()
  tx.afterSync(() => {
    for (const id of recording.ended) dropLastUse(store.dir, id)
  })
}

/**
 * What waits to be recorded, for `OpenOptions.recordFirst`: null where nothing does. What a living
 * save has put is left to its record: spent before, it would let through what begins until then.
 * In a store that is not the newest of its kind the files stay: the newest has to record them too.
 */
export const recordStops = (store: Store, clock: Clock): FirstRecord | null => {
  const lying = store.stops.lying()
    .filter(({ id, kind, name }) => name !== null
      && !(isOfSave(kind) && store.holds.isHeld('stop', id)))
  if (lying.length === 0) return null
  return {
    write: (tx) => {
      const pending = pendingStops(lying, tx)
      if (pending.length > 0) writeRows(store, clock, tx, pending)
    },
    done: () => {
      if (store.anchor().status !== 'ok') return
      for (const stop of lying) store.stops.drop(stop)
      store.stops.sweep(clock.wallMs())
    },
  }
}

/** Records one stop whose file could not be written, in the caller's record. */
export const recordDirectly = (store: Store, clock: Clock, tx: Tx, stop: Stop): void => {
  writeRows(store, clock, tx, [stop])
}
