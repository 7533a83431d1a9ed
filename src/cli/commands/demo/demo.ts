import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SallyportError } from '../../../base/errors.js'
import { sandboxDemo } from '../../../sandbox/contract.js'
import type { Sandbox } from '../../../sandbox/start.js'
import { verb, type VerbDeps } from '../../verb.js'
import { playAlpha } from './alpha.js'
import { playCodehost } from './codehost.js'
import { edgePlaces, playEdge } from './edge.js'
import { playShots, shotsPlaces } from './shots.js'
import { openStage } from './stage.js'

const startSandboxIn = async (deps: VerbDeps, dir: string): Promise<Sandbox> => {
  const { startSandbox } = await import('../../../sandbox/start.js')
  return startSandbox({ dir, clock: deps.clock })
}

/** Publications need Linux, an add-on and git: where they are not to be had, they are left out. */
const publishes = async (deps: VerbDeps): Promise<boolean> => {
  const { findTools } = await import('../../../codehost/producer/tools.js')
  try {
    await findTools(deps.producer)
    return true
  } catch (error) {
    if (!(error instanceof SallyportError) || error.code !== 'producer_unsupported') throw error
    deps.io.writeOut('Publications are left out: this machine has not what they need.\n')
    return false
  }
}

export const demo = verb(sandboxDemo, {
  summary: 'see the whole program at work, with no key, no cost and no network',
  description:
    'Starts the sandbox on loopback, makes a temporary state directory and runs real commands '
    + 'against it over real TLS. Each step is printed as the command a person would type and '
    + 'what it answered. Nothing is left running; the state stays for a look.',
  examples: ['$ sallyport demo'],
  damage: 'unasked',
  exits: [],
  text: ({ dir, state_dir, config_dir }) => [
    '',
    'That was the demo. Nothing is left running. Look around in what it left:',
    `    export SALLYPORT_STATE_DIR=${state_dir} SALLYPORT_CONFIG_DIR=${config_dir}`,
    '    sallyport status',
    `The page of the report: ${join(dir, 'report.html')}`,
    `Remove it with: rm -r ${dir}`,
    '',
  ].join('\n'),
  run: async (_request, deps) => {
    const dir = await mkdtemp(join(tmpdir(), 'sallyport-demo-'))
    const folders = {
      stateDir: join(dir, 'state'), configDir: join(dir, 'config'), device: join(dir, 'device'),
    }
    deps.io.writeOut(
      'The sandbox plays provider, gateway and code host on loopback, over real TLS.\n')
    const sandbox = await startSandboxIn(deps, join(dir, 'sandbox'))
    try {
      const stage = openStage(deps, folders)
      await playAlpha(stage, sandbox)
      const shots = shotsPlaces(dir)
      await playShots(stage, sandbox, shots)
      await playEdge(deps, stage, edgePlaces(dir, folders.stateDir, shots))
      await playCodehost(stage, sandbox, {
        source: join(dir, 'source'), publishes: await publishes(deps),
      })
      await stage.play({ say: 'The state is sound.', argv: ['state', 'check'] })
      await stage.play({ say: 'Everything at a glance.', argv: ['status'] })
    } finally {
      await sandbox.stop()
    }
    return {
      dir, state_dir: folders.stateDir, config_dir: folders.configDir,
    }
  },
})
