/**
 * What people had taken back in a state that was replaced: disabled owners, ended sessions,
 * withdrawn consents, closed goals, rejected results, gates that a capability had closed. An old
 * copy that comes into force knows none of it, so it is carried over (the ceiling is the ledger's).
 * Everything here only narrows; whoever wants more grants it anew.
 */
import { SallyportError } from '../base/errors.js'
import { findEach } from '../state/each.js'
import type { Tx, View } from '../state/types.js'
import { appendAudit } from './audit.js'
import { findTask, putTask } from './board/place.js'
import type { Carrier } from './carrier.js'
import { carryConnections } from './connections/carry.js'
import { carryEndedDevices, endEveryDevice } from './devices.js'
import { putDefaultGoal } from './goals.js'
import { defaultPrincipal, listPrincipals } from './principals.js'
import { collections, type Principal } from './rows.js'

/** A former state, as far as it can still be read. */
export interface FormerState {
  readonly view: View
  /** Parts that nobody can read: what was done in them is not known. */
  readonly holes: readonly unknown[]
  /** Whether anything could be read. */
  readonly readable: boolean
  /** Whether all of it was carried over before. */
  readonly settled: boolean
}

const isWider = (mine: Principal, theirs: Principal): boolean =>
  theirs.disabled_at !== null
  && (mine.disabled_at === null
    || (mine.disabled_by_restore === true && theirs.disabled_by_restore !== true))

const disabledAs = ({ disabled_by_restore: _, ...mine }: Principal, theirs: Principal): Principal =>
  ({
    ...mine, disabled_at: theirs.disabled_at,
    ...(theirs.disabled_by_restore === true ? { disabled_by_restore: true } : {}),
  })

const carryOwners: Carrier = (tx, _now, former) => {
  const wider = listPrincipals(former).flatMap((theirs) => {
    const mine = tx.get(collections.principals, theirs.principal_id)
    return mine !== undefined && isWider(mine, theirs) ? [disabledAs(mine, theirs)] : []
  })
  for (const row of wider) tx.put(collections.principals, row.principal_id, row)
  return wider.length
}

const carrySessions: Carrier = (tx, _now, former) => {
  const ended = findEach(former, collections.roots, ({ id, doc }) => {
    const mine = tx.get(collections.roots, id)
    return doc.ended !== null && mine?.ended === null
      ? [{ id, root: { ...mine, ended: doc.ended } }] : []
  })
  for (const { id, root } of ended) tx.put(collections.roots, id, root)
  return ended.length
}

const carryConsents: Carrier = (tx, _now, former) => {
  const over = former.all(collections.consents).filter(({ id, doc }) =>
    doc.state !== 'granted' && tx.get(collections.consents, id)?.state === 'granted')
  for (const { id, doc } of over) {
    const mine = tx.get(collections.consents, id)
    if (mine !== undefined) tx.put(collections.consents, id, { ...mine, state: doc.state })
  }
  return over.length
}

/** A goal of a later revision: tasks of earlier ones are neither contacted, adopted nor read. */
const carryGoals: Carrier = (tx, _now, former) => {
  const later = former.all(collections.goals).filter(({ id, doc }) =>
    doc.revision > (tx.get(collections.goals, id)?.revision ?? Infinity))
  for (const { id, doc } of later) tx.put(collections.goals, id, doc)
  return later.length
}

const carryRejections: Carrier = (tx, now, former) => {
  const rejected = findEach(former, collections.closedTasks, ({ id, doc }) => {
    const mine = doc.review === 'rejected' ? findTask(tx, id) : undefined
    return mine?.review === 'pending' ? [mine] : []
  })
  for (const mine of rejected) putTask(tx, { ...mine, review: 'rejected', updated_at: now })
  return rejected.length
}

const carriersOfAll = {
  owners: carryOwners, sessions: carrySessions, consents: carryConsents, goals: carryGoals,
  reviews: carryRejections, connections: carryConnections, devices: carryEndedDevices,
} as const satisfies Record<string, Carrier>

/** The owners who may log in where a copy came into force, and who may not any more. */
interface Vouching {
  /** Names of owners that must be enabled anew: nothing says whether they still were. */
  readonly unvouched: readonly string[]
}

const enabled = (view: View): readonly Principal[] =>
  listPrincipals(view).filter(({ disabled_at }) => disabled_at === null)

/** Where the copy knows no owner who may still log in, those whom the former state knew are. */
const keepSomebody = (tx: Tx, now: string, formers: readonly FormerState[]): void => {
  if (enabled(tx).length > 0) return
  for (const row of formers.flatMap(({ view }) => enabled(view))) {
    if (tx.get(collections.principals, row.principal_id) !== undefined) continue
    tx.put(collections.principals, row.principal_id, row)
    putDefaultGoal(tx, now, row.principal_id)
  }
}

/** Who restores: the owner of this name, else the one whom `init` made, else the oldest. */
const restorerOf = (view: View, name: string | null): Principal | undefined => {
  const able = enabled(view)
  const first = defaultPrincipal(view).principal_id
  return able.find((one) => one.name === name)
    ?? able.find(({ principal_id: id }) => id === first) ?? able[0]
}

/** Nobody but the one who restores may log in until somebody who may names them. */
const disableUnvouched = (tx: Tx, now: string, name: string | null): readonly string[] => {
  if (enabled(tx).length === 0) return []
  const restorer = restorerOf(tx, name)
  const others = enabled(tx).filter((one) => one !== restorer)
  for (const row of others) {
    tx.put(collections.principals, row.principal_id, {
      ...row, disabled_at: now, disabled_by_restore: true,
    })
  }
  return others.map((row) => row.name)
}

/** Runs every carrier, so that what is damaged costs nothing else; answers counts by name. */
const carryFrom = (
  tx: Tx, now: string, former: View, carriers: Readonly<Record<string, Carrier>>,
): { readonly counts: Readonly<Record<string, number>>; readonly whole: boolean } => {
  const counts: Record<string, number> = {}
  let whole = true
  for (const [name, carry] of Object.entries(carriers)) {
    try {
      counts[name] = carry(tx, now, former)
    } catch (error) {
      if (!(error instanceof SallyportError)) throw error
      whole = false
    }
  }
  return { counts, whole }
}

/**
 * Carries over what the former states (oldest first) had narrowed and this one has not, in the
 * caller's record, once the ceiling has been carried. Those that were carried over before are left
 * out. Where none of them could be read whole, every pairing of a device ends and every owner but
 * `restorer` (a name; null: whoever `init` made) is disabled until somebody enables it by name.
 * Audited.
 */
export const carryNarrowings = (
  tx: Tx, now: string, formers: readonly FormerState[],
  { carriers = {}, restorer = null }: {
    readonly carriers?: Readonly<Record<string, Carrier>> | undefined
    readonly restorer?: string | null | undefined
  } = {},
): Vouching => {
  const fresh = formers.filter(({ settled, readable }) => !settled && readable)
  const carried = fresh.map(({ view }) =>
    carryFrom(tx, now, view, { ...carriersOfAll, ...carriers }))
  keepSomebody(tx, now, fresh)
  const whole = fresh.length > 0
    && fresh.every(({ holes }) => holes.length === 0) && carried.every((one) => one.whole)
  const unvouched = whole ? [] : disableUnvouched(tx, now, restorer)
  if (!whole) endEveryDevice(tx, now)
  const facts: Record<string, number> = { unvouched: unvouched.length }
  for (const { counts } of carried) {
    for (const [name, count] of Object.entries(counts)) facts[name] = (facts[name] ?? 0) + count
  }
  if (Object.values(facts).some((count) => count > 0)) {
    appendAudit(tx, now, {
      what: 'state.narrowings_carried', principal: null, root: null, subject: null, facts,
    })
  }
  return { unvouched }
}
