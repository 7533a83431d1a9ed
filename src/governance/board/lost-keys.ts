/**
 * Idempotency keys in ranges that damage took: nobody knows whether one was used, so each counts
 * as spent, whatever it says of its own age, since clocks are wrong and clients date keys as they
 * like. Keys that the program makes after a loss carry a mark of what was lost by then. A person
 * who knows better releases a range.
 */
import { randomUUID } from 'node:crypto'
import { v7 } from 'uuid'
import { digestOf } from '../../base/canonical.js'
import { fail } from '../../base/errors.js'
import type { Entry, View } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import { nowIso, type Gov, type Session } from '../context.js'
import { collections, type LostKeys } from '../rows.js'
import { requireRootRow } from '../session/live.js'

const markDigits = 12

/** What every key begins with that the program makes from the last loss on; null before any. */
const markOf = (ranges: readonly Entry<LostKeys>[]): string | null =>
  ranges.length === 0 ? null
    : digestOf(ranges.map(({ id, doc: { from, to, at } }) => [id, from, to, at]))
      .slice(0, markDigits)

/**
 * A key for a request that names none: a UUID. After a loss it begins with the mark of that loss,
 * in version 8, and with the time else (version 7), so that keys of one time lie side by side.
 */
export const newRequestKey = (view: View): string => {
  const mark = markOf(view.all(collections.lostKeys))
  if (mark === null) return v7()
  return `${mark.slice(0, 8)}-${mark.slice(8)}-8${randomUUID().slice(15)}`
}

const isMarked = (key: string, mark: string | null): boolean =>
  mark !== null && key.startsWith(`${mark.slice(0, 8)}-${mark.slice(8)}-8`)

/**
 * Whether a key lies in a range that damage took and no person has released, so that nobody knows
 * whether it was used. One that the program made after the last loss was not.
 */
export const isLostKey = (view: View, key: string): boolean => {
  const ranges = view.all(collections.lostKeys)
  return !isMarked(key, markOf(ranges)) && ranges.some(({ doc: { from, to, released } }) =>
    released === undefined && key >= from && (to === null || key < to))
}

/** Ranges of keys that damage took, released ones too. */
export const lostKeyRanges = (view: View): readonly Entry<LostKeys>[] =>
  view.all(collections.lostKeys)

/**
 * Releases a range: keys in it that no row knows may be used again, and what was sent under one
 * before may be sent and paid a second time. Audited; may run twice. Throws `not_found`
 * `lost_keys_not_found`, `unauthorized` when the session has ended.
 */
export const releaseLostKeys = (gov: Gov, session: Session, id: string): Promise<void> =>
  gov.store.transact('state keys', (tx) => {
    const now = nowIso(gov)
    const { root } = requireRootRow(tx, now, session.root.root_id)
    const range = tx.get(collections.lostKeys, id)
    if (range === undefined) {
      throw fail.notFound('lost_keys_not_found', 'Damage took no range of keys of this id.', {
        next: 'List them with: `sallyport state keys`.',
      })
    }
    if (range.released !== undefined) return
    const principal = session.principal.principal_id
    tx.put(collections.lostKeys, id, { ...range, released: { at: now, principal } })
    appendAudit(tx, now, {
      what: 'idempotency.released', principal, root: root.root_id, subject: id,
      facts: { from: range.from, to: range.to },
    })
  })
