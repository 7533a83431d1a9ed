/** A life of units on a booted machine, as the table that docs/platforms.md shows. */
import { needsBoot } from '../containers/booted.js'
import { liveBooted, type Life } from '../containers/booted-life.js'
import { World } from '../../world/world.js'

/** What is counted. */
export const unit = 'minutes'

/** So many at least: each timer has come to its time, before and behind a second boot. */
export const usual = 5

/** Rows of the table: a unit, its runs, those of them behind the second boot, what failed. */
export const rowsOf = ({ lived, second }: Life): readonly string[] =>
  [...lived].filter(([name]) => /^sallyport.*\.service$/.test(name)).map(([name, one]) => {
    const called = name.replace(/^sallyport-[0-9a-f]{8}-(\w+)(@.*)?\.service$/, 'timers: $1')
    return `| ${called} | ${one.ran} | ${second.get(name)?.ran ?? 0} | ${one.failed} |`
      + ` ${one.again} |`
  })

/** Prints the table; where no machine can be booted, why. */
export const run = async (minutes: number): Promise<void> => {
  const why = await needsBoot()
  if (why !== false) {
    process.stdout.write(`left out: ${why}\n`)
    return
  }
  const done: (() => Promise<void> | void)[] = []
  const { place } = World.in({ teardown: (end) => void done.push(end) })
  const { lived, second, ...told } = await liveBooted(place, minutes)
  process.stdout.write(`${rowsOf({ lived, second, ...told }).join('\n')}\n`)
  process.stdout.write(`${JSON.stringify(told, null, 2)}\n`)
  for (const end of done.reverse()) await end()
}
