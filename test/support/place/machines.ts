/** Machines of one shared state, each with places of its own, over a real server. */
import type { SandboxOptions } from '../../../src/sandbox/start.js'
import { question } from '../../world/alpha.js'
import type { Ran, RunOptions, Teardown } from '../../world/place.js'
import { World, type AlphaWorld, type Placed } from '../../world/world.js'
import { must } from '../must.js'

const passphrase = 'goes by another way'

/** The machine that makes the state at an address, with a set-up text route. */
export const firstMachine = (
  t: Teardown, address: string, outside: Partial<SandboxOptions> = {},
): World<AlphaWorld> =>
  World.in(t).sandbox(outside)
    .state({ more: ['--shared', address, '--machine-name', 'a'] }).session().alpha()

/** Invites a machine on another one and joins; nobody is signed in there. */
export const joined = async (
  t: Teardown, first: Placed, name = 'b', env: Readonly<Record<string, string>> = {},
): Promise<Placed> => {
  const file = first.place.path(`${name}.invite`)
  const secret = first.place.write(`${name}.passphrase`, `${passphrase}\n`)
  must(await first.run(['machine', 'invite', name, '--to', file, '--passphrase-file', secret]))
  const world = await World.in(t, { env })
  must(await world.run(['machine', 'join', file, '--passphrase-file', secret]))
  return world
}

/** The same, and an owner is signed in there. */
export const nextMachine = async (...given: Parameters<typeof joined>): Promise<Placed> => {
  const world = await joined(...given)
  must(await world.run(['login']))
  return world
}

/** Asks the question of tests on a machine. */
export const askOn = (
  { run }: Pick<Placed, 'run'>,
  { args = [], ...more }: RunOptions & { readonly args?: readonly string[] } = {},
): Promise<Ran> => run(['alpha', 'ask', '-', '--json', ...args], { stdin: question, ...more })
