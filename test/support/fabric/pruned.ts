/** A world whose asks can grow old, and prunes of it. */
import { join } from 'node:path'
import type { Test } from 'tap'
import { storedNames } from '../../../src/state/artifacts.js'
import { nodeFiles } from '../../../src/state/files.js'
import { movedClock, type StillClock } from '../clock.js'
import { must } from '../must.js'
import type { Problem } from '../../../src/state/types.js'
import type { Ran, RunOptions, Teardown } from '../../world/place.js'
import { World, type AlphaWorld } from '../../world/world.js'
import { ask, keyOf } from './copies.js'

/** The text capability, by a clock that can be moved on. */
export type AgingWorld = AlphaWorld & { readonly clock: StillClock }

const day = 24 * 3_600_000

/** A set-up text capability. */
export const agingWorld = async (t: Teardown): Promise<AgingWorld> =>
  World.in(t, { clock: movedClock() }).sandbox().state().session().alpha()

/** Logs in for longer than the tests take. */
export const logIn = async (rig: AgingWorld): Promise<void> => {
  must(await rig.run(['login', '--ttl', '7d', '--idle', '24h']))
}

/** A hundred days later, logged in anew. */
export const muchLater = async (rig: AgingWorld): Promise<void> => {
  rig.clock.stepWall(100 * day)
  await logIn(rig)
}

/** Removes what is older than thirty days. */
export const prune = (
  rig: AgingWorld, more: readonly string[] = [], options: RunOptions = {},
): Promise<Ran> =>
  rig.run(['state', 'prune', '--older-than', '30d', '--yes', '--json', ...more], options)

/** Asks under a numbered key and approves the answer; gives the id of the task. */
export const approved = async (rig: AgingWorld, n: number): Promise<string> => {
  const { task: { id } } = must(await ask(rig, keyOf(n))).json()
  must(await rig.run(['alpha', 'review', id, '--approve']))
  return id
}

/** Names of the stored files. */
export const filesOf = ({ place }: AlphaWorld): readonly string[] =>
  storedNames(nodeFiles, join(place.stateDir, 'artifacts'))

/** Asserts that `state check` finds nothing wrong; notices are none. */
export const isSound = async (t: Test, rig: AlphaWorld, text = 'sound'): Promise<void> => {
  const { ok, problems } = (await rig.run(['state', 'check', '--json'])).json()
  const wrong = problems.filter(({ severity }: Problem) => severity !== 'notice')
  t.strictSame([ok, wrong], [true, []], text)
}
