import { existsSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Argument, type Command } from 'commander'
import { fail, SallyportError } from '../../../base/errors.js'
import { shellWord } from '../../../base/told.js'
import { demoScenes, sandboxDemo, type DemoScene } from '../../../sandbox/sandbox-contract.js'
import type { Sandbox } from '../../../sandbox/start.js'
import { requireLocks } from '../../../state/kernel-lock.js'
import { offered } from '../../flags.js'
import { verb, type VerbDeps } from '../../verb.js'
import { playAlpha } from './alpha.js'
import { playCodehost } from './codehost.js'
import { edgePlaces, playEdge } from './edge.js'
import { playShots, shotsPlaces } from './shots.js'
import { enter, openStage, type Stage } from './stage.js'
import { playStory } from './story.js'

const pageOf = (dir: string): string => shotsPlaces(dir).page

const startSandboxIn = async (deps: VerbDeps, dir: string): Promise<Sandbox> => {
  const { startSandbox } = await import('../../../sandbox/start.js')
  return startSandbox({ dir, clock: deps.clock })
}

/** Publications need Linux, an add-on and git: where they are not to be had, they are left out. */
const publishes = async (deps: VerbDeps, stage: Stage): Promise<boolean> => {
  const { findTools } = await import('../../../codehost/producer/tools.js')
  try {
    await findTools(deps.producer)
    return true
  } catch (error) {
    if (!(error instanceof SallyportError) || error.code !== 'producer_unsupported') throw error
    stage.say('Publications are left out: this machine has not what they need.')
    return false
  }
}

/** Where a demo plays. */
interface Set {
  readonly deps: VerbDeps
  readonly stage: Stage
  readonly sandbox: Sandbox
  readonly dir: string
  readonly stateDir: string
}

const playCapability = {
  alpha: ({ stage, sandbox }: Set) => playAlpha(stage, sandbox),
  shots: ({ stage, sandbox, dir }: Set) => playShots(stage, sandbox, shotsPlaces(dir)),
  edge: ({ deps, stage, dir, stateDir }: Set) =>
    playEdge(deps, stage, edgePlaces(dir, stateDir, shotsPlaces(dir))),
  codehost: async ({ deps, stage, sandbox, dir }: Set) => playCodehost(stage, sandbox, {
    source: join(dir, 'source'), publishes: await publishes(deps, stage),
  }),
}
const capabilities = ['alpha', 'shots', 'edge', 'codehost'] as const

const playScene = async (scene: DemoScene, set: Set): Promise<void> => {
  const { stage, sandbox, dir } = set
  if (scene === 'story') return playStory(stage, sandbox, shotsPlaces(dir))
  await enter(stage, sandbox.profileFile)
  for (const one of scene === 'all' ? capabilities : [scene]) await playCapability[one](set)
  await stage.play({ say: 'The state is sound.', argv: ['state', 'check'] })
  await stage.play({ say: 'Everything at a glance.', argv: ['status'] })
  return undefined
}

const sceneOf = (given: string): string => {
  if (demoScenes.some((scene) => scene === given)) return given
  throw fail.rejected('request_invalid', 'There is no such scene.', {
    next: `One of: ${demoScenes.join(', ')}.`, details: { field: 'scene', rule: 'choice' },
  })
}

const demoFlags = (command: Command): Command => command.addArgument(offered(
  new Argument('[scene]', `${demoScenes.join(', ')}; story unless given`).argParser(sceneOf),
  demoScenes,
))

export const demo = verb(sandboxDemo, {
  summary: 'see the program at work in one minute, with no key, no cost and no network',
  description:
    'Starts the sandbox on loopback, makes a temporary state directory and runs real commands '
    + 'against it over real TLS. Each step is printed as the command a person would type and '
    + 'what it answered. The story takes a minute; a capability by its name shows every step of '
    + 'it, and `all` those of every capability. Nothing is left running; the state stays for a '
    + 'look.',
  examples: ['$ sallyport demo', '$ sallyport demo codehost', '$ sallyport demo all'],
  damage: 'unasked',
  exits: ['rejected'],
  flags: demoFlags,
  text: ({ dir, state_dir, config_dir }) => [
    '',
    'That was the demo. Nothing is left running. Look around in what it left:',
    `    sallyport status --state-dir ${shellWord(state_dir)} `
      + `--config-dir ${shellWord(config_dir)}`,
    ...(existsSync(pageOf(dir)) ? ['The page of the report:', `    ${pageOf(dir)}`] : []),
    'Remove it with:',
    `    rm -r ${shellWord(dir)}`,
    '',
    'Next, a state of your own, every step of every capability, or what else there is:',
    '    sallyport setup',
    '    sallyport demo all',
    '    sallyport help',
    '',
  ].join('\n'),
  run: async ({ scene = 'story' }, deps) => {
    // Whoever tries the program on a machine that is refused begins here.
    requireLocks(tmpdir())
    const dir = await mkdtemp(join(tmpdir(), 'sallyport-demo-'))
    const folders = {
      stateDir: join(dir, 'state'), configDir: join(dir, 'config'), device: join(dir, 'device'),
    }
    const sandbox = await startSandboxIn(deps, join(dir, 'sandbox'))
    try {
      const stage = openStage(deps, folders)
      stage.say('Provider, gateway and code host are played by a sandbox on this machine, over '
        + 'real TLS on loopback. Nothing here has a cost.')
      await playScene(scene, { deps, stage, sandbox, dir, stateDir: folders.stateDir })
    } finally {
      await sandbox.stop()
    }
    return { dir, state_dir: folders.stateDir, config_dir: folders.configDir }
  },
})
