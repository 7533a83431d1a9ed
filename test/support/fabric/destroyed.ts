/** A world whose state is destroyed, and what is looked at afterwards. */
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Place, Ran, RunOptions } from '../../world/place.js'

/** The line of a script that acknowledges the name; the state of a place has its folder's. */
export const destroyLine = (...more: readonly string[]): string[] =>
  ['state', 'destroy', '--acknowledged-destroy', 'state', '--json', ...more]

/** Runs it in this process. */
export const destroy = (
  place: Place, more: readonly string[] = [], options: RunOptions = {},
): Promise<Ran> => place.run(destroyLine(...more), options)

/** Every entry below a folder with what it holds, as one text; a link is what it says. */
export const treeOf = (dir: string): readonly string[] =>
  (!existsSync(dir) ? [] : readdirSync(dir, { recursive: true }).map(String).sort()
    .map((name) => {
      const path = join(dir, name)
      const facts = lstatSync(path)
      const digest = facts.isFile()
        ? createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16) : 'other'
      return `${name} ${digest}`
    }))

/** Names of the key folder, which a destruction leaves as they are. */
export const keyNames = (place: Place): readonly string[] =>
  readdirSync(join(place.configDir, 'keys')).filter((name) => !name.endsWith('.stops')).sort()
