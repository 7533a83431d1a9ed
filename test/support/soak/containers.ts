/** The walk in every kind of container, as the table that docs/how-to/in-a-container.md shows. */
import { needsContainers, runContained } from '../containers/container.js'
import { reckoned, rows, type Row } from '../containers/rows.js'
import { walkOf } from '../containers/walk.js'
import { World } from '../../world/world.js'
import type { Teardown } from '../../world/place.js'

/** One row of the table, in its words. */
export const rowText = async (t: Teardown, row: Row): Promise<string> => {
  const { place } = World.in(t)
  const walk = walkOf(row.isFilled === true)
  const { stdout, stderr } = await runContained(place, 'box', row, walk)
  const { steps, failed, counts } = reckoned(stdout)
  const lines = [...steps.keys()].filter((name) => name !== 'zombies').length
  const refused = Object.keys(failed)
  if (lines === 0) throw new Error(stderr)
  const full = refused.every((name) => name.startsWith('full:'))
  if (!full) return `| ${row.name} | ${JSON.stringify(failed)} |`
  const { scanned, ingested, analyzed, reported, requests, isSound } = counts()
  const cells = [
    row.name, `${lines}, ${refused.length}${refused.length > 0 ? ' for want of room' : ''}`,
    `${scanned}, ${ingested}, ${analyzed}, ${reported}`, requests, isSound ? 'sound' : 'damaged',
  ]
  return `| ${cells.join(' | ')} |`
}

/** Prints the table `rounds` times; where no container can be made, why. */
export const run = async (rounds: number): Promise<void> => {
  if (needsContainers !== false) {
    process.stdout.write(`left out: ${needsContainers}\n`)
    return
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const row of rows) {
      const done: (() => Promise<void> | void)[] = []
      const text = await rowText({ teardown: (end) => void done.push(end) }, row)
      process.stdout.write(`${text}\n`)
      for (const end of done.reverse()) await end()
    }
  }
}
