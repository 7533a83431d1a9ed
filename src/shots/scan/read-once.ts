/**
 * One read of one file, by which everything about it is told. It is opened without following a
 * link and without waiting for a pipe, looked at before and after, and taken only when both looks
 * agree and it is finished: it ends as an image ends, or nobody has written to it for two seconds.
 */
import {
  closeSync, constants, fstatSync, lstatSync, openSync, readSync,
} from 'node:fs'
import { errnoOf } from '../../base/errno.js'
import { thisPlatform } from '../../base/platform/this-platform.js'
import { shotLimits } from '../constants.js'
import { pathBelow } from './names.js'
import type { ExactFacts } from './same-file.js'
import type { FileStamp } from './walk.js'

/** Exact facts of the file that was read, for its row. */
export interface ReadFacts {
  readonly bytes: number
  readonly modifiedNs: bigint
  readonly changedNs: bigint
  readonly inode: bigint
  /** The same as a walk sees it. */
  readonly stamp: FileStamp
}

/** What became of a look at a file. */
type ReadResult =
  /** Whole and still. */
  | { readonly kind: 'read'; readonly bytes: Buffer; readonly facts: ReadFacts }
  /** Still, and refused without being read whole: `too_many_bytes`, `empty`. */
  | { readonly kind: 'refused'; readonly reason: string; readonly facts: ReadFacts }
  /** Being written: worth one more look. */
  | { readonly kind: 'unsettled' }
  /** Not to be had now: `file_vanished`, `file_unreadable`, `not_a_regular_file`. */
  | { readonly kind: 'unavailable'; readonly reason: string }

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK

type Stat = ReturnType<typeof bigStat>
const bigStat = (fd: number) => fstatSync(fd, { bigint: true })

const same = (a: Stat, b: Stat): boolean =>
  a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs && a.ino === b.ino
  && a.dev === b.dev

const pngEnd = Buffer.from('0000000049454e44ae426082', 'hex')
const jpegEnd = Buffer.from('ffd9', 'hex')

/** Whether bytes end as a PNG or a JPEG does. */
const endsProperly = (bytes: Buffer): boolean =>
  bytes.subarray(-pngEnd.length).equals(pngEnd) || bytes.subarray(-jpegEnd.length).equals(jpegEnd)

const nsPerMs = 1_000_000n

/** A time in the future counts as old: nobody is writing then (a clock was set). */
const isOld = (stat: Stat, nowMs: number): boolean => {
  const ageMs = nowMs - Number(stat.mtimeNs / nsPerMs)
  return ageMs < 0 || ageMs > shotLimits.settledAgeMs
}

/** The file's bytes in memory that a worker sees too, without a copy; null: it is moving. */
const readWhole = (fd: number, size: number): Buffer | null => {
  const bytes = Buffer.from(new SharedArrayBuffer(size))
  let at = 0
  while (at < size) {
    const got = readSync(fd, bytes, at, size - at, at)
    if (got === 0) return null
    at += got
  }
  return readSync(fd, Buffer.alloc(1), 0, 1, size) === 0 ? bytes : null
}

/**
 * A size as a row keeps it: one that no number holds exactly is told as the largest that does. A
 * sparse file of that size would end each scan.
 */
const bytesOf = (size: bigint): number => Math.min(Number(size), Number.MAX_SAFE_INTEGER)

const factsOf = (fd: number, stat: Stat): ReadFacts => ({
  bytes: bytesOf(stat.size), modifiedNs: stat.mtimeNs, changedNs: stat.ctimeNs, inode: stat.ino,
  stamp: fstatSync(fd),
})

/**
 * Whether something on the way to the file is no folder, or the file another one: where the system
 * tells no name of what is open. The image folder is known by its canonical name, without a link.
 */
const leadsElsewhere = (fd: number, folder: string, name: string): boolean => {
  const [opened, named] = [fstatSync(fd), lstatSync(pathBelow(folder, name))]
  if (opened.ino !== named.ino || opened.dev !== named.dev) return true
  const ways = [...waysTo(folder), ...waysTo(name).map((way) => pathBelow(folder, way)), folder]
  return !ways.every((way) => lstatSync(way).isDirectory())
}

/** Every folder that a path leads through, from the top. */
const waysTo = (path: string): readonly string[] => path.split('/').slice(0, -1)
  .map((_, at, parts) => parts.slice(0, at + 1).join('/')).filter((way) => way !== '')

/** Whether the open file has another name now: a folder on the way may have become a link. */
const strayed = (fd: number, folder: string, name: string): boolean => {
  const now = thisPlatform.nameOf(fd)
  if (now === null) return leadsElsewhere(fd, folder, name)
  return !now.equals(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')]))
}

const readOpened = (fd: number, folder: string, name: string, nowMs: number): ReadResult => {
  const before = bigStat(fd)
  if (!before.isFile()) return { kind: 'unavailable', reason: 'not_a_regular_file' }
  if (strayed(fd, folder, name)) return { kind: 'unavailable', reason: 'outside_the_folder' }
  const old = isOld(before, nowMs)
  const tooLarge = before.size > BigInt(shotLimits.imageBytesMax)
  if (tooLarge || before.size === 0n) {
    const reason = tooLarge ? 'too_many_bytes' : 'empty'
    return old ? { kind: 'refused', reason, facts: factsOf(fd, before) } : { kind: 'unsettled' }
  }
  const bytes = readWhole(fd, Number(before.size))
  const after = bigStat(fd)
  if (bytes === null || !same(before, after)) return { kind: 'unsettled' }
  if (!old && !endsProperly(bytes)) return { kind: 'unsettled' }
  return { kind: 'read', bytes, facts: factsOf(fd, after) }
}

const unavailable = (error: unknown): ReadResult => {
  const code = errnoOf(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return { kind: 'unavailable', reason: 'file_vanished' }
  }
  const notFile = code === 'ELOOP' || code === 'ENXIO' || code === 'EISDIR'
  if (notFile) return { kind: 'unavailable', reason: 'not_a_regular_file' }
  if (/^E[A-Z0-9]+$/.test(code)) return { kind: 'unavailable', reason: 'file_unreadable' }
  throw error
}

/** Reads a file below a folder once; `nowMs` is wall time. Changes nothing of it. */
export const readOnce = (folder: string, name: string, nowMs: number): ReadResult => {
  let fd: number
  try {
    fd = openSync(pathBelow(folder, name), flags)
  } catch (error) {
    return unavailable(error)
  }
  try {
    return readOpened(fd, folder, name, nowMs)
  } catch (error) {
    return unavailable(error)
  } finally {
    closeSync(fd)
  }
}

/** Exact size, times and inode of a file, as a row keeps them. */
export const exactFactsOf = ({ size, mtimeNs, ctimeNs, ino }: Stat): ExactFacts => ({
  bytes: bytesOf(size), modifiedNs: String(mtimeNs), changedNs: String(ctimeNs),
  inode: String(ino),
})

/** The same of a file by its name; null where it is gone. */
export const exactStamp = (folder: string, name: string): ExactFacts | null => {
  try {
    return exactFactsOf(lstatSync(pathBelow(folder, name), { bigint: true }))
  } catch {
    return null
  }
}
