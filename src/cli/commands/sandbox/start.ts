/** `sallyport sandbox start`: runs the embedded outside world until it is told to stop. */
import { sandboxStart, type SandboxStartedDocument } from '../../../sandbox/sandbox-contract.js'
import type { Sandbox } from '../../../sandbox/start.js'
import { shellWord } from '../../../base/told.js'
import { fieldLines } from '../../text.js'
import type { CliDeps } from '../../deps.js'
import type { View } from '../../output.js'
import { requestOf } from '../../request.js'
import type { LineOf, VerbRecord } from '../../verb.js'
import { startBehind } from './background.js'
import { alreadyRunning, claimFolder, isRunning } from './claim.js'
import { defaultSandboxDir, dirFlag, sandboxCommand, sandboxDir } from './dir.js'

type SandboxStartOptions = LineOf<typeof sandboxStart>

/** Sandboxes that run in this process, by the result that names them. */
const running = new WeakMap<SandboxStartedDocument, Sandbox>()

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

const factsOf = (started: SandboxStartedDocument): string => fieldLines([
  ['sandbox', started.dir],
  ['profile', started.profile_file],
  ['provider key', started.provider_key_file],
  ['gateway key', started.gateway_key_file],
  ['code host token', started.codehost_token_file],
  ['process', String(started.pid)],
])

/** Of one in the background: how it is used and how it ends. */
const behindText = (started: SandboxStartedDocument, view: View, deps: CliDeps): string => {
  const isDefault = started.dir === defaultSandboxDir(deps)
  const profile = isDefault ? 'sandbox' : shellWord(started.profile_file)
  return factsOf(started) + fieldLines([
    ['use it', view.command(`init --profile ${profile}`)],
    ['end it', sandboxCommand(deps, started.dir, 'stop')],
  ])
}

const textOf = (started: SandboxStartedDocument): string =>
  [
    factsOf(started),
    'Try this in another terminal:',
    '  $ export SALLYPORT_STATE_DIR="$(mktemp -d)/state"',
    `  $ sallyport init --profile ${shellWord(started.profile_file)}`,
    '  $ sallyport login',
    '  $ sallyport alpha show',
    '  $ sallyport alpha setup --enable --acknowledge \\',
    '      --max-output-tokens 256 --timeout-seconds 30 \\',
    '      --request-cost-bound 0.10usd --spend-ceiling 1.00usd \\',
    `      --api-key-file ${shellWord(started.provider_key_file)} \\`,
    '      --expected-revision N     # the number that `alpha show` printed',
    "  $ echo 'What is a sally port?' | sallyport alpha ask",
    '  $ sallyport gateway setup --slot chat --model gateway/acme/text-1 \\',
    '      --upstream-allow acme-host \\',
    `      --api-key-file ${shellWord(started.gateway_key_file)} --consent gateway.chat \\`,
    '      --acknowledge --expected-revision N   # that of `gateway show`',
    '  $ sallyport gateway prove chat',
    `  $ sallyport sandbox fault set billing_no_entry --dir ${shellWord(started.dir)}`,
    `  $ sallyport sandbox status --dir ${shellWord(started.dir)}`,
    'Ctrl-C stops it.',
    '',
  ].join('\n')

/**
 * Starts the sandbox. Throws `sandbox_dir_not_empty` (rejected), `sandbox_running` and
 * `sandbox_port_taken` (conflict); in the background `sandbox_not_started` (failed) besides.
 */
export const start: VerbRecord<SandboxStartOptions, SandboxStartedDocument> = {
  summary: 'run a provider, a gateway and a code host on loopback, with real TLS',
  description:
    'Runs a text provider, a model gateway and a code host on this machine. It makes a certificate '
    + 'and writes the deployment profile for `init`. Any key is accepted, nothing costs anything '
    + 'and nothing leaves the machine. It stays in the foreground until Ctrl-C, SIGTERM '
    + 'or `sandbox stop`. With --background it is a process of its own, which outlives this '
    + 'command and its terminal. The folder keeps ports and certificate, so that a state made '
    + 'against it works again after the next start. One folder runs one sandbox.',
  examples: [
    '$ sallyport sandbox start',
    '$ sallyport sandbox start --dir ./sandbox',
    '$ sallyport sandbox start --background',
    '$ sallyport sandbox start --json',
  ],
  damage: 'unasked',
  exits: ['rejected', 'conflict', 'cancelled'],
  json: sandboxStart,
  flags: (command) => command
    .option(...dirFlag)
    .option('--background', 'return once it serves; `sandbox stop` ends it'),
  text: (started, view, deps) => view.foreign(running.has(started) ? textOf(started)
    : behindText(started, view, deps)),
  after: async (started, deps) => {
    const sandbox = running.get(started)
    if (sandbox === undefined) return
    await Promise.race([stopped(deps.stop), sandbox.askedToStop])
    await sandbox.stop()
  },
  run: async (options, deps) => {
    const [{ startSandbox }, { prepareFolder }] = await Promise.all([
      import('../../../sandbox/start.js'), import('../../../sandbox/folder.js'),
    ])
    const { dir: given, background } = requestOf(sandboxStart, options)
    const dir = sandboxDir(deps, given)
    if (background === true) {
      // Who types it twice is told at once, in words of its own.
      if (isRunning(dir)) throw await alreadyRunning(deps, dir)
      await prepareFolder(dir)
      return startBehind(deps, dir)
    }
    const sandbox = await startSandbox({ dir, clock: deps.clock, claim: claimFolder(deps) })
    const started = sandboxStart.answer({ dir, sandbox })
    running.set(started, sandbox)
    return started
  },
}
