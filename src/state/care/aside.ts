/** Former states that repairs and restores have put aside, as far as each can still be read. */
import { basename, join } from 'node:path'
import { nodeFiles, publish, syncDir, type Files } from '../files.js'
import { epochText, placesOf, type Places } from '../paths.js'
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
    founding: (epoch) => join(path, `${epochText(epoch)}.founding`),
    manifest: (epoch) => join(path, `manifest.${epochText(epoch)}.json`),
    segment: (name) => join(path, name),
  }
}

/** A former state whose liabilities have all been carried over, by its folder. */
export interface FinishedFormer {
  /** Name of the folder below `aside/`. */
  readonly name: string
  readonly path: string
  /** When it was put aside; milliseconds. */
  readonly atMs: number
}

const stampForm = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})Z/

/** Milliseconds of the stamp in a folder's name; undefined for a name of another form. */
const stampMs = (path: string): number | undefined => {
  const [, year, month, day, hours, minutes, seconds, ms] = stampForm.exec(ageOf(path)) ?? []
  if (ms === undefined) return undefined
  return Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}.${ms}Z`)
}

/** Settled former states with the moments at which they were put aside, oldest first. */
export const settledFormers = (
  dir: string, files: Files = nodeFiles,
): readonly FinishedFormer[] => formerFolders(dir, files).flatMap((path) => {
  const atMs = stampMs(path)
  if (atMs === undefined || files.stat(join(path, settledName)) === undefined) return []
  return [{ name: basename(path), path, atMs }]
})

/** Whether a former state was read whole: no part of it is unread. */
export const isReadWhole = (
  { path, name }: FinishedFormer, storeId: string, files: Files = nodeFiles,
): boolean => {
  const { readable, holes } = readFormer(files, placesIn(files, path), storeId, name)
  return readable && holes.length === 0
}

/** Former states of the store `storeId` whose directory is `dir`, oldest first. */
export const formerStates = (
  dir: string, storeId: string, files: Files = nodeFiles,
): readonly Former[] =>
  formerFolders(dir, files).map((path) => ({
    ...readFormer(files, placesIn(files, path), storeId, basename(path)),
    settled: files.stat(join(path, settledName)) !== undefined,
  }))

/** Folders of which not all has been carried over yet, oldest first. */
export const unsettledFolders = (dir: string, files: Files): readonly string[] =>
  formerFolders(dir, files).filter((one) => files.stat(join(one, settledName)) === undefined)

/** The newest of them; undefined: there is none. */
export const unsettledFolder = (
  dir: string, files: Files,
): { readonly path: string; readonly places: Places } | undefined => {
  const path = unsettledFolders(dir, files).at(-1)
  return path === undefined ? undefined : { path, places: placesIn(files, path) }
}

/** Writes down that nothing is left to carry over from the former state in a folder. */
export const settleFolder = (files: Files, path: string): void => {
  const mark = join(path, settledName)
  if (files.stat(mark) === undefined) publish(files, mark, Buffer.alloc(0))
}

/** Writes down that everything of the former states has been carried over. May run twice. */
export const settleFormers = (dir: string, files: Files = nodeFiles): void => {
  for (const path of formerFolders(dir, files)) settleFolder(files, path)
}

/**
 * Takes back what was said of former states that a backup at `root` brings along: it was carried
 * over into another generation than the one that is put back.
 */
export const unsettleFrom = (root: string, dir: string, files: Files): void => {
  for (const one of unsettledFolders(root, files)) {
    const folder = join(dir, 'aside', basename(one))
    if (files.stat(join(folder, settledName)) === undefined) continue
    files.unlink(join(folder, settledName))
    syncDir(files, folder)
  }
}
