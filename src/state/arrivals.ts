/**
 * Notes of arrivals: `run/publishing/<name>` says under which names a process is about to put a
 * file among the stored ones, and for which record. It is written before the file has a name and
 * removed behind the record, so that what is left by a process that died can be swept at the next
 * start without reading all records. A note is no fact: it is not synced, and without it `state
 * prune` and `state compact` find the same file.
 */
import { join } from 'node:path'
import * as v from 'valibot'
import { parseStrictJson } from '../base/strict-json.js'
import {
  ensureDir, isTemporary, nodeFiles, orIoFailure, readWhole, removeFile, removeTree, withFile,
  writeAll, type Files,
} from './files.js'
import { requireOwnFolders } from './folders.js'
import { placesOf } from './paths.js'

/** Longest note, bytes. */
const noteBytesMax = 4_096

const noteShape = v.strictObject({
  /** Id under which the record will name what is published. */
  record: v.string(),
  temporary: v.pipe(v.string(), v.check(isTemporary)),
  stored: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
})
/** What arrives: the names of `PublishedNames`, and for which record. */
type ArrivalNote = v.InferOutput<typeof noteShape>

const pathOf = (stateDir: string, name: string): string =>
  join(placesOf(stateDir).arrivals, name)

/** Writes the note `name`; nobody else may use it meanwhile. Throws what the disk does. */
export const noteArrival = (
  stateDir: string, name: string, note: ArrivalNote, files: Files = nodeFiles,
): void => {
  requireOwnFolders(files, stateDir, ['run', 'run/publishing'])
  orIoFailure('noting a publication', () => {
    ensureDir(files, placesOf(stateDir).run)
    ensureDir(files, placesOf(stateDir).arrivals)
    withFile(files, pathOf(stateDir, name), 'create', (fd) =>
      writeAll(files, fd, Buffer.from(JSON.stringify(note)), 0))
  })
}

/** Names of all notes, those of live processes among them. */
export const arrivalNames = (stateDir: string, files: Files = nodeFiles): readonly string[] => {
  requireOwnFolders(files, stateDir, ['run', 'run/publishing'])
  const folder = placesOf(stateDir).arrivals
  return files.stat(folder) === undefined ? [] : files.list(folder)
}

/**
 * A note; undefined where there is none, or one that was not written to its end: its process died
 * before the file had a name.
 */
export const readArrival = (
  stateDir: string, name: string, files: Files = nodeFiles,
): ArrivalNote | undefined => {
  const bytes = orIoFailure('a note of a publication', () =>
    readWhole(files, pathOf(stateDir, name), noteBytesMax))
  if (bytes === undefined) return undefined
  try {
    return v.parse(noteShape, parseStrictJson(bytes, { bytesMax: noteBytesMax, depthMax: 1 }))
  } catch {
    return undefined
  }
}

/** Removes a note; a missing one is fine. */
export const dropArrival = (stateDir: string, name: string, files: Files = nodeFiles): void =>
  orIoFailure('a note of a publication', () => removeFile(files, pathOf(stateDir, name)))

/**
 * Forgets all notes, before the records that they speak of are replaced: a file whose record a
 * restore or a repair takes away is no leftover of an arrival.
 */
export const forgetArrivals = (files: Files, stateDir: string): void =>
  removeTree(files, placesOf(stateDir).arrivals)
