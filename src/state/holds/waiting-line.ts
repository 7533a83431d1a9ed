/**
 * A line of waiters over all processes of a state directory: each holds the kernel lock of a file
 * of its own, named by when it came; a file that can be locked is a dead waiter's, does not count
 * and is removed.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fail } from '../../base/errors.js'
import { holdFreshFile, probeFile, removeDeadFile } from './kernel-file.js'

/** A place in a line. */
export interface LinePlace {
  /** Sorts by arrival. */
  readonly ticket: string
  /** Gives the place up. A second call does nothing. */
  leave(): void
}

const ticketForm = /^[0-9a-f]{16}-[0-9]+-[0-9a-f]{8}$/

/**
 * Sorts by arrival over all processes of one boot: hrtime counts from the boot of the machine.
 * Only fairness among equals rests on it, never exclusion.
 */
const newTicket = (): string => {
  const arrival = process.hrtime.bigint().toString(16).padStart(16, '0')
  return `${arrival}-${process.pid}-${randomBytes(4).toString('hex')}`
}

const ticketsIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).filter((name) => ticketForm.test(name)).sort()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

const isLiveWaiter = (path: string): boolean => {
  const liveness = probeFile(path)
  if (liveness === 'dead') removeDeadFile(path)
  return liveness === 'live'
}

/** Whether a live waiter of this line came before a ticket; with null, whether there is any. */
export const isSomebodyWaiting = (folder: string, before: string | null): boolean =>
  ticketsIn(folder).filter((name) => before === null || name < before)
    .some((name) => isLiveWaiter(join(folder, name)))

/** Stands in a line, behind all who are there. Throws `failed` `lane_place_lost`. */
export const joinLine = async (folder: string): Promise<LinePlace> => {
  const ticket = newTicket()
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const place = await holdFreshFile(join(folder, ticket))
  if (!place) throw fail.failed('lane_place_lost', 'A place in a line of waiters was not kept.')
  return { ticket, leave: place.remove }
}
