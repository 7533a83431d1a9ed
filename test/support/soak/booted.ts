/** A life of units on a booted machine, as the table that docs/dev/systemd.md shows. */
import { needsBoot } from '../containers/booted.js'
import { liveBooted, type Life } from '../containers/booted-life.js'
import { World } from '../../world/world.js'

/** What is counted. */
export const unit = 'minutes'

/** So many at least: each timer has come to its time, before and behind a second boot. */
export const usual = 5

/** What the table calls a unit: without the id of its state. */
const calledOf = (unit: string): string => unit.replace(/\.service$/, '')
  .replace(/^sallyport-[0-9a-f]{8}-mail@sallyport-[0-9a-f]{8}-(\w+)\.service$/, 'mail about $1')
  .replace(/^sallyport-[0-9a-f]{8}-(\w+)$/, 'timer: $1')

/** Rows of the table: a service, its runs, those behind the second boot, what failed, restarts. */
export const rowsOf = ({ lived, second }: Life): readonly string[] =>
  [...lived].filter(([name]) => /^sallyport.*\.service$/.test(name)).map(([name, one]) =>
    `| ${calledOf(name)} | ${one.ran} | ${second.get(name)?.ran ?? 0} | ${one.failed} |`
      + ` ${one.again} |`)

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
