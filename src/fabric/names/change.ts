/**
 * Giving names to states and forgetting them. One process at a time changes the file, so that two
 * which add at once lose neither; it is replaced whole and synced, so that a crash leaves the names
 * of before or of after.
 */
import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from '../../base/clock.js'
import { errnoOf, fullDisk } from '../../base/errno.js'
import { fail, SallyportError } from '../../base/errors.js'
import { realOf, type NamesPlaces } from '../../base/user-folders.js'
import {
  ensureDurableDirs, isTemporary, namesIn, nodeFiles, publish, removeFile,
} from '../../state/files.js'
import { fileLock, takeLock } from '../../state/lock.js'
import {
  nameForm, namesBytes, namesBytesMax, namesMax, namesPath, readNames, type NamedState,
} from './file.js'

/** A process that changes names. */
export interface NamesSite extends NamesPlaces {
  readonly clock: Clock
  /** Aborted when the process is to stop. */
  readonly signal: AbortSignal
  /** Longest wait for another process that changes them, ms. */
  readonly waitMs: number
}

type Names = readonly NamedState[]

const seeList = '`sallyport at list` shows the names, `sallyport at remove NAME` forgets one.'

/**
 * The names with this one; the very list where it stands there already. Throws `conflict`
 * `name_taken` and `state_named`, `rejected` `names_full`.
 */
export const withName = (names: Names, wanted: NamedState, real = realOf): Names => {
  const before = names.find(({ name }) => name === wanted.name)
  if (before?.state_dir === wanted.state_dir && before.config_dir === wanted.config_dir) {
    return names
  }
  if (before !== undefined) {
    throw fail.conflict('name_taken', 'That name stands for another state, or other keys.', {
      next: seeList,
    })
  }
  if (names.some(({ state_dir: dir }) => real(dir) === real(wanted.state_dir))) {
    throw fail.conflict('state_named', 'That state directory has a name already.', {
      next: seeList,
    })
  }
  const after = [...names, wanted].sort((a, b) => (a.name < b.name ? -1 : 1))
  if (after.length > namesMax || namesBytes(after).length > namesBytesMax) {
    throw fail.rejected(
      'names_full', `There is room for ${namesMax} names, in a file of ${namesBytesMax} bytes.`, {
        next: seeList, details: { names_max: namesMax, bytes_max: namesBytesMax },
      })
  }
  return after
}

/** What a failure of the disk is here; those of the lock are in words of names. */
const refusalOf = (error: unknown): unknown => {
  if (error instanceof SallyportError) {
    if (error.kind === 'locked') {
      return fail.locked('names_locked', 'Another process changes the names of states.', {
        next: 'Try again, or wait longer with --wait SECONDS.', cause: error,
      })
    }
    if (error.code === 'lock_wait_stopped') {
      return fail.cancelled('names_stopped', 'Stopped while waiting for another process.', {
        next: 'Nothing was changed. Run it again when the other process is done.', cause: error,
      })
    }
    return error
  }
  const [errno, what] = [errnoOf(error), 'writing the names of states']
  if (errno === '') return error
  return fullDisk(error, what)
    ?? fail.failed('names_not_written', `The names of states cannot be written (${errno}).`, {
      next: 'Look at the owner and mode of the folder: `sallyport help files` says where it lies.',
      details: { errno }, cause: error,
    })
}

/** Changes the file while nobody else does; nothing is written where nothing changes. */
const changeNames = async (
  site: NamesSite, verb: string, change: (names: Names) => Names,
): Promise<Names> => {
  const path = namesPath(site)
  const folder = dirname(path)
  const lock = fileLock(join(folder, 'names.lock'), site.clock)
  try {
    ensureDurableDirs(nodeFiles, folder)
    await takeLock(lock, verb, site)
    // What a process left that died while it wrote: only the holder of the lock writes here.
    for (const name of namesIn(nodeFiles, folder).filter(isTemporary)) {
      removeFile(nodeFiles, join(folder, name))
    }
    const before = readNames(path)
    const after = change(before)
    if (after !== before) publish(nodeFiles, path, namesBytes(after))
    return after
  } catch (error) {
    throw refusalOf(error)
  } finally {
    lock.close()
  }
}

const requireFolder = (dir: string): void => {
  const facts = statSync(dir, { throwIfNoEntry: false })
  if (facts === undefined || facts.isDirectory()) return
  throw fail.rejected('name_no_folder', 'What is to be named is no folder.', {
    next: 'Name the state directory itself; one that is not there yet may have a name.',
  })
}

/** A folder of keys as an entry has it: null is the default one, wherever that comes to lie. */
const keysOf = (path: string, configDir: string): string | null =>
  (configDir === dirname(path) ? null : configDir)

/**
 * Gives a state a name; both folders are absolute. Answers the entry. Throws `rejected`
 * `name_form` and `name_no_folder`, and as `withName`, `readNames`, `takeLock` and the disk.
 */
export const addName = async (
  site: NamesSite, { name, stateDir, configDir }: {
    readonly name: string; readonly stateDir: string; readonly configDir: string
  },
): Promise<NamedState> => {
  if (!nameForm.test(name)) {
    throw fail.rejected(
      'name_form', 'A name is 1 to 32 of a-z, 0-9 and -, and does not begin with -.', {
        details: { length_max: 32 },
      })
  }
  requireFolder(stateDir)
  const wanted = { name, state_dir: stateDir, config_dir: keysOf(namesPath(site), configDir) }
  await changeNames(site, 'at add', (names) => withName(names, wanted))
  return wanted
}

/** Forgets a name; answers what it stood for. Throws `not_found` `name_not_found`. */
export const removeName = async (site: NamesSite, name: string): Promise<NamedState> => {
  let found: NamedState | undefined
  await changeNames(site, 'at remove', (names) => {
    found = names.find((one) => one.name === name)
    return found === undefined ? names : names.filter((one) => one !== found)
  })
  if (found !== undefined) return found
  throw fail.notFound('name_not_found', 'No state has that name.', {
    next: '`sallyport at list` shows the names.',
  })
}
