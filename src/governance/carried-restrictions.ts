/**
 * What holds where an old copy came into force, or a repair brought a state back without all of its
 * records. Everything is closed, whatever could be read of the state before: every pairing ends and
 * every owner but one waits, as every session and consent ends (`revokeRestored`). What people had
 * taken back and no closing covers is carried over: owners that a person disabled, closed goals,
 * rejected results, gates of connections and capabilities (the ceiling is the ledger's). Everything
 * here only narrows; whoever wants more grants it anew.
 */
import { SallyportError } from '../base/errors.js'
import type { Former } from '../state/care/former.js'
import { findEach } from '../state/each.js'
import type { Tx, View } from '../state/types.js'
import { appendAudit } from './audit.js'
import { findTask, putTask } from './board/place.js'
import type { Carrier } from './carrier.js'
import { carryConnections } from './connections/carry.js'
import { carryEndedDevices, endEveryDevice } from './devices.js'
import { enabledAgain } from './enable.js'
import { putDefaultGoal } from './goals.js'
import { endAgreementsOf } from './policy/consents.js'
import {
  defaultPrincipalId, disabledForGood, isDisabledForGood, listPrincipals, putDefaultPrincipal,
} from './principals.js'
import { collections, type Principal } from './rows.js'

/** A former state, as far as it can still be read. */
type FormerState = Pick<Former, 'view' | 'settled'>

/** Owners whom a person disabled. That an earlier restore left one waiting is nobody's word. */
const carryOwners: Carrier = (tx, now, former) => {
  const disabled = listPrincipals(former).filter(isDisabledForGood).flatMap((theirs) => {
    const mine = tx.get(collections.principals, theirs.principal_id)
    return mine === undefined || isDisabledForGood(mine) ? []
      : [{ ...disabledForGood(mine, now), disabled_at: theirs.disabled_at }]
  })
  for (const row of disabled) tx.put(collections.principals, row.principal_id, row)
  return disabled.length
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
  owners: carryOwners, goals: carryGoals, reviews: carryRejections,
  connections: carryConnections, devices: carryEndedDevices,
} as const satisfies Record<string, Carrier>

const enabled = (view: View): readonly Principal[] =>
  listPrincipals(view).filter(({ disabled_at }) => disabled_at === null)

/** Where the copy knows nobody who may still log in, whoever could in the former state is. */
const keepSomebody = (tx: Tx, now: string, formers: readonly FormerState[]): void => {
  if (enabled(tx).length > 0) return
  const gone = new Set([tx, ...formers.map(({ view }) => view)].flatMap((view) =>
    listPrincipals(view).filter(isDisabledForGood).map(({ principal_id: id }) => id)))
  for (const row of formers.flatMap(({ view }) => enabled(view))) {
    const { principal_id: id } = row
    if (gone.has(id)) continue
    if (tx.get(collections.principals, id) === undefined) putDefaultGoal(tx, now, id)
    tx.put(collections.principals, id, row)
  }
}

/** One who waits since an earlier restore restores as well: whoever was not named then. */
const enableNamed = (tx: Tx, name: string | null): void => {
  const waits = listPrincipals(tx).find((one) =>
    one.name === name && one.disabled_at !== null && !isDisabledForGood(one))
  if (waits === undefined) return
  tx.put(collections.principals, waits.principal_id, enabledAgain(waits))
  endAgreementsOf(tx, waits.principal_id)
}

/** Who restores: the owner of this name, else the one whom `init` made, else the oldest. */
const restorerOf = (view: View, name: string | null): Principal | undefined => {
  const able = enabled(view)
  const first = defaultPrincipalId(view)
  return able.find((one) => one.name === name)
    ?? able.find(({ principal_id: id }) => id === first) ?? able[0]
}

/** Where damage took the row of the one whom `init` made, nobody could do what only they may. */
const keepDefault = (tx: Tx, restorer: Principal): void => {
  const first = defaultPrincipalId(tx)
  if (first === undefined || tx.get(collections.principals, first) !== undefined) return
  putDefaultPrincipal(tx, restorer)
}

/** Nobody but the one who restores may log in until somebody who may names them. */
const disableOthers = (tx: Tx, now: string, name: string | null): readonly string[] => {
  enableNamed(tx, name)
  const restorer = restorerOf(tx, name)
  if (restorer === undefined) return []
  keepDefault(tx, restorer)
  const others = enabled(tx).filter((one) => one !== restorer)
  for (const row of others) {
    tx.put(collections.principals, row.principal_id, {
      ...row, disabled_at: now, disabled_by_restore: true,
    })
  }
  return others.map((row) => row.name)
}

/** Runs every carrier, so that what is damaged costs nothing else; adds to the counts by name. */
const carryFrom = (
  tx: Tx, now: string, former: View, carriers: Readonly<Record<string, Carrier>>,
  counts: Map<string, number>,
): void => {
  for (const [name, carry] of Object.entries(carriers)) {
    try {
      counts.set(name, (counts.get(name) ?? 0) + carry(tx, now, former))
    } catch (error) {
      if (!(error instanceof SallyportError)) throw error
    }
  }
}

/**
 * Carries over what the former states (oldest first) had narrowed and this one has not, in the
 * caller's record, once the ceiling has been carried. Those that were carried over before are left
 * out. Then ends every pairing of a device, and disables every owner but `restorer` (a name; null:
 * whoever `init` made) until somebody enables it by name; answers those names. Audited.
 */
export const closeAndCarry = (
  tx: Tx, now: string, formers: readonly FormerState[],
  { carriers = {}, restorer = null }: {
    readonly carriers?: Readonly<Record<string, Carrier>> | undefined
    readonly restorer?: string | null | undefined
  } = {},
): readonly string[] => {
  const fresh = formers.filter(({ settled }) => !settled)
  const counts = new Map<string, number>()
  for (const { view } of fresh) carryFrom(tx, now, view, { ...carriersOfAll, ...carriers }, counts)
  keepSomebody(tx, now, fresh)
  const waiting = disableOthers(tx, now, restorer)
  endEveryDevice(tx, now)
  appendAudit(tx, now, {
    what: 'state.narrowings_carried', principal: null, root: null, subject: null,
    facts: { unvouched: waiting.length, ...Object.fromEntries(counts) },
  })
  return waiting
}
