/** The walk in every kind of container, as the table that docs/dev/platforms.md shows. */
import { needsContainers, runContained, type Contained } from '../containers/container.js'
import { rows, textOf, type Row } from '../containers/rows.js'
import { walkOf } from '../containers/walk.js'
import { World } from '../../world/world.js'
import type { Teardown } from '../../world/place.js'

/** Takes the walk of a row. */
export const walkIn = (t: Teardown, row: Row): Promise<Contained> =>
  runContained(World.in(t).place, 'box', row, walkOf(row.isFilled === true))

/** One row of the table, typed anew. */
const rowText = async (t: Teardown, row: Row): Promise<string> => {
  const { stdout, stderr } = await walkIn(t, row)
  return stdout === '' ? `| ${row.name} | ${stderr} |` : textOf(row, stdout)
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
