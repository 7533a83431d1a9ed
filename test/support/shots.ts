/** What tests of the screenshot source do with a world: take images in, analyse, look. */
import type { Test } from 'tap'
import type { Observation } from '../../src/shots/observations/observation-rows.js'
import { runningCollection } from '../../src/shots/analysis/analysis-rows.js'
import { betweenLookAndRecord } from './between.js'
import type { Images } from '../world/images.js'
import type { Loose, Ran } from '../world/place.js'
import type { GatewayWorld, Placed } from '../world/world.js'
import { checkLedger } from './ledger.js'
import { must } from './must.js'
import { greyPng } from './png.js'

let seed = 0
/** Another image each time, so that neither hash nor look repeats (before 256 of them). */
export const nextImage = (): Buffer => greyPng(64, 48, (seed += 1))

/** `shots scan`, which must succeed; gives the receipt. */
export const scan = async (world: Placed, ...flags: string[]): Promise<Loose> =>
  must(await world.run(['shots', 'scan', '--json', ...flags])).json()

/** `shots setup`, which must succeed. */
export const set = (world: Placed, ...flags: string[]): Promise<Ran> =>
  must(world.run(['shots', 'config', 'set', '--json', ...flags]))

/** `shots analyze`, however it ends. */
export const analyze = (world: Placed, ...flags: string[]): Promise<Ran> =>
  world.run(['shots', 'analyze', '--json', ...flags])

/** A new image under this name, taken in by a scan. */
export const take = async (
  world: Placed & Images, name: string, modified?: string,
): Promise<void> => {
  world.file(name, nextImage(), modified)
  await scan(world)
}

/** Stage: new images under these names, a minute after each other, taken in by one scan. */
export const holding = (...names: readonly string[]) =>
  async (world: Placed & Images): Promise<void> => {
    for (const [minute, name] of names.entries()) {
      world.file(name, nextImage(), `2026-11-20T10:0${minute}:00.000Z`)
    }
    await scan(world)
  }

/** The row of the image that lies, or lay, under a name. */
export const rowOf = (world: Pick<Images, 'rows'>, name: string): Observation => {
  const row = world.rows().find(({ paths }) => paths.some((path) => path.name.text === name))
  if (row === undefined) throw new Error(`no row of ${name}`)
  return row
}

/** How many requests about pictures of screens went out, proofs aside. */
export const sent = (world: GatewayWorld): number =>
  world.calls().filter(({ body }) => body.includes('svc_screenshot_analysis_v1')).length

/** Asserts that state and money add up and that nothing runs. */
export const healthy = async (t: Test, world: GatewayWorld): Promise<void> => {
  const check = await world.run(['state', 'check', '--json'])
  t.equal(check.status, 0, check.stdout)
  checkLedger(t, world)
  t.strictSame(world.view().all(runningCollection), [])
}

/** A context in which `change` happens between the look at the inputs and the first record. */
export const betweenLookAndClaim = (
  world: Images, change: () => Promise<unknown>,
) => {
  const here = world.ctx('write')
  const gov = betweenLookAndRecord(here.gov, change)
  return { ...here, gov, gateway: { ...here.gateway, gov } }
}
