/** Unit files of the user: those of this program are told from all others by their first line. */
import {
  lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fail, SallyportError } from '../../../base/errors.js'
import { baseFolder } from '../../../base/user-folders.js'
import { unitMark, unitPrefix, type UnitFile } from '../../../fabric/timers/units.js'
import { ioFailure } from '../../../state/files.js'
import type { VerbDeps } from '../../verb.js'

/** Where units of the user lie; a relative path counts as absent, as for systemd. */
export const unitFolder = (deps: VerbDeps): string =>
  join(baseFolder(deps, 'XDG_CONFIG_HOME'), 'systemd/user')

/** Whose a path is. A link is somebody else's, wherever it leads: so is a unit that is masked. */
const ownerOf = (path: string): 'nobody' | 'own' | 'foreign' => {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return 'nobody'
  return found.isFile() && readFileSync(path, 'utf8').startsWith(unitMark) ? 'own' : 'foreign'
}

/** What `fn` gives; throws `failed`: `disk_full`, or `units_refused` for all else of the disk. */
const orRefused = <T>(doing: 'read' | 'written', fn: () => T): T => {
  try {
    return fn()
  } catch (error) {
    if (error instanceof SallyportError) throw error
    const failure = ioFailure(error, 'the user units')
    if (failure.code === 'disk_full') throw failure
    throw fail.failed('units_refused', `The folder of the user units cannot be ${doing}.`, {
      next: 'See whose ~/.config/systemd/user is, and which rights it has. Lines of a crontab '
        + 'need no units: `sallyport timers install --with cron`.',
      details: failure.details, cause: error,
    })
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

/** Names of the units of one state that this program made, in order. Throws as `orRefused`. */
export const ownUnits = (deps: VerbDeps, id: string): readonly string[] => {
  const folder = unitFolder(deps)
  return orRefused('read', () => namesIn(folder).filter((name) =>
    name.startsWith(unitPrefix(id)) && ownerOf(join(folder, name)) === 'own').sort())
}

const requireFree = (folder: string, files: readonly UnitFile[]): void => {
  const taken = files.find(({ name }) => ownerOf(join(folder, name)) === 'foreign')
  if (taken === undefined) return
  throw fail.conflict('unit_foreign', 'A unit of that name was made by somebody else.', {
    next: 'Nothing was changed. Move it away first.', details: { file: taken.name },
  })
}

/**
 * Writes the units in place of earlier ones: each whole, and none before the disk took them all.
 * Throws `conflict` `unit_foreign` for a name that is taken, with nothing changed, and as
 * `orRefused`.
 */
export const writeUnits = (deps: VerbDeps, files: readonly UnitFile[]): void => {
  const folder = unitFolder(deps)
  // Two installs at once do not write into one another's files.
  const fresh = (name: string): string => join(folder, `.${name}.${process.pid}`)
  orRefused('written', () => {
    mkdirSync(folder, { recursive: true })
    requireFree(folder, files)
    try {
      for (const { name, text } of files) writeFileSync(fresh(name), text, { mode: 0o600 })
      for (const { name } of files) renameSync(fresh(name), join(folder, name))
    } finally {
      for (const { name } of files) rmSync(fresh(name), { force: true })
    }
  })
}

/** Removes units, and the links by which they were enabled. */
export const removeUnits = (deps: VerbDeps, names: readonly string[]): void => {
  const folder = unitFolder(deps)
  orRefused('written', () => {
    for (const name of names) {
      const link = join(folder, 'timers.target.wants', name)
      if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(link)
      rmSync(join(folder, name), { force: true })
    }
  })
}
