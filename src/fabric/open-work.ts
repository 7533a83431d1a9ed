/**
 * Opening a state directory for work, the same for every face: verbs, scheduled jobs and servers.
 * A face brings what only it knows (where the state lies, which token was given, who watches) and
 * gets a `Gov` that says which face the order came through.
 */
import { systemClock, type Clock } from '../base/clock.js'
import { SallyportError } from '../base/errors.js'
import { silentObserver, type Observer } from '../base/observer.js'
import { requireAnchored, requireSound } from '../governance/anchored.js'
import type { Registry } from '../governance/capability.js'
import { clockFor, type Face, type Gov, type Session } from '../governance/context.js'
import { requireInitialized } from '../governance/initialized.js'
import type { RecoveryReport } from '../contact/recovery.js'
import { authenticate, authenticateRoot } from '../governance/session/authenticate.js'
import { retiredMachines } from '../governance/audit.js'
import { followWitness } from '../governance/policy/witness.js'
import { recordStops } from '../governance/stops/record.js'
import { openingAny, openStore } from '../state/store.js'
import type { Store, View } from '../state/types.js'
import type { Seen } from './seen.js'

/** Where a state lies and what it is worked on with. */
export interface WorkPlace {
  readonly stateDir: string
  /** Folder of the store's key and anchor. */
  readonly configDir: string
  /** Milliseconds to wait for the lock of the state (default 10,000). */
  readonly waitMs?: number | undefined
  /** Ends a wait for that lock; nothing else of a use case is ended by it. */
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock
  readonly observer?: Observer
  /** False: this process leaves folding to others (default: as the mode says). */
  readonly folds?: boolean
  /** See `OpenOptions.foldsForOthers`. */
  readonly foldsForOthers?: boolean
  /** See `OpenOptions.readsWait`. */
  readonly readsWait?: boolean
}

/**
 * How a state is opened.
 * - `read`: takes no lock and changes no byte;
 * - `see`: the same, over the rows as recovery would leave them, for whoever shows how work stands;
 * - `write`: may write; what dead processes left stays until its caller has it recovered;
 * - `stop`: as `write`, for what only ever stops something: where nobody answers for a state that
 *   machines share, it is in force on this machine over the rows that are known here;
 * - `mutate`: may write, and what dead processes left is resolved before anything else;
 * - `alone`: may write its own record and changes nothing else: what dead processes left stays, as
 *   do stops that wait to be recorded and a long log, and no use of the session is noted.
 */
export type WorkMode = 'read' | 'see' | 'write' | 'stop' | 'mutate' | 'alone'

/**
 * What work asks of the anchor of the state that it is about to see or change: that it vouches for
 * it, or, where the work looks after a state or only ever stops something, nothing. `sound`: that
 * it vouches for all of it, so that nothing of it is damaged, for a face that marks no answer.
 */
export type AnchorRule = 'sound' | 'vouches' | 'any'

/** What is opened, and for whom. */
interface WorkOrder extends WorkPlace {
  /** Written into provenance, trust requests and audit. */
  readonly face: Face
  readonly mode: WorkMode
  /** Default: `vouches`. */
  readonly anchor?: AnchorRule
  /** The session token that was given, null where there was none; left out: nobody is asked for. */
  readonly token?: string | null
  /** In place of a token: a session whose token was judged before by whoever asks. */
  readonly root?: string
  /** Whether a use of the session is noted (default true, in mode `alone` false). */
  readonly touch?: boolean
  /** A use is noted only so long after the one before, ms. */
  readonly touchEveryMs?: number | undefined
  /** A store that is open in a fitting mode already: it is used, and left open by `close`. */
  readonly store?: Store
  /** The capabilities that there are (default: those of this program). */
  readonly registry?: Registry
}

/** A state that is open for work. */
export interface Work<S extends Session | null = Session | null> {
  readonly gov: Gov
  /** Who the token belongs to; null where no token was asked for. */
  readonly session: S
  /** What `mutate` resolved, or `see` would; null in the other modes, and where `see` saw none. */
  readonly recovered: RecoveryReport | null
  /** Closes the store unless the order brought it; a log that was made long is folded then. */
  close(): void
}

/** Opens the state directory. Throws `no_state` where there is no whole one, and `damaged`. */
export const openState = (place: WorkPlace, mode: WorkMode): Store => {
  const store = openStore({
    dir: place.stateDir,
    configDir: place.configDir,
    mode: mode === 'read' || mode === 'see' ? 'read' : 'write',
    clock: place.clock ?? systemClock,
    signal: place.signal,
    ...(mode === 'alone' || place.folds === false ? { folds: false } : {}),
    ...(place.foldsForOthers === true ? { foldsForOthers: true } : {}),
    ...(place.readsWait === false ? { readsWait: false } : {}),
    ...(mode === 'alone' ? {} : {
      recordFirst: (opened: Store) => recordStops(opened, opened.clock),
    }),
    ...(place.waitMs === undefined ? {} : { waitMs: place.waitMs }),
    onFollowed: followWitness,
    retired: retiredMachines,
  })
  try {
    // A replica that was cut off while it was made reads the rest before it is judged: `openWork`.
    if (store.machine === null || mode === 'read' || mode === 'see') {
      requireInitialized(store, false)
    }
    return store
  } catch (error) {
    store.close()
    throw error
  }
}

interface OpenWork {
  (
    order: WorkOrder & ({ readonly token: string | null } | { readonly root: string }),
  ): Promise<Work<Session>>
  (order: WorkOrder): Promise<Work>
}

/**
 * Opens the state, requires that `init` came to its end, authenticates the token where one is asked
 * for, and resolves what dead processes left before mutating work. Throws `no_state`, `damaged`,
 * `blocked`/`store_behind_anchor` where the anchor does not vouch for the state and the work asks
 * for that (also `key_missing`), `unauthorized` (before anything is written), and in mode `mutate`
 * what the lock throws.
 */
export const openWork = (async (order: WorkOrder): Promise<Work> => {
  const { face, mode, anchor = 'vouches' } = order
  const { observer = silentObserver } = order
  const store = order.store ?? await openingAny(() => openState(order, mode))
  const clock = clockFor(store, order.clock ?? systemClock)
  const close = (): void => {
    if (order.store === undefined) store.close()
  }
  try {
    const gov: Gov = { store, clock, observer, face }
    const unfollowed = await follow(store, order)
    if (store.machine !== null) requireInitialized(store, unfollowed === null)
    // Before anybody is asked for: the rows of an old copy know sessions that have ended since.
    const view = rowsFor(store, anchor)
    const session = operatorOf(gov, order, view, unfollowed)
    if (mode === 'see') {
      const seen = await seeing(gov, order.registry)
      return { gov: seen.gov, session, recovered: seen.interrupted, close }
    }
    const recovered = mode === 'mutate' ? await recovery(gov, order.registry) : null
    return { gov, session, recovered, close }
  } catch (error) {
    close()
    throw error
  }
}) as OpenWork

/** The rows that work of this rule sees. Throws where the state is not as it asks. */
export const rowsFor = (store: Store, anchor: AnchorRule): View => {
  if (anchor === 'any') return store.read()
  return anchor === 'sound' ? requireSound(store) : requireAnchored(store)
}

/**
 * Whoever writes to a state that several machines share sees first what the others wrote. What only
 * ever stops something need not: it is in force without. Gives why nothing was followed then.
 */
const follow = async (
  store: Store, { mode, anchor }: WorkOrder,
): Promise<SallyportError | null> => {
  if (store.machine === null || mode === 'read' || mode === 'see') return null
  try {
    await store.fresh()
  } catch (error) {
    const isAway = error instanceof SallyportError && error.code === 'place_unreachable'
    if (mode === 'stop' && isAway) return error
    if (anchor !== 'any') throw error
  }
  return null
}

/**
 * Who asks; null where nobody is asked for. That a session is none, or none any more, is said over
 * rows alone that were followed.
 */
const operatorOf = (
  gov: Gov, { mode, token, root, touch = mode !== 'alone', touchEveryMs }: WorkOrder, view: View,
  unfollowed: SallyportError | null,
): Session | null => {
  const rule = { touch, ...(touchEveryMs === undefined ? {} : { touchEveryMs }) }
  try {
    if (root !== undefined) return authenticateRoot(gov, root, rule, view)
    return token === undefined ? null : authenticate(gov, token, rule, view)
  } catch (error) {
    throw unfollowed ?? error
  }
}

const seeing = async (gov: Gov, registry: Registry | undefined): Promise<Seen> => {
  const { seenNow } = await import('./seen.js')
  return seenNow(gov, registry)
}

/** Loaded at use: its rules know every capability, and most work only reads. */
const recovery = async (gov: Gov, registry: Registry | undefined): Promise<RecoveryReport> => {
  const { recoverState } = await import('./recovery.js')
  return recoverState(gov, registry)
}
