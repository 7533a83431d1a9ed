/**
 * The folder of stops that wait to be recorded: `<config>/keys/<store id>.stops`, beside the
 * anchor. It needs no lock, no key and no sound store. A stop is whole and durable before its name
 * appears; whoever looks must look here before it takes a view of the rows, because a stop leaves
 * the folder only after the record that it became.
 */
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { sha256Hex } from '../base/canonical.js'
import { fail } from '../base/errors.js'
import {
  ensureDirs, errnoOf, ioFailure, isTemporary, nodeFiles, publish, readWhole, removeFile, syncDir,
} from './files.js'
import { stopShape, type LyingStop, type Stop, type StopBoard } from './stop-board.js'
import { isBesideKey, stopFoldersOf } from './store-ids.js'

/** A stop is one line of a few hundred bytes. */
const stopBytesMax = 4_096
/** When an unreadable one was asked for, nobody knows. */
const longAgo = '1970-01-01T00:00:00.000Z'

/** Kind of a file in the folder that holds no stop. */
const unreadableKind = 'unreadable'

const unreadable = (name: string | null): LyingStop => ({
  // One id for one name, so that it can be recorded as any other.
  id: name === null ? 'folder' : `file_${sha256Hex(name).slice(0, 32)}`,
  name, kind: unreadableKind, target: null, at: longAgo,
  by: { principal: null, root: null, verb: unreadableKind },
})

const parsed = (bytes: Buffer): Stop | undefined => {
  try {
    const result = v.safeParse(stopShape, JSON.parse(bytes.toString('utf8')))
    return result.success ? result.output : undefined
  } catch {
    return undefined
  }
}

/** The stop in one file; undefined when the file has gone meanwhile. */
const readStop = (dir: string, name: string): LyingStop | undefined => {
  try {
    const bytes = readWhole(nodeFiles, join(dir, name), stopBytesMax)
    if (bytes === undefined) return undefined
    const stop = parsed(bytes)
    return stop?.id === name ? { ...stop, name } : unreadable(name)
  } catch {
    return unreadable(name)
  }
}

/** Every stop in a folder, oldest first. One look at a folder that is mostly absent. */
export const lyingStops = (dir: string): readonly LyingStop[] => {
  let names: string[]
  try {
    const facts = nodeFiles.stat(dir)
    if (facts === undefined) return []
    // Nothing in the place of the folder is followed: what it names would count as stops.
    if (facts.kind !== 'dir') return [unreadable(null)]
    names = nodeFiles.list(dir)
  } catch {
    return [unreadable(null)]
  }
  return names.filter((name) => !isTemporary(name)).flatMap((name) => readStop(dir, name) ?? [])
}

const replacedError = () =>
  fail.damaged('folder_replaced', 'In the place of the folder of stops is a link or a file.', {
    next: 'Move what is there away (the key folder, a name that ends in .stops).',
  })

/** Makes a stop durable: from here on it is in force. Throws what the disk does. */
export const putStop = (dir: string, stop: Stop): void => {
  try {
    ensureDirs(nodeFiles, dir)
    // Nothing in the place of the folder is followed: who looks would not see the stop there.
    if (nodeFiles.stat(dir)?.kind !== 'dir') throw replacedError()
    // Whoever made the folder may have died before its name was durable.
    syncDir(nodeFiles, dirname(dir))
    publish(nodeFiles, join(dir, stop.id), Buffer.from(`${JSON.stringify(stop)}\n`))
  } catch (error) {
    throw ioFailure(error, 'writing the stop')
  }
}

/**
 * Removes the file of a spent stop. A file of another name is not ours to remove, and one that does
 * not go, or that a power cut brings back, is no harm: everybody ignores it, because its id is
 * recorded.
 */
const dropStop = (dir: string, { name }: Pick<LyingStop, 'name'>): void => {
  if (name === null || !v.is(stopShape.entries.id, name)) return
  try {
    removeFile(nodeFiles, join(dir, name))
  } catch (error) {
    if (errnoOf(error) === '') throw error
  }
}

/** Whoever writes a stop does so within milliseconds; what is older was left by a dead process. */
const halfWrittenMsMax = 3_600_000

/** Removes what processes left that died while they wrote a stop. */
const sweepHalfWritten = (dir: string, nowMs: number): void => {
  // A machine that records what others stopped may never have had one of its own.
  if (nodeFiles.stat(dir) === undefined) return
  for (const name of nodeFiles.list(dir).filter(isTemporary)) {
    const facts = nodeFiles.stat(join(dir, name))
    if (facts !== undefined && facts.mtimeMs + halfWrittenMsMax < nowMs) {
      removeFile(nodeFiles, join(dir, name))
    }
  }
}

export const stopsAt = (dir: string): StopBoard => ({
  // The stop is in force before anything else of this process runs.
  put: async (stop) => { putStop(dir, stop) },
  lying: () => lyingStops(dir),
  drop: (stop) => dropStop(dir, stop),
  sweep: (nowMs) => sweepHalfWritten(dir, nowMs),
  isInReach: () => isBesideKey(dir),
})

/** The boards of every store that a place may be: see `stopFoldersOf`. */
export const stopBoardsOf = (place: Parameters<typeof stopFoldersOf>[0]): readonly StopBoard[] =>
  stopFoldersOf(place).map(stopsAt)
