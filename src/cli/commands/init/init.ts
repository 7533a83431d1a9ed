import { dirname, join, resolve } from 'node:path'
import { existsSync, readFileSync } from 'node:fs'
import { fail } from '../../../base/errors.js'
import { baseFolder, pathFrom } from '../../../base/user-folders.js'
import { stateInit, type InitDocument } from '../../../fabric/init-contract.js'
import { caBytesMax, parseProfile, profileBytesMax } from '../../../governance/profile-file.js'
import { defaultProfile, type DeploymentProfile } from '../../../governance/profile.js'
import { readInput, readSecret } from '../../input.js'
import { requestOf } from '../../request.js'
import type { LineOf, VerbRecord, VerbDeps } from '../../verb.js'
import type { ServerLine } from '../machine/server.js'

interface InitOptions extends Omit<LineOf<typeof stateInit>, 'passphrase'>, ServerLine {
  readonly profile?: string
  readonly passphraseFile?: string
  readonly shared?: string
}

const workspaceOf = (deps: VerbDeps, given: string | undefined): string => {
  if (given !== undefined) {
    if (given.startsWith('/')) return pathFrom('/', given)
    throw fail.rejected('workspace_not_absolute', 'The workspace must be an absolute path.')
  }
  const instead = 'Or name the workspace, too: `sallyport init --workspace DIR`.'
  return join(baseFolder(deps, 'XDG_DATA_HOME', instead), 'sallyport')
}

const readCa = (folder: string) => (path: string): Uint8Array => {
  try {
    return readFileSync(resolve(folder, path)).subarray(0, caBytesMax + 1)
  } catch (cause) {
    throw fail.rejected('ca_unreadable', 'The CA file that the profile names cannot be read.', {
      cause,
    })
  }
}

/** What is no name of a profile is a file where it looks like one or is there, and `-` stdin. */
const isFile = ({ cwd }: VerbDeps, profile: string): boolean => profile !== 'sandbox' && (
  profile === '-' || profile.includes('/') || profile.endsWith('.json')
  || existsSync(pathFrom(cwd, profile)))

/** The profile file of the sandbox that runs in the default folder. Throws as `askControl`. */
const profileOfSandbox = async (deps: VerbDeps, name: string): Promise<string> => {
  if (name !== 'sandbox') {
    throw fail.rejected('profile_unknown', 'There is no profile of that name, and no such file.', {
      next: 'Names are default and sandbox; anything else is a file.',
    })
  }
  const { profileOfRunning } = await import('../sandbox/profile.js')
  return profileOfRunning(deps)
}

const profileOf = async (deps: VerbDeps, options: InitOptions): Promise<DeploymentProfile> => {
  const workspace = workspaceOf(deps, options.workspace)
  const { profile = 'default' } = options
  if (profile === 'default') return { ...defaultProfile, workspace }
  const from = isFile(deps, profile) ? profile : await profileOfSandbox(deps, profile)
  const bytes = await readInput(deps, { from, flag: '--profile', bytesMax: profileBytesMax })
  const folder = from === '-' ? deps.cwd : dirname(pathFrom(deps.cwd, from))
  return parseProfile(bytes, workspace, readCa(folder))
}

const passphraseOf = async (deps: VerbDeps, file: string | undefined) => {
  if (file === undefined) return undefined
  return readSecret(deps, { from: file, flag: '--passphrase-file', bytesMax: 1_024 })
}

/** The server that the line names; undefined where the directory itself is the state. */
const serverNamed = async (deps: VerbDeps, options: InitOptions) => {
  const { shared, serverCa, serverPasswordFile, machineName } = options
  if (shared !== undefined) {
    const { serverOf } = await import('../machine/server.js')
    return serverOf(deps, shared, options)
  }
  const named = [serverCa, serverPasswordFile, machineName].filter((one) => one !== undefined)
  if (named.length === 0) return undefined
  throw fail.usage('shared_needed', 'Flags of a server are for a shared state only.', {
    next: 'Name the server, too: `sallyport init --shared ADDRESS`.',
  })
}

export const init: VerbRecord<InitOptions, InitDocument> = {
  summary: 'make the state directory',
  description:
    'Makes the state directory with its first owner. It seals the deployment profile: which '
    + 'provider, model and hosts this state may ever reach. Nothing can change them later. It '
    + 'opens no session and contacts nobody, but with --shared that server. Run again with the '
    + 'same profile, owner and workspace it changes nothing. --profile takes a name or a file. '
    + 'Default is NEAR AI Cloud for text, OpenRouter for pictures and GitHub. '
    + 'Sandbox is the sandbox that runs in its default folder. Both are sealed for good. The '
    + 'built-in profile and the form of a profile file: `sallyport help profile`. With --shared '
    + 'the state is kept, sealed, on a PostgreSQL server, so several machines can share it. The '
    + 'address is postgres://USER@HOST:PORT/DATABASE without a password. See `sallyport help '
    + 'shared`.',
  examples: [
    '$ sallyport init',
    '$ sallyport init --owner maria --passphrase-file ./passphrase',
    '$ sallyport init --profile sandbox',
    '$ sallyport init --profile ./sandbox/profile.json --state-dir /tmp/trial',
    '$ sallyport init --shared postgres://ops@db.example/sallyport --server-ca ca.pem',
  ],
  damage: 'unasked',
  exits: ['rejected', 'conflict', 'not_found', 'remote', 'locked', 'blocked', 'partial'],
  json: stateInit,
  flags: (command) => command
    .option('--profile <profile>', 'default, sandbox, or a file; sealed for good')
    .option('--owner <name>', 'name of the first owner (default: owner)')
    .option('--workspace <dir>', 'the workspace, an absolute path')
    .option('--passphrase-file <file>', 'a passphrase for the owner; - for stdin')
    .option('--shared <address>', 'keep it at this server, so that machines can share it')
    .option('--server-ca <file>', 'certificates that the server is verified by, PEM')
    .option('--server-password-file <file>', 'the password at the server')
    .option('--machine-name <name>', 'what this machine is called there (default: host name)'),
  text: (result, view) => [
    `state      ${result.state_dir}`,
    ...(result.shared === undefined ? [] : [
      `shared     ${result.shared.place}; this is ${result.shared.machine}`,
    ]),
    `owner      ${result.owner}`,
    `profile    ${result.profile}, sealed for good`,
    `provider   ${result.provider.name} at ${result.provider.base_url}`,
    `model      ${result.provider.model_id}`,
    `gateway    ${result.gateway_base_url ?? 'none'}`,
    `next       ${view.command('setup')}`,
    `           leads through the rest; or ${view.told('`sallyport login`')}`,
    '',
  ].join('\n'),
  run: async (options, deps) => {
    const profile = await profileOf(deps, options)
    const { initState, madeBefore } = await import('../../../fabric/init.js')
    const { stateDir: dir, configDir } = deps.places
    const { owner: ownerName = 'owner' } = requestOf(stateInit, options)
    const request = {
      dir, configDir, waitMs: deps.globals.waitMs, clock: deps.clock, signal: deps.stop, profile,
      ownerName, server: await serverNamed(deps, options),
    }
    const before = await madeBefore(request)
    if (before !== null) {
      deps.note('It is there already, with this profile, owner and workspace: nothing was changed.')
      return stateInit.answer({ ...before, profile })
    }
    const passphrase = await passphraseOf(deps, options.passphraseFile)
    const made = await initState({ ...request, passphrase })
    return stateInit.answer({ ...made, profile })
  },
}
