/** What a refused upload must leave as it was. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Every file of a state but those of `run/`, with its size; a log that grew shows as one. */
export const artifactMarks = (stateDir: string): readonly string[] =>
  readdirSync(stateDir, { recursive: true, encoding: 'utf8' })
    .filter((path) => !/^(run|lock|fold)(\/|$)/.test(path))
    .filter((path) => statSync(join(stateDir, path)).isFile())
    .filter((path) => path.startsWith('artifacts/'))
    .sort()
