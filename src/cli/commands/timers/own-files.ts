/** Files of this program in a folder of others: they are told from all others by what they hold. */
import {
  lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '../../../base/errors.js'
import { ioFailure } from '../../../state/files.js'

/** A file by its name in the folder, whole. */
export interface OwnFile {
  readonly name: string
  readonly text: string
}

/** A folder in which others have files, too. */
export interface OwnFiles {
  readonly folder: string
  /** What lies there, in a few words. */
  readonly what: string
  /** Whether a text is of this program. */
  isOwn(text: string): boolean
  /** What is thrown for a name that is taken. */
  foreign(file: string): SallyportError
  /** What is thrown where the disk refuses, its own failure in `details`. */
  refused(doing: 'read' | 'written', failure: SallyportError, cause: unknown): SallyportError
}

/** Whose a path is. A link is somebody else's, wherever it leads: so is a unit that is masked. */
const ownerOf = (path: string, isOwn: OwnFiles['isOwn']): 'nobody' | 'own' | 'foreign' => {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return 'nobody'
  return found.isFile() && isOwn(readFileSync(path, 'utf8')) ? 'own' : 'foreign'
}

/** What `fn` gives. Throws `failed`: `disk_full`, or what the folder says for all else. */
export const orRefused = <T>(files: OwnFiles, doing: 'read' | 'written', fn: () => T): T => {
  try {
    return fn()
  } catch (error) {
    if (error instanceof SallyportError) throw error
    const failure = ioFailure(error, files.what)
    throw failure.code === 'disk_full' ? failure : files.refused(doing, failure, error)
  }
}

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Names in the folder that begin so and are those of this program's files, in order; throws. */
export const ownNames = (files: OwnFiles, prefix: string): readonly string[] =>
  orRefused(files, 'read', () => namesIn(files.folder).filter((name) =>
    name.startsWith(prefix) && ownerOf(join(files.folder, name), files.isOwn) === 'own').sort())

/** Those of these names that somebody else has taken; throws as `orRefused`. */
export const foreignNames = (files: OwnFiles, names: readonly string[]): readonly string[] =>
  orRefused(files, 'read', () => names.filter((name) =>
    ownerOf(join(files.folder, name), files.isOwn) === 'foreign'))

/** Removes what was being written in names that begin so, by a process that was cut off; throws. */
export const removeUnfinished = (files: OwnFiles, prefix: string): void =>
  orRefused(files, 'written', () => {
    const isUnfinished = (name: string): boolean =>
      name.startsWith(`.${prefix}`) && /\.\d+$/.test(name)
    for (const name of namesIn(files.folder).filter(isUnfinished)) rmSync(join(files.folder, name))
  })

/** Throws `foreign` for a name that is taken, and as `orRefused`. */
export const requireFree = (files: OwnFiles, written: readonly OwnFile[]): void => {
  const [taken] = foreignNames(files, written.map(({ name }) => name))
  if (taken !== undefined) throw files.foreign(taken)
}

/**
 * Writes files in place of earlier ones: each whole, and none before the disk took them all. Throws
 * `foreign` for a name that is taken, with nothing changed, and as `orRefused`.
 */
export const writeOwn = (files: OwnFiles, written: readonly OwnFile[]): void => {
  // Two installs at once do not write into one another's files.
  const fresh = (name: string): string => join(files.folder, `.${name}.${process.pid}`)
  const place = (name: string): string => join(files.folder, name)
  orRefused(files, 'written', () => {
    mkdirSync(files.folder, { recursive: true })
    requireFree(files, written)
    try {
      for (const { name, text } of written) writeFileSync(fresh(name), text, { mode: 0o600 })
      for (const { name } of written) renameSync(fresh(name), place(name))
    } finally {
      for (const { name } of written) rmSync(fresh(name), { force: true })
    }
  })
}
