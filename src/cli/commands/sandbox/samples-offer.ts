/** In a rehearsal a form offers screenshots of the sandbox's own, for whoever has none yet. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Gov } from '../../../governance/context.js'
import { deploymentProfile } from '../../../governance/profile.js'
import type { VerbDeps } from '../../verb.js'
import { rehearsalOf } from './rehearsal.js'

/** A folder that is not there yet, and what would lie in it. */
export interface SamplesOffer {
  readonly folder: string
  /** As it is offered. */
  readonly label: string
  /** The line that makes it. */
  readonly typed: readonly string[]
  /** Makes it. Throws as `sandbox samples` does. */
  write(): Promise<void>
}

/** Samples of an earlier rehearsal are of another day: a later one gets its own beside them. */
const freshFolder = (home: string, nth = 1): { readonly folder: string; readonly name: string } => {
  const name = nth === 1 ? 'sample-screens' : `sample-screens-${nth}`
  const folder = join(home, name)
  return existsSync(folder) ? freshFolder(home, nth + 1) : { folder, name }
}

/** The offer; null where a folder is saved, or the state is no rehearsal. */
export const samplesOffer = async (
  deps: VerbDeps, gov: Gov, saved: string | null,
): Promise<SamplesOffer | null> => {
  if (saved !== null) return null
  if (await rehearsalOf(deps, deploymentProfile(gov.store)) === null) return null
  const { folder, name } = freshFolder(deps.home)
  return {
    folder, label: `six made-up ones, in ~/${name}`,
    typed: ['sandbox', 'samples', folder],
    write: async () => {
      const { writeSamples } = await import('../../../sandbox/samples/write.js')
      writeSamples(folder, deps.clock.wallMs())
    },
  }
}
