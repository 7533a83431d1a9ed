/**
 * Pairings of before. A credential that was replaced would open the service for as long as nobody
 * thinks of it, so it is kept beside the one that replaced it until the service has ended it: by
 * its own credential, and never at another service than that which gave it.
 */
import { join } from 'node:path'
import type { HttpsReply } from '../../net/types.js'
import { isTemporary, orIoFailure, removeFile, type Files } from '../../state/files.js'
import type { DevicePlaces } from './folder.js'
import { findPairing, readPairing, writePairing, type Former, type Pairing } from './pairing.js'
import { endsPairing, errorCodeOf, knowsNot } from './reaction.js'

/** More of them wait for a service only where it cannot be reached for long. */
const formerMax = 16

/** What a new pairing takes over of the one before it: the credentials that are yet to be ended. */
export const formerOf = (before: Pairing | null): readonly Former[] => {
  if (before === null) return []
  const { device_id, credential, pin, ended_at: ended } = before
  const last = ended === null ? [{ device_id, credential, pin }] : []
  return [...before.former ?? [], ...last].slice(-formerMax)
}

/**
 * Whether one that was written whole replaces the one that stands. No clock is asked, since a
 * device may start with one of long ago: what replaces another names it as one to be ended, unless
 * that had ended already. A file of an earlier program names none, and may lie there for long.
 */
const isNewer = ({ former, paired_at }: Pairing, stands: Pairing): boolean =>
  former === undefined ? stands.paired_at < paired_at
    : stands.ended_at !== null || former.some(({ credential }) => credential === stands.credential)

/**
 * Makes one of what a daemon had written whole when it was killed, and of what stands: the newer
 * pairing counts, and the other one is to be ended. The service has given both credentials, and
 * nobody else would ever end the one that is swept away.
 */
const finish = (files: Files, path: string, written: Pairing): void => {
  const stands = findPairing(files, path)
  if (stands?.credential === written.credential) return
  const [last, before] = stands === null || isNewer(written, stands)
    ? [written, stands] : [stands, written]
  const all = [...formerOf(before), ...last.former ?? []]
  const former = new Map(all.map((one) => [one.credential, one]))
  former.delete(last.credential)
  writePairing(files, path, { ...last, former: [...former.values()].slice(-formerMax) })
}

/**
 * Ends what a daemon left that was killed while it wrote: a pairing that is whole counts, and no
 * file of it stays, since it may hold a credential. The lock of the daemon must be held, under
 * which alone these files are written. Throws what the disk does.
 */
export const sweepUnwritten = (files: Files, { dir, pairing }: DevicePlaces): void =>
  orIoFailure('the folder of the device', () => {
    for (const name of files.list(dir).filter(isTemporary)) {
      const written = findPairing(files, join(dir, name))
      if (written !== null) finish(files, pairing, written)
      removeFile(files, join(dir, name))
    }
  })

/** What became of one. */
interface Replaced {
  readonly device_id: string
  /** Why it could not be ended by this device; null where it was. */
  readonly reason: string | null
}

/** Asks the service to end one. */
type EndFormer = (
  former: Former,
) => Promise<{ readonly got: HttpsReply } | { readonly got: null; readonly failed: string }>

const forget = (files: Files, path: string, { credential }: Former): void => {
  const now = readPairing(files, path)
  const former = (now.former ?? []).filter((one) => one.credential !== credential)
  writePairing(files, path, { ...now, former })
}

/**
 * Ends every former pairing that is left, the oldest first, and forgets each once the service
 * counts it no more or does not know the question. Gives why that is not so of all: then it is for
 * later.
 */
export const endFormer = async (
  files: Files, path: string, end: EndFormer, tell: (replaced: Replaced) => void,
): Promise<string | null> => {
  const { pin, former = [] } = readPairing(files, path)
  for (const one of former) {
    const told = one.pin === pin ? await end(one) : null
    if (told !== null && told.got === null) return told.failed
    if (told !== null && !isOver(told.got)) return errorCodeOf(told.got)
    forget(files, path, one)
    tell({ device_id: one.device_id, reason: reasonOf(told?.got ?? null) })
  }
  return null
}

/** A credential that counts no more is one that has ended. */
const reasonOf = (reply: HttpsReply | null): string | null => {
  if (reply === null) return 'service_differs'
  return knowsNot(reply) ? errorCodeOf(reply) : null
}

/** Whether asking again would change nothing. */
const isOver = (reply: HttpsReply): boolean =>
  reply.status === 200 || endsPairing(reply) || knowsNot(reply)
