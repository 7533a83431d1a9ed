/** A video on a desk, taken every ten seconds, for tests of regions that go on changing. */
import { nowIso } from '../../src/governance/context.js'
import { putObservation } from '../../src/shots/observations/observation-store.js'
import type { Observation } from '../../src/shots/observations/observation-rows.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type AnalysisWorld } from '../world/world.js'
import { greyPng } from './png.js'
import { rowOf, scan, set } from './shots.js'

const [width, height] = [640, 360]

/** What is to be seen. */
interface Desk {
  /** Another one looks different everywhere. */
  readonly window?: number
  /** One pixel beside the video is another, which no cell's average tells. */
  readonly dot?: boolean
  /** How it is compressed: another level has the same pixels in other bytes. */
  readonly level?: number
}

/** A desk with a video of its own frame; null: without one. */
export const desk = (
  frame: number | null, { window = 1, dot = false, level = 6 }: Desk = {},
): Buffer => greyPng(width, height, (x, y) => {
  if (dot && x === 400 && y === 150) return 128
  const isIn = x >= 200 && x < 360 && y >= 100 && y < 220
  const shade = isIn && frame !== null ? 100 + frame * 7 : window
  return ((((x >> 4) + 3 * (y >> 4)) * 37 + shade * 101) * 53) & 0xff
}, level)

/** So many seconds into the video. */
export const at = (second: number): string =>
  new Date(Date.UTC(2026, 10, 20, 10, 0, second)).toISOString()

/** Everything is allowed, and one picture in 30 seconds is sent. */
export const settled = async (
  t: Parameters<typeof World.in>[0], ...flags: string[]
): Promise<AnalysisWorld> => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  await set(world, '--settle-seconds', '30', ...flags)
  return world
}

/** A desk, then frames of a video, one each ten seconds; the first one is `0.png`. */
export const play = async (world: AnalysisWorld, frames: number): Promise<void> => {
  for (let i = 0; i < frames; i += 1) {
    world.file(`${i}.png`, desk(i === 0 ? null : i), at(10 * i))
  }
  await scan(world)
}

/** A row as something else would have left it. */
export const change = async (
  world: AnalysisWorld, name: string, next: (row: Observation) => Observation,
): Promise<void> => {
  const { gov } = world.ctx('write')
  await gov.store.transact('test', (tx) =>
    putObservation(tx, nowIso(gov), next(rowOf(world, name))))
  gov.store.close()
}

/** A picture that is held for another one. */
export const held = (row: Observation, by = 'obs_x'): Observation => ({
  ...row, analysis_status: 'blocked', stood_for_by: by,
  analyzer: { ...row.analyzer, reason: 'unsettled' },
})
