/** Opening the state directory for a verb: what only the terminal knows, given to `openWork`. */
import { isoFromMs } from '../base/clock.js'
import { fail, SallyportError } from '../base/errors.js'
import {
  openState, openWork, type Work, type WorkMode, type WorkPlace,
} from '../fabric/open-work.js'
import type { Face, Gov, Session } from '../governance/context.js'
import { isPlaced } from '../state/place/is-placed.js'
import { openingAny } from '../state/store.js'
import type { Store } from '../state/types.js'
import type { LoginOptions, StoreMode, VerbDeps } from './verb.js'
import { currentToken, withTokenPlace } from './login.js'

const placeOf = (deps: VerbDeps): WorkPlace => ({
  stateDir: deps.places.stateDir,
  configDir: deps.places.configDir,
  waitMs: deps.globals.waitMs,
  signal: deps.stop,
  clock: deps.clock,
  observer: deps.observer,
})

/** Older than that what a replica shows is told with its age, ms. */
const ageToldMs = 60_000

const heardText = (deps: VerbDeps, heardMs: number | null): string =>
  (heardMs === null ? 'never heard' : `heard ${deps.view.time(isoFromMs(heardMs))}`)

/** Says how old what a replica shows is, on a terminal, where it is old. */
const tellAge = (deps: VerbDeps, store: Store): void => {
  if (!isPlaced(store) || !deps.io.terminal.stderr || deps.globals.json) return
  const { heardAtMs: heardMs } = store
  if (heardMs === null || deps.clock.wallMs() - heardMs <= ageToldMs) return
  deps.note(`The server of this state was ${heardText(deps, heardMs)}; what is shown is as old.`)
}

/**
 * Brings what is to be copied up to its place. Where that cannot be, it is said how old the copy
 * is, and what there is is copied: it may be all that is left.
 */
export const followForCopy = async (deps: VerbDeps, store: Store): Promise<void> => {
  if (!isPlaced(store)) return
  try {
    await store.fresh()
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    deps.note(`What is newer at the server was not fetched (${error.code}). It was `
      + `${heardText(deps, store.heardAtMs)}; the copy is as old.`)
  }
}

/** Opens the state directory of this run. Throws `no_state` where there is no whole one. */
export const openCliStore = async (deps: VerbDeps, mode: StoreMode): Promise<Store> => {
  try {
    const store = await openingAny(() => openState(placeOf(deps), mode))
    if (mode === 'read') tellAge(deps, store)
    return store
  } catch (cause) {
    const { globals: { at, stateDir }, env } = deps
    const named = at !== null || stateDir !== null || Boolean(env['SALLYPORT_AT'])
    if (!named || !(cause instanceof SallyportError) || cause.code !== 'no_state') throw cause
    const what = stateDir === null ? 'the name' : '--state-dir'
    throw fail.noState(cause.code, `There is no state directory where ${what} points.`, {
      next: 'Correct it, or make one there: `sallyport init`.', cause,
    })
  }
}

const storeFor = (deps: VerbDeps, mode: WorkMode): Promise<Store> =>
  deps.openStore(mode === 'see' ? 'read' : mode === 'mutate' || mode === 'stop' ? 'write' : mode)

/** The open state, with nobody asked for. Throws what opening throws. */
export const openForNobody = async (
  deps: VerbDeps, mode: StoreMode | 'see' | 'stop', face: Face,
): Promise<Gov> => {
  const store = await storeFor(deps, mode)
  return (await openWork({ ...placeOf(deps), store, face, mode, anchor: deps.anchor })).gov
}

/** The state, opened anew for recording a stop; whoever calls closes it. */
export const openForStop = async (deps: VerbDeps, waitMsMax: number): Promise<Gov> => {
  const place = { ...placeOf(deps), waitMs: Math.min(deps.globals.waitMs ?? waitMsMax, waitMsMax) }
  const store = await openingAny(() => openState(place, 'write'))
  return (await openWork({ ...place, store, face: 'cli', mode: 'write', anchor: 'any' })).gov
}

/** The open state and the operator behind this process. Throws `unauthorized` besides. */
export const openForOperator = async (
  deps: VerbDeps, mode: WorkMode, { touch = mode !== 'alone' }: LoginOptions = {},
): Promise<Work<Session>> => {
  const store = await storeFor(deps, mode)
  const token = currentToken({ store }, deps.env)
  return withTokenPlace(deps.env, () =>
    openWork({ ...placeOf(deps), store, face: 'cli', mode, anchor: deps.anchor, token, touch }))
}
