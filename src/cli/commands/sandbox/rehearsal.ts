/** A state that is sealed for the sandbox of this machine: what its set-up may fill in. */
import { dirname, join } from 'node:path'
import { shellWord } from '../../../base/told.js'
import type { Gov } from '../../../governance/context.js'
import { deploymentProfile, type DeploymentProfile } from '../../../governance/profile.js'
import type { SlotName } from '../../../gateway/constants.js'
import { folderFiles, readFolder } from '../../../sandbox/folder.js'
import type { VerbDeps } from '../../verb.js'
import { isRunning } from './claim.js'
import { defaultSandboxDir } from './dir.js'

/** What the sandbox takes. */
export interface Rehearsal {
  readonly dir: string
  readonly isRunning: boolean
  /** Files with a key or a token, mode 600. */
  readonly keyFiles: {
    readonly provider: string; readonly gateway: string; readonly codehost: string
  }
  /** A model of a slot, and the host that serves it. */
  modelOf(slot: SlotName): string
  readonly host: string
  /** The repository that its code host has from the start. */
  readonly repository: string
}

/** The demo keeps its sandbox beside its state, everybody else in the default folder. */
const ownSandbox = async (
  deps: VerbDeps, { provider }: Pick<DeploymentProfile, 'provider'>,
): Promise<string | null> => {
  for (const dir of [defaultSandboxDir(deps), join(dirname(deps.places.stateDir), 'sandbox')]) {
    const folder = dir === null ? null : await readFolder(dir)
    if (folder === null) continue
    if (provider.base_url === `https://127.0.0.1:${folder.ports.provider}/v1`) return dir
  }
  return null
}

/**
 * The rehearsal of a sealed profile; null where the profile is for anybody else than the sandbox of
 * the default folder or of one beside the state. Looks at files of these folders alone.
 */
export const rehearsalOf = async (
  deps: VerbDeps, profile: Pick<DeploymentProfile, 'provider'>,
): Promise<Rehearsal | null> => {
  const dir = await ownSandbox(deps, profile)
  return dir === null ? null : {
    dir, isRunning: isRunning(dir),
    keyFiles: {
      provider: join(dir, folderFiles.providerKey), gateway: join(dir, folderFiles.gatewayKey),
      codehost: join(dir, folderFiles.codehostToken),
    },
    modelOf: (slot) => (slot === 'screenshot' ? 'gateway/acme/sees-1' : 'gateway/acme/text-1'),
    host: 'acme-host', repository: 'operator/notes',
  }
}

/** Says so where the sandbox that a state is sealed for does not run: nothing answers then. */
export const noteStoppedSandbox = async (deps: VerbDeps, { store }: Gov): Promise<void> => {
  if (deps.globals.json) return
  const rehearsal = await rehearsalOf(deps, deploymentProfile(store))
  if (rehearsal === null || rehearsal.isRunning) return
  const { dir } = rehearsal
  const named = dir === defaultSandboxDir(deps) ? '' : ` --dir ${shellWord(dir)}`
  deps.note('The sandbox of this state does not run: '
    + `\`sallyport sandbox start --background${named}\``)
}
