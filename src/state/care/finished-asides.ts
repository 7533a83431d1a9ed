/**
 * Copies that repairs and restores put aside, once they are finished: the anchor vouches for the
 * store and everything that they owed has been carried over. One that holds what nobody could read,
 * or content that stood in the place of an artifact, goes by name only.
 */
import { join } from 'node:path'
import { fail } from '../../base/errors.js'
import { isReadWhole, settledFormers, type FinishedFormer } from './aside.js'
import { filesOf } from '../directory.js'
import { orIoFailure, removeTree, syncDir, type Files } from '../files.js'
import { requireOwnFolders } from '../folders.js'
import { placesOf } from '../paths.js'
import type { Store } from '../types.js'

/** Folders under such a name are being removed; nothing is ever carried over from one. */
const goneName = /^gone-/

/** Content that a restore found in the place of an artifact whose bytes were not its name. */
const isUntrue = (name: string): boolean => name.startsWith('untrue-')

/** Whether nothing but regular files and folders lies below a folder. */
const isPlain = (files: Files, folder: string): boolean => files.list(folder).every((name) => {
  const kind = files.stat(join(folder, name))?.kind
  return kind === 'file' || (kind === 'dir' && isPlain(files, join(folder, name)))
})

const mayGo = (files: Files, storeId: string, former: FinishedFormer): boolean =>
  !files.list(former.path).some(isUntrue) && isPlain(files, former.path)
  && isReadWhole(former, storeId, files)

/** Finished copies of before `beforeMs` that may go without being named; reads only. */
export const finishedAsides = (store: Store, beforeMs: number): readonly string[] => {
  const { files, dir, storeId } = filesOf(store)
  if (store.anchor().status !== 'ok') return []
  return settledFormers(dir, files)
    .filter((former) => former.atMs < beforeMs && mayGo(files, storeId, former))
    .map(({ name }) => name)
}

/** Whether a finished copy has this name, whatever of it could be read. Reads only. */
export const isFinishedAside = (store: Store, name: string): boolean => {
  const { files, dir } = filesOf(store)
  return store.anchor().status === 'ok'
    && settledFormers(dir, files).some((one) => one.name === name)
}

/**
 * Removes copies by name, and what an earlier run left of some. Each gets another name first, in
 * one step, so that no later restore takes half of one for a state that owes something. Answers how
 * many went.
 */
export const dropAsides = async (
  store: Store, names: readonly string[], verb: string,
): Promise<number> => {
  const at = filesOf(store)
  const { files, dir } = at
  const { aside } = placesOf(dir)
  if (files.stat(aside) === undefined) return 0
  const renamed = await at.exclusive(verb, () => {
    requireOwnFolders(files, dir, ['aside'])
    // A restore that came into force meanwhile is not finished before its anchor is.
    const settled = at.anchor().status === 'ok' ? settledFormers(dir, files) : []
    const found = names.filter((name) => settled.some((one) => one.name === name))
    orIoFailure('removing a copy', () => {
      for (const name of found) files.rename(join(aside, name), join(aside, `gone-${name}`))
      syncDir(files, aside)
    })
    return found.length
  })
  orIoFailure('removing a copy', () => {
    for (const name of files.list(aside).filter((one) => goneName.test(one))) {
      const path = join(aside, name)
      if (files.stat(path)?.kind === 'dir') removeTree(files, path)
    }
    syncDir(files, aside)
  })
  return renamed
}

/** `not_found` `aside_not_found`: no finished copy of this name. */
export const asideNotFound = (): Error =>
  fail.notFound('aside_not_found', 'No finished copy of this name lies aside.', {
    next: 'Copies lie in the folder aside/ of the state directory. What is not finished stays; a '
      + 'folder unreadable-… there you may remove yourself.',
  })
