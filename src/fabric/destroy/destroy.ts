/**
 * Destroying a state: everything is stopped first, so that what is leaving is seen; what is under
 * way is waited for; then, while nobody else writes, folds or works, what is open is judged once
 * more, and the directory goes (`state/care/destroy.ts`).
 */
import { fail } from '../../base/errors.js'
import { heldFiles, heldText, holdAllGuards } from '../../governance/all-guards.js'
import type { Gov, Session } from '../../governance/context.js'
import { revokePolicy } from '../../governance/policy/revoke.js'
import { destroyState as removeState, type Destroyed } from '../../state/care/destroy.js'
import { destructionAt, type Destruction } from '../../state/destruction.js'
import { nodeFiles, orIoFailure } from '../../state/files.js'
import { directoryOf } from '../../state/directory.js'
import { stopBoardsOf } from '../../state/stop-folder.js'
import { recoverState } from '../recovery.js'
import type { StateSite } from '../state-care.js'
import type { StateDestroyDocument } from './destroy-contract.js'
import { filesOf, lookAtState, openSum, staysOf, type DestroySite } from './look.js'
import { requireOpenAcknowledged, type Acknowledged } from './rules.js'

/** Pause between two looks at who works here, ms. */
const pauseMs = 50

/** Most lock files that a refusal lists. */
const heldMax = 20

const underWay = (dir: string, held: readonly string[]): Error => fail.locked(
  'work_under_way',
  `Another process works in this state: ${heldText(dir, held[0] ?? '')}. Nothing was removed.`, {
    next: 'Every route is stopped. Let that process end, or end it, then run this again; '
      + '`sallyport status` shows a service that runs.',
    details: { held: held.slice(0, heldMax).join(', ') },
  })

/** Waits until nobody works here. Throws `locked` `work_under_way`. */
const waitForOthers = async (
  { dir, clock, waitMs, signal }: Pick<StateSite, 'dir' | 'clock' | 'waitMs' | 'signal'>,
): Promise<void> => {
  const untilMs = clock.monotonicMs() + waitMs
  for (;;) {
    const held = heldFiles(dir)
    if (held.length === 0) return
    if (clock.monotonicMs() >= untilMs) throw underWay(dir, held)
    await clock.sleep(pauseMs, signal).catch((cause: unknown) => {
      throw fail.cancelled('destroy_stopped', 'Stopped while waiting for another process.', {
        next: 'Nothing was removed; every route is stopped. Run it again.', cause,
      })
    })
  }
}

/** Takes every guard and removes; `lastLook` is asked under them. */
const remove = async (
  site: StateSite, storeId: string, lastLook: () => void,
): Promise<Destroyed> => {
  let release: () => void = () => undefined
  try {
    return await removeState({
      ...site, storeId, at: (step) => Promise.resolve(site.observer.at(`destroy.${step}`)),
      lastLook: () => {
        const guards = holdAllGuards(site.dir)
        if (guards.busy.length > 0) throw underWay(site.dir, guards.busy)
        ;({ release } = guards)
        lastLook()
      },
    })
  } finally {
    release()
  }
}

const directoryStays = { what: 'directory' as const, command: null,
  text: 'The directory itself stays.' }

const answerOf = (
  found: StateDestroyDocument, { foreign, directory }: Destroyed,
): StateDestroyDocument => ({
  ...found, dry_run: false,
  stays: [
    ...found.stays,
    ...(directory || foreign.length > 0 ? [] : [{ ...directoryStays, where: [found.state_dir] }]),
  ],
})

const revoke = async (site: StateSite, gov: Gov, session: Session): Promise<void> => {
  const { dir: stateDir, configDir, clock } = site
  const { why } = await revokePolicy({
    stateHolds: gov.store.holds, boards: stopBoardsOf({ dir: stateDir, configDir }), clock,
    by: { principal: session.principal.principal_id, root: session.root.root_id },
    open: () => Promise.resolve(gov),
  })
  if (why !== null) throw why
}

/**
 * Destroys an open state whose name was acknowledged. Throws `rejected` `state_elsewhere`,
 * `blocked` `open_not_acknowledged` (also where what is open became something else meanwhile),
 * `locked` `work_under_way` and `lock_held`, `cancelled` `destroy_stopped`, `failed`
 * `destruction_unfinished`, disk errors.
 */
export const destroyWhole = async (
  gov: Gov, session: Session, site: StateSite, place: DestroySite,
  acknowledged: Acknowledged | undefined,
): Promise<StateDestroyDocument> => {
  const { store } = gov
  directoryOf(store, 'Have another machine retire this one: `sallyport machine retire NAME`. '
    + '`sallyport state unshare` ends the sharing for all of them.')
  const before = openSum(store.read())
  requireOpenAcknowledged(before, acknowledged)
  await revoke(site, gov, session)
  await site.observer.at('destroy.revoked')
  await waitForOthers(site)
  await recoverState(gov)
  await site.observer.at('destroy.quiet')
  const found = await lookAtState(gov, place)
  const gone = await remove(site, store.storeId, () => {
    requireOpenAcknowledged(
      openSum(store.read()), acknowledged && { ...acknowledged, effects: before.effects })
    // What it would write at its close must not come behind the removal.
    store.close()
  })
  return answerOf(found, gone)
}

/** The destruction that a run had begun; null where there is a state, or nothing. */
export const begunAt = (dir: string): Destruction | null =>
  orIoFailure('reading the state file', () => destructionAt(nodeFiles, dir)) ?? null

export const lookAtRest = (
  dir: string, begun: Destruction, { configDir, name, around }: DestroySite,
): StateDestroyDocument => {
  const { foreign, ...files } = filesOf(dir)
  return {
    dry_run: true, name, state_dir: dir, store_id: begun.store_id, begun_at: begun.begun_at,
    rows: [], keys: 0, ...files, open: null,
    stays: staysOf({ configDir, storeId: begun.store_id, foreign, around }),
  }
}

/** Goes on where a run was cut off. Throws as `destroyWhole`, save what asks for rows. */
export const destroyRest = async (
  site: StateSite, begun: Destruction, place: DestroySite,
): Promise<StateDestroyDocument> => {
  const found = lookAtRest(site.dir, begun, place)
  return answerOf(found, await remove(site, begun.store_id, () => undefined))
}
