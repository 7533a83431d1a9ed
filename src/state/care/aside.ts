/** Former states that repairs and restores have put aside, as far as each can still be read. */
import { basename, join } from 'node:path'
import type { Files } from '../files.js'
import { nodeFiles, publish } from '../files.js'
import { epochText, partName, placesOf, type Places } from '../paths.js'
import { readFormer, type Former } from './former.js'

/** Folders into which a repair or a restore copies what it replaces, and what a backup salvages. */
const formerName = /^(?:repair|restore|salvage)-(.+)$/

/** A file of this name says that everything of the folder's state has been carried over. */
const settledName = 'SETTLED'

const ageOf = (path: string): string => formerName.exec(basename(path))?.[1] ?? ''

/** Folders of former states of the state directory `dir`, oldest first. */
const formerFolders = (dir: string, files: Files): readonly string[] => {
  const { aside } = placesOf(dir)
  if (files.stat(aside)?.kind !== 'dir') return []
  return files.list(aside)
    .filter((name) => formerName.test(name))
    .map((name) => join(aside, name))
    .filter((path) => files.stat(path)?.kind === 'dir')
    .sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))
}

/** A repair copies all files into one folder, a restore keeps the folders of the state. */
const placesIn = (files: Files, path: string): Places => {
  const places = placesOf(path)
  if (files.stat(places.wal)?.kind === 'dir') return places
  return {
    ...places,
    wal: path,
    collections: path,
    log: (epoch) => join(path, `${epochText(epoch)}.log`),
    manifest: (epoch) => join(path, `manifest.${epochText(epoch)}.json`),
    segment: (name) => join(path, name),
    part: (collection, part, epoch) => join(path, partName(collection, part, epoch)),
  }
}

/** Former states of the store `storeId` whose directory is `dir`, oldest first. */
export const formerStates = (
  dir: string, storeId: string, files: Files = nodeFiles,
): readonly Former[] =>
  formerFolders(dir, files).map((path) => ({
    ...readFormer(files, placesIn(files, path), storeId, basename(path)),
    settled: files.stat(join(path, settledName)) !== undefined,
  }))

/** Writes down that nothing is left to carry over from the former state in a folder. */
export const settleFolder = (files: Files, path: string): void => {
  const mark = join(path, settledName)
  if (files.stat(mark) === undefined) publish(files, mark, Buffer.alloc(0))
}

/** Writes down that everything of the former states has been carried over. May run twice. */
export const settleFormers = (dir: string, files: Files = nodeFiles): void => {
  for (const path of formerFolders(dir, files)) settleFolder(files, path)
}
