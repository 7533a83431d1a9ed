/**
 * What a state on a server costs beside one in a directory: `alpha ask` over a link of no and of 10
 * ms each way. The programs run beside this one, whose proxy is the link.
 */
import { join } from 'node:path'
import { goBy } from '../test/support/place/links.js'
import { startPostgres } from '../test/support/place/postgres.js'
import { startProxy } from '../test/support/place/proxy.js'
import type { Teardown } from '../test/world/place.js'
import { runBeside } from './beside.js'
import { withEnding } from './ending.js'
import { median, type Program } from './pairs.js'
import {
  placeIn, setUpText, withPlace, withSandbox, type BenchPlace, type StartedSandbox,
} from './place.js'
import type { BenchRow } from './types.js'

const pairs = 20
const delayMs = 10
const question = 'What is a sally port?'

const inTurns = async (programs: readonly Program[]): Promise<readonly number[]> => {
  const times = programs.map((): number[] => [])
  for (let pair = -1; pair < pairs; pair += 1) {
    for (const [index, program] of programs.entries()) {
      const { ms } = await runBeside(program)
      if (pair >= 0) times[index]?.push(ms)
    }
  }
  return times.map(median)
}

const ratioMax = 1.5

const asks = async (
  ending: Teardown, place: BenchPlace, sandbox: StartedSandbox,
): Promise<BenchRow[]> => {
  const server = await startPostgres(ending, { settings: { fsync: 'on' } })
  setUpText(place, sandbox)
  const ways = [0, delayMs]
  const shared: BenchPlace[] = []
  for (const ms of ways) {
    const at = placeIn(join(place.dir, `shared-${ms}`))
    setUpText(at, sandbox, ['--shared', server.url])
    goBy({ place: at }, await startProxy(ending, () => server.port, { delayMs: ms }))
    shared.push(at)
  }
  const line = ['alpha', 'ask', '-']
  const [here = NaN, ...there] =
    await inTurns([place, ...shared].map((at) => at.line(line, question)))
  return there.map((ms, index) => {
    const ratio = ms / here
    return {
      name: `alpha ask, state on a server ${ways[index]} ms away each way`,
      ratio, target: `at most ${ratioMax}`, pass: ratio <= ratioMax,
      detail: `${ms.toFixed(0)} ms beside ${here.toFixed(0)} ms of a directory`,
    }
  })
}

/** All of it. */
export const run = (): Promise<BenchRow[]> =>
  withEnding((ending) => withPlace((place) =>
    withSandbox(place, (sandbox) => asks(ending, place, sandbox))))
