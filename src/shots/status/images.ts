/**
 * How many images lie in the folder and how new the newest is. Names and times only, no content,
 * and never more entries or time than the budget: what is beyond it is not waited for (S-126).
 */
import { lstatSync, opendirSync } from 'node:fs'
import { isoWithin } from '../../base/calendar.js'
import { shotLimits } from '../constants.js'

/** What is known of the files of a folder. */
export interface ImageCount {
  readonly images: number
  /** Newest modification time among them; null for none. */
  readonly latestAt: string | null
  /** Null when everything was looked at; else why not: `folder_too_large`, `folder_missing`, …. */
  readonly failure: string | null
}

/** Limits of one count. */
interface CountBudget {
  readonly entriesMax: number
  /** Entries that are always looked at, however slow the machine is just now. */
  readonly entriesFree: number
  /** Time of the whole count. */
  readonly msMax: number
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/** The clock is asked once for so many entries. */
const entriesPerLook = 64
const image = /\.(?:png|jpe?g)$/i
const dot = 0x2e

interface Tally {
  entries: number
  images: number
  latestMs: number | null
  failure: string | null
}

const failureOf = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return 'folder_missing'
  return code === 'ENOTDIR' ? 'folder_not_directory' : 'folder_unreadable'
}

const slash = Buffer.from('/')

const modifiedMs = (path: Buffer): number | null => {
  try {
    return lstatSync(path).mtimeMs
  } catch {
    // Gone between the listing and the look.
    return null
  }
}

const spent = (tally: Tally, budget: CountBudget, endMs: number): boolean =>
  tally.entries >= budget.entriesMax
  || (tally.entries >= budget.entriesFree && tally.entries % entriesPerLook === 0
    && budget.now() >= endMs)

const addFile = (tally: Tally, path: Buffer): void => {
  const ms = modifiedMs(path)
  if (ms === null) return
  tally.images += 1
  if (tally.latestMs === null || ms > tally.latestMs) tally.latestMs = ms
}

/** Counts one folder; gives the folders below it. */
const countFolder = (
  folder: Buffer, tally: Tally, isSpent: () => boolean,
): readonly Buffer[] => {
  const below: Buffer[] = []
  // The declared type knows no buffers here; names are bytes.
  const dir = opendirSync(folder, { encoding: 'buffer' as BufferEncoding, bufferSize: 512 })
  try {
    for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) {
      if (isSpent()) {
        tally.failure = 'folder_too_large'
        return []
      }
      tally.entries += 1
      const name = entry.name as unknown as Buffer
      if (name[0] === dot) continue
      const path = Buffer.concat([folder, slash, name])
      if (entry.isDirectory()) below.push(path)
      else if (entry.isFile() && image.test(name.toString('latin1'))) addFile(tally, path)
    }
  } finally {
    dir.closeSync()
  }
  return below
}

/** Counts the images of a folder; with `recursive` those of its subfolders too. */
export const countImages = (
  folder: string, recursive: boolean, budget: CountBudget,
): ImageCount => {
  const tally: Tally = { entries: 0, images: 0, latestMs: null, failure: null }
  const endMs = budget.now() + budget.msMax
  const isSpent = () => spent(tally, budget, endMs)
  let level: readonly Buffer[] = [Buffer.from(folder)]
  const depthMax = recursive ? shotLimits.recursiveDepthMax : 0
  for (let depth = 0; depth <= depthMax && tally.failure === null; depth += 1) {
    const next: Buffer[] = []
    for (const one of level) {
      try {
        next.push(...countFolder(one, tally, isSpent))
      } catch (error) {
        tally.failure = failureOf(error)
      }
      if (tally.failure !== null) break
    }
    level = next
  }
  return {
    images: tally.images,
    latestAt: tally.latestMs === null ? null : isoWithin(Math.floor(tally.latestMs)),
    failure: tally.failure,
  }
}
