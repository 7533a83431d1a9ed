/** What is attacked: machines of one shared state, each with processes and a way of its own. */
import type { ChildProcess } from 'node:child_process'
import { placeTimes } from '../../../src/state/place/place.js'
import { alpha, roomy, type TextRoute } from '../../world/alpha.js'
import { allowed, type Images } from '../../world/images.js'
import type { Place, Ran, Teardown } from '../../world/place.js'
import { World, type GatewayWorld } from '../../world/world.js'
import { chanceOf } from '../chance.js'
import { movedClock } from '../clock.js'
import { connectionOf, type Working } from '../codehost/working.js'
import { must } from '../must.js'
import { goBy } from '../place/links.js'
import { joined } from '../place/machines.js'
import { startPostgres, type Postgres } from '../place/postgres.js'
import { startRoughWay, type RoughWay } from './rough-way.js'

/** Times of the place for everything that is attacked, ms. */
const [leaseMs, patienceMs] = [6_000, 4_000]
const times = {
  TEST_PLACE_LEASE_MS: String(leaseMs), TEST_PLACE_PATIENCE_MS: String(patienceMs),
} as const

/** How a line was run, and that the attack killed it. */
export type AttackedRun = Ran & { readonly wasKilled: boolean }

/** The first machine, with every route. */
type FirstWorld = Working & GatewayWorld & TextRoute & Omit<Images, 'folder'> & {
  readonly pictures: string
}

/** A machine, as it is attacked. */
export class Machine {
  /** Processes that run now. */
  readonly running = new Set<ChildProcess>()
  /** Folder of the build that it runs; undefined for that of the tests. */
  app: string | undefined
  #killed = new WeakSet<ChildProcess>()

  constructor(
    readonly name: string, readonly owner: string, readonly place: Place, readonly way: RoughWay,
  ) {}

  /** Kills one of its processes. */
  kill(child: ChildProcess): void {
    this.#killed.add(child)
    child.kill('SIGKILL')
  }

  /** Runs a line in this process: most of what a process costs is its start. */
  async runHere(argv: readonly string[], { stdin }: { stdin?: string } = {}): Promise<AttackedRun> {
    const ran = await this.place.run([...argv, '--json'], stdin === undefined ? {} : { stdin })
    return { ...ran, wasKilled: false }
  }

  /** Runs a line in a process of its own. */
  async run(
    argv: readonly string[], { stdin, app = this.app }: { stdin?: string; app?: string } = {},
  ): Promise<AttackedRun> {
    let child: ChildProcess | undefined
    const ran = await this.place.spawn([...argv, '--json'], {
      entry: 'test', coverage: false, env: times, ...(stdin === undefined ? {} : { stdin }),
      ...(app === undefined ? {} : { app }),
      onChild: (one) => {
        child = one
        this.running.add(one)
      },
    })
    if (child !== undefined) this.running.delete(child)
    return { ...ran, wasKilled: child !== undefined && this.#killed.has(child) }
  }
}

/** All of it. */
export interface Attacked {
  readonly t: Teardown
  readonly server: Postgres
  readonly first: FirstWorld
  /** Number of an issue that comments may go to. */
  readonly issue: number
  readonly machines: readonly [Machine, Machine, Machine]
  /** An empty place for a further machine of the first owner, whose way is the first machine's. */
  readonly further: (name: string) => Promise<Machine>
}

/** Name of the second owner, who is signed in on the second machine. */
const other = 'other'

const firstWorld = async (t: Teardown, url: string): Promise<FirstWorld> => {
  const grown = await World.in(t, { clock: movedClock() }).sandbox()
    .state({ owner: 'operator', more: ['--shared', url, '--machine-name', 'a'] }).session()
    .with((world) => alpha(world, { money: roomy }))
    .gateway({ slots: ['report', 'screenshot'], ceilingMicrousd: roomy.ceilingMicrousd })
    .proof('screenshot').images(allowed)
    .with((world) => ({ pictures: world.folder }))
  return await connectionOf(grown) as unknown as FirstWorld
}

/** Makes three machines: the second one is another owner's. */
export const attacked = async (t: Teardown): Promise<Attacked> => {
  const server = await startPostgres(t)
  const first = await firstWorld(t, server.url)
  const machineOf = async (name: string, owner: string, place: Place): Promise<Machine> => {
    const way = await startRoughWay(t, () => server.port, chanceOf(`way of ${name}`))
    goBy({ place }, way)
    return new Machine(name, owner, place, way)
  }
  const job = await first.approved('Talk')
  must(await first.runJob(job))
  const secret = first.place.write('passphrase', 'another person')
  must(await first.run(['principal', 'add', other, '--passphrase-file', secret]))
  const [second, third] = [await joined(t, first, 'b'), await joined(t, first, 'c')]
  must(await second.run(['login', '--owner', other, '--passphrase-file', secret]))
  must(await second.run(['alpha', 'acknowledge', '--acknowledge-plaintext-egress']))
  must(await third.run(['login', '--owner', 'operator']))
  Object.assign(placeTimes, { leaseMs, patienceMs })
  const machines = [
    await machineOf('a', 'operator', first.place), await machineOf('b', other, second.place),
    await machineOf('c', 'operator', third.place),
  ] as const
  return {
    t, server, first, machines, issue: Number(first.job(job).remote?.id),
    further: async (name) =>
      new Machine(name, 'operator', (await World.in(t)).place, machines[0].way),
  }
}
