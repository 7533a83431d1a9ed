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

/** The offer; null where a folder is saved or that one is there, or the state is no rehearsal. */
export const samplesOffer = async (
  deps: VerbDeps, gov: Gov, saved: string | null,
): Promise<SamplesOffer | null> => {
  const folder = join(deps.home, 'sample-screens')
  if (saved !== null || existsSync(folder)) return null
  if (await rehearsalOf(deps, deploymentProfile(gov.store)) === null) return null
  return {
    folder, label: 'six made-up ones, in ~/sample-screens',
    typed: ['sandbox', 'samples', folder],
    write: async () => {
      const { writeSamples } = await import('../../../sandbox/samples/write.js')
      writeSamples(folder, deps.clock.wallMs())
    },
  }
}
