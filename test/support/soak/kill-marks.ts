/** Kills processes that mark, at any time: no mark that was told is forgotten, and none is torn. */
import { openStore } from '../../../src/state/store.js'
import type { Teardown } from '../../world/place.js'
import { World } from '../../world/world.js'
import { chanceOf } from '../chance.js'
import { startChild } from '../children.js'
import { placeOf } from '../state/notes.js'

/** How many processes the long loop kills. */
export const usual = 500

/** What the loop showed. */
interface MarkKills {
  /** Marks that were told as durable. */
  readonly told: number
  /** Times that the store was one mark ahead of its anchor. */
  readonly ahead: number
  readonly broken: readonly string[]
}

/** Kills `rounds` processes that mark, one after the other, on one state. */
export const killMarks = async (t: Teardown, rounds: number): Promise<MarkKills> => {
  const { store } = await World.in(t).store()
  const places = placeOf(store)
  store.close()
  const chance = chanceOf('kill-marks')
  const broken: string[] = []
  let [told, ahead] = [0, 0]
  for (let round = 0; round < rounds; round += 1) {
    const child = startChild(t, 'marker', places)
    let last = -1
    for (let n = chance.below(4); n >= 0; n -= 1) last = Number(await child.line())
    await new Promise((wake) => setTimeout(wake, chance.below(4)))
    await child.kill()
    told += 1
    const after = openStore({ ...places, mode: 'read' })
    const { status, mark, view } = after.anchor()
    after.close()
    if (status !== 'ok') broken.push(`round ${round}: ${status}`)
    if ((mark?.number ?? -1) < last) broken.push(`round ${round}: ${mark?.number} of ${last}`)
    if (mark !== null && mark.sequence < view.sequence) ahead += 1
  }
  return { told, ahead, broken }
}

/** The long loop. */
export const run = async (rounds: number): Promise<void> => {
  const undo: (() => Promise<void> | void)[] = []
  try {
    const report = await killMarks({ teardown: (done) => void undo.push(done) }, rounds)
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
    if (report.broken.length > 0) throw new Error(report.broken.join('\n'))
  } finally {
    for (const done of undo.reverse()) await done()
  }
}
