/** A state that is sealed for the sandbox of this machine: what its set-up may fill in. */
import { join } from 'node:path'
import type { DeploymentProfile } from '../../../governance/profile.js'
import type { SlotName } from '../../../gateway/constants.js'
import { folderFiles, readFolder } from '../../../sandbox/folder.js'
import type { VerbDeps } from '../../verb.js'
import { isRunning } from './claim.js'
import { defaultSandboxDir } from './dir.js'

/** What the sandbox takes. */
export interface Rehearsal {
  readonly dir: string
  readonly isRunning: boolean
  /** Files with a key, mode 600. */
  readonly keyFiles: { readonly provider: string; readonly gateway: string }
  /** A model of a slot, and the host that serves it. */
  modelOf(slot: SlotName): string
  readonly host: string
}

/**
 * The rehearsal of a sealed profile; null where the profile is for anybody else than the sandbox of
 * the default folder. Looks at files of that folder alone.
 */
export const rehearsalOf = async (
  deps: VerbDeps, profile: Pick<DeploymentProfile, 'provider'>,
): Promise<Rehearsal | null> => {
  const dir = defaultSandboxDir(deps)
  if (dir === null) return null
  const folder = await readFolder(dir)
  const isItsOwn = folder !== null
    && profile.provider.base_url === `https://127.0.0.1:${folder.ports.provider}/v1`
  return !isItsOwn ? null : {
    dir, isRunning: isRunning(dir),
    keyFiles: {
      provider: join(dir, folderFiles.providerKey), gateway: join(dir, folderFiles.gatewayKey),
    },
    modelOf: (slot) => (slot === 'screenshot' ? 'gateway/acme/sees-1' : 'gateway/acme/text-1'),
    host: 'acme-host',
  }
}
