/** What a name stands for, and which name a place has. Reads the file of names and nothing else. */
import { dirname } from 'node:path'
import { fail, SallyportError } from '../../base/errors.js'
import { baseFolderIfNamed, type NamesPlaces } from '../../base/user-folders.js'
import { namesPath, readNames, type NamedState } from './file.js'

/** The two folders of a state, absolute. */
interface Folders {
  readonly stateDir: string
  readonly configDir: string
}

/** Finds the folders of a named state; loaded only where a line or its environment names one. */
export type FoldersNamed = (process: NamesPlaces, name: string) => Folders

/** The folders that an entry of a file stands for. */
export const foldersOf = (path: string, named: NamedState): Folders =>
  ({ stateDir: named.state_dir, configDir: named.config_dir ?? dirname(path) })

/**
 * The folders of a named state. Throws `usage` `at_unknown`, and what finding and reading the file
 * throws.
 */
export const foldersNamed = (process: NamesPlaces, name: string): Folders => {
  const path = namesPath(process)
  const found = readNames(path).find((one) => one.name === name)
  if (found === undefined) {
    throw fail.usage('at_unknown', 'No state has the name that --at or SALLYPORT_AT gives.', {
      next: '`sallyport at list` shows the names; `sallyport at add NAME DIR` gives one.',
    })
  }
  return foldersOf(path, found)
}

/** A process and the folders that are in force in it. */
export interface Placed extends NamesPlaces { readonly places: Folders }

/**
 * The name of the state that is in force, however it was said; null where it has none. A file that
 * cannot be used names nothing here: it is refused where a name decides.
 */
export const nameInForce = ({ env, home, places }: Placed): string | null => {
  if (baseFolderIfNamed({ env, home }, 'XDG_CONFIG_HOME') === null) return null
  try {
    const path = namesPath({ env, home })
    return readNames(path).find((one) => {
      const { stateDir, configDir } = foldersOf(path, one)
      return stateDir === places.stateDir && configDir === places.configDir
    })?.name ?? null
  } catch (error) {
    if (error instanceof SallyportError) return null
    throw error
  }
}
