/**
 * Whether the rows of a store may be rested on: whether the anchor outside it vouches for it, and
 * whether nothing of it is damaged. An old copy put back, one that went on apart, and one whose
 * newest records cannot be read have sessions, owners, consents and verdicts that were taken back
 * since, so they are worked with only by what looks after a state and by what stops.
 */
import { fail, type SallyportError } from '../base/errors.js'
import { requireOwnKey } from '../state/own-key.js'
import type { AnchorStatus, Store, View } from '../state/types.js'

const texts: Readonly<Record<Exclude<AnchorStatus, 'ok'>, string>> = {
  behind: 'This state directory is older than what its anchor remembers.',
  forked: 'This state directory and its anchor went on apart: two copies of it were used.',
  missing: 'The anchor of this state directory is missing.',
  forged: 'The anchor of this state directory was not sealed with its key.',
}

/** A replica is not made to count by itself: others would not know of it. */
const waysOn: Readonly<Record<Store['keptIn'], string>> = {
  directory: 'Put the newest copy back, or make one count: `sallyport state restore DIR`',
  place: 'Put the newest copy of the server back, or leave this machine out on another one: '
    + '`sallyport state accept-server --without NAME`',
}

const notVouchedFor = (
  status: Exclude<AnchorStatus, 'ok'>, keptIn: Store['keptIn'],
): SallyportError =>
  fail.blocked('store_behind_anchor', `${texts[status]} Nothing is shown, decided or sent.`, {
    reason: 'store_behind_anchor',
    details: { anchor: status },
    next: `${waysOn[keptIn]} (see \`sallyport help anchor\`). `
      + 'To stop every route meanwhile: `sallyport policy revoke`.',
  })

/**
 * Throws `blocked`/`store_behind_anchor` (with `behind`, `forked`, `missing` or `forged`) unless
 * the anchor vouches for the store. A record whose process died before it had moved the anchor was
 * never acknowledged and is no fork, and neither is what damage hides. Where it is the
 * key that is not there, or not the right one, that is told: `key_missing`, `key_damaged`. Gives
 * the rows that it vouches for.
 */
export const requireAnchored = (store: Store): View => {
  const { status, view } = store.anchor()
  // Records that damage hides are no older copy: damage is told for itself, before any of this.
  if (status === 'ok' || store.health().damage !== null) return view
  if (status === 'missing' || status === 'forged') requireOwnKey(store)
  throw notVouchedFor(status, store.keptIn)
}

const waysOnFromDamage = 'Run `sallyport state check`, then `sallyport state repair`; until then '
  + '`sallyport policy revoke` stops every route.'

/**
 * As `requireAnchored`; throws `damaged` besides, with the code of the damage, where rows may be
 * missing: for whoever answers by what is left without a word that it is all there is.
 */
export const requireSound = (store: Store, next = waysOnFromDamage): View => {
  const view = requireAnchored(store)
  // Asked behind the look, which may be what has met it.
  const { damage } = store.health()
  if (damage === null) return view
  throw fail.damaged(
    damage.code, `${damage.message} What is asked for rests on rows that may be missing.`, { next },
  )
}
