import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Placed } from '../world/world.js'

/**
 * What keeps paid results from being sealed, while records still fit and keys are read: whenever an
 * order is at it, a file stands in the place of the artifacts. For `at` of a run in this process;
 * `sealed` is the word of the step behind it.
 */
export const noArtifactsAt = (
  world: Pick<Placed, 'place'>, step: string, sealed = 'sealed',
) => {
  const artifacts = join(world.place.stateDir, 'artifacts')
  return (at: string): void => {
    if (at === `${step}.charge_known`) {
      renameSync(artifacts, `${artifacts}.away`)
      writeFileSync(artifacts, '')
    }
    if (at === `${step}.${sealed}`) {
      rmSync(artifacts)
      renameSync(`${artifacts}.away`, artifacts)
    }
  }
}
