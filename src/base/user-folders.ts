/**
 * Places that the environment names. None is guessed: what is empty or relative where the XDG Base
 * Directory Specification wants an absolute path names nothing, and where nothing is named the
 * program says so, since the working folder of the moment would take keys and state in. Nor is a
 * path taken whose bytes are no UTF-8: Node hands those over as U+FFFD, so that two such names
 * would be one folder, and neither of the two.
 * https://specifications.freedesktop.org/basedir-spec/latest/
 */
import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { fail } from './errors.js'

/** Base folders of the specification, and where they are below home unless they are named. */
const belowHome = {
  XDG_CACHE_HOME: '.cache',
  XDG_CONFIG_HOME: '.config',
  XDG_DATA_HOME: '.local/share',
  XDG_STATE_HOME: '.local/state',
} as const

/** The part of a process that names places. */
export interface NamesPlaces {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Home folder as the system tells it; worth nothing unless it is absolute. */
  readonly home: string
}

/** A variable that names a base folder. */
export type BaseFolder = keyof typeof belowHome

/** A base folder of the user, absolute; null where neither its variable nor HOME names it. */
export const baseFolderIfNamed = ({ env, home }: NamesPlaces, name: BaseFolder): string | null => {
  const named = env[name] ?? ''
  if (isAbsolute(named)) return named
  return isAbsolute(home) ? join(home, belowHome[name]) : null
}

/**
 * The path itself. Throws `rejected` `path_not_utf8` where bytes of it were lost before the program
 * saw it; one that has the character U+FFFD by right cannot be told from those.
 */
const requireUtf8Path = (path: string): string => {
  if (!path.includes('\ufffd')) return path
  throw fail.rejected('path_not_utf8', 'A path that was given, or what it lies in, is no UTF-8.', {
    next: 'Rename the folder or file, or reach it by a link whose name is UTF-8.',
  })
}

/** A path as it was given, made absolute from a folder. Throws as `requireUtf8Path`. */
export const pathFrom = (folder: string, given: string): string =>
  requireUtf8Path(resolve(folder, given))

/**
 * As `baseFolderIfNamed`; throws `rejected` `home_not_absolute` for null, and `path_not_utf8`.
 * @param instead a sentence: what names the same place where there is no home
 */
export const baseFolder = (process: NamesPlaces, name: BaseFolder, instead = ''): string => {
  const folder = baseFolderIfNamed(process, name)
  if (folder !== null) return requireUtf8Path(folder)
  throw fail.rejected('home_not_absolute', 'HOME is no absolute path; no place follows from it.', {
    next: `Set HOME to an absolute path, or ${name}. ${instead}`.trim(),
    details: { variable: name },
  })
}

/**
 * A folder of the user's Library, where a Mac has what belongs to it. Throws `rejected`
 * `home_not_absolute`.
 */
export const libraryFolder = (
  { home }: Pick<NamesPlaces, 'home'>, name: 'LaunchAgents' | 'Logs/sallyport',
): string => join(baseFolder({ env: {}, home }, 'XDG_CONFIG_HOME'), '..', 'Library', name)

/** A path by what it leads to; of what is not there, the nearest part that is, and the rest. */
export const realOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realOf(parent), basename(path))
  }
}
