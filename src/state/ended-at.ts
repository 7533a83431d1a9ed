/**
 * How far the log had come when a process that wrote to it ended: a file beside the log, written
 * without a sync. It decides nothing. Where a log is found shorter, it tells that records were cut
 * which somebody had been answered for; where it is lost with the power, nothing is told.
 */
import { readWhole, unlessUntrue, withFile, writeAll, type Files } from './files.js'
import { epochText, type Places } from './paths.js'

const bytesMax = 64
const form = /^(\d{12}) (\d{16})\n$/

/** The last record of a log, by its epoch. */
export interface EndedAt {
  readonly epoch: number
  readonly sequence: number
}

/**
 * The last record that a process saw as it ended, as the file tells it; undefined where it tells
 * nothing. Whoever compares a log with it reads this first: what is written meanwhile lies behind.
 */
export const readEnd = (files: Files, places: Places): EndedAt | undefined => {
  const bytes = unlessUntrue(() => readWhole(files, places.endedAt, bytesMax))
  const [, epoch, sequence] = form.exec(bytes?.toString('latin1') ?? '') ?? []
  return epoch === undefined || sequence === undefined
    ? undefined : { epoch: Number(epoch), sequence: Number(sequence) }
}

/**
 * The last record of `ended` where the log of the same epoch stops before it: what is between was
 * cut. Undefined where nothing is known to be.
 */
export const truncateBehind = (
  ended: EndedAt | undefined, { epoch, sequence }: EndedAt,
): number | undefined =>
  (ended?.epoch === epoch && ended.sequence > sequence ? ended.sequence : undefined)

/** Notes how far the log has come; what another saw further on, or of a later log, stays. */
export const noteEnd = (files: Files, places: Places, at: EndedAt): void => {
  const noted = readEnd(files, places)
  if (truncateBehind(noted, at) !== undefined) return
  const isLater = noted !== undefined && noted.epoch > at.epoch
  if (isLater && files.stat(places.log(noted.epoch)) !== undefined) return
  const text = `${epochText(at.epoch)} ${String(at.sequence).padStart(16, '0')}\n`
  withFile(files, places.endedAt, 'lock', (fd) => writeAll(files, fd, Buffer.from(text), 0))
}

/** What is told of records that were there. */
export const goneText = (sequence: number, behind: number): string =>
  `records ${sequence + 1} to ${behind} were there when a process ended, and are gone`

/** What is told of a torn record: whether somebody is known to have been answered for it. */
export const tornText = (sequence: number, behind: number | undefined): string =>
  behind === undefined ? 'no process is known to have ended behind it'
    : goneText(sequence, behind)
