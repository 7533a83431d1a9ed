/**
 * The fence of an operation: a file `run/fence/<operation>` that its process holds exclusively
 * while a piece of a request leaves, from the last look at stops to the moment at which the kernel
 * took the piece. So whoever gets the fence after writing a stop knows that nothing is on its way,
 * reads what had left before, and need not wait for the operation. Invariants:
 * - what has left is noted before the first byte, under the fence;
 * - a fence that the path does not name any more lets nothing through.
 */
import { readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { systemClock } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import { nodeFiles } from '../files.js'
import { requireOwnFolders } from '../folders.js'
import { tryLockFd, unlockFd } from '../kernel-lock.js'
import { isHeld } from './guard.js'
import {
  isStill, removeDeadFile, tryHoldExisting, tryHoldFile, type HeldFile,
} from './kernel-file.js'

/** `begun`: bytes of a request may have left; `whole`: all of it was handed to the system. */
const sentShape = v.picklist(['nothing', 'begun', 'whole'])
/** What has left of an operation's newest request. */
type FenceSent = v.InferOutput<typeof sentShape>

/** What the file of a fence says. */
export const factsShape = v.strictObject({
  operation: v.string(),
  task: v.nullable(v.string()),
  /** Null where it is not known. */
  principal: v.nullable(v.string()),
  /** Null where the operation rests on none; left out where it is not known. */
  root: v.optional(v.nullable(v.string())),
  /** Null where it writes through none; left out where it is not known. */
  connection: v.optional(v.nullable(v.string())),
  /** Left out where they are not known. */
  givers: v.optional(v.array(v.string())),
  /** Null where it has none; left out by an earlier version: any stop of a save may be meant. */
  provider: v.optional(v.nullable(v.string())),
  slot: v.optional(v.nullable(v.string())),
  purpose: v.optional(v.nullable(v.string())),
  folder: v.optional(v.nullable(v.string())),
  /** Left out where no device captured what it sends. */
  device: v.optional(v.string()),
  pid: v.number(),
  sent: sentShape,
})
/** What a fence's file says. */
export type FenceFacts = v.InferOutput<typeof factsShape>

const factsBytes = 1_024
const nameForm = /^op_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** Pause between two tries for a fence, milliseconds. */
const pauseMs = 2

const folderOf = (stateDir: string): string => join(stateDir, 'run', 'fence')

const writeFacts = (fd: number, facts: FenceFacts): void => {
  const line = Buffer.from(`${JSON.stringify(facts)}\n`.padEnd(factsBytes))
  if (writeSync(fd, line, 0, line.length, 0) === line.length) return
  throw fail.failed('disk_full', 'The disk took only a part of the fence of a request.', {
    next: 'Free some space and run the command again.',
  })
}

const readFacts = (fd: number): FenceFacts | null => {
  const bytes = Buffer.alloc(factsBytes)
  const length = readSync(fd, bytes, 0, factsBytes, 0)
  try {
    const parsed = v.safeParse(factsShape, JSON.parse(bytes.toString('utf8', 0, length)))
    return parsed.success ? parsed.output : null
  } catch {
    return null
  }
}

/** The fence of one operation, on the side of the process that sends. */
export class Fence {
  readonly #dir: string
  #facts: FenceFacts
  #file: HeldFile | null = null
  #taken = false

  constructor(stateDir: string, facts: Omit<FenceFacts, 'sent'>) {
    this.#dir = stateDir
    this.#facts = { ...facts, sent: 'nothing' }
  }

  /** Takes it, waiting for whoever looks at it. Rejects with the reason of the signal. */
  async take(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      if (!this.#taken && this.#tryTake()) break
      await systemClock.sleep(pauseMs, signal)
    }
    this.#taken = true
  }

  #tryTake(): boolean {
    if (this.#file === null) {
      requireOwnFolders(nodeFiles, this.#dir, ['run', 'run/fence'])
      this.#file = tryHoldFile(join(folderOf(this.#dir), this.#facts.operation))
      if (this.#file === null) return false
      writeFacts(this.#file.fd, this.#facts)
      return true
    }
    const { fd, path } = this.#file
    if (!tryLockFd(fd)) return false
    if (isStill(fd, path)) return true
    unlockFd(fd)
    throw fail.failed('fence_lost', 'The fence of this request was removed; nothing more is sent.')
  }

  /** Notes what has left. It must be taken. */
  note(sent: FenceSent): void {
    if (this.#file === null || !this.#taken || this.#facts.sent === sent) return
    this.#facts = { ...this.#facts, sent }
    writeFacts(this.#file.fd, this.#facts)
  }

  /** Lets go of it; the file stays. */
  give(): void {
    if (!this.#taken) return
    this.#taken = false
    if (this.#file !== null) unlockFd(this.#file.fd)
  }

  /**
   * Ends it with the operation: removes the file, unless somebody is looking at it just now.
   * `stays`: the file stays as that of a process that died, and whoever comes next ends it.
   */
  close(stays = false): void {
    if (this.#file === null) return
    if (!stays && (this.#taken || tryLockFd(this.#file.fd))) this.#file.remove()
    else this.#file.release()
    this.#file = null
    this.#taken = false
  }
}

const fencesIn = (stateDir: string): readonly string[] => {
  requireOwnFolders(nodeFiles, stateDir, ['run', 'run/fence'])
  if (nodeFiles.stat(folderOf(stateDir)) === undefined) return []
  return nodeFiles.list(folderOf(stateDir)).filter((name) => nameForm.test(name))
}

/** Removes the fences of operations that nobody runs any more; `only`: those of these alone. */
export const sweepFences = (stateDir: string, only?: ReadonlySet<string>): void => {
  for (const name of fencesIn(stateDir)) {
    if (only?.has(name) === false) continue
    if (!isHeld(stateDir, name)) removeDeadFile(join(folderOf(stateDir), name))
  }
}

/** What is said of fences whose process died; they lie there until `sweepFences`. */
export const deadFences = (stateDir: string): readonly FenceFacts[] =>
  fencesIn(stateDir).filter((name) => !isHeld(stateDir, name)).map((name) => {
    const fd = openToRead(join(folderOf(stateDir), name))
    try {
      return said({ name, fd })
    } finally {
      if (fd !== null) nodeFiles.close(fd)
    }
  })

/** What somebody who has written a stop finds of the operations that it covers. */
export interface Reached {
  /** Operations of which something had left before; nothing more leaves. */
  readonly sent: readonly FenceFacts[]
  /** Operations whose process did not answer: they may still send when it wakes. */
  readonly underWay: readonly (FenceFacts & { readonly elsewhere?: true })[]
  /** Nobody could look at what other machines were sending. */
  readonly unseen?: true
}

/** What is said of a fence whose file cannot be read: it may be anybody's. */
const unknownFacts = (operation: string): FenceFacts =>
  ({ operation, task: null, principal: null, pid: 0, sent: 'begun' })

const isUnknown = ({ pid }: FenceFacts): boolean => pid === 0

/** A live fence, held open: its file tells the last also after its operation has removed it. */
interface Live {
  readonly name: string
  /** Null where it cannot be opened. */
  readonly fd: number | null
}

const said = ({ name, fd }: Live): FenceFacts =>
  (fd === null ? null : readFacts(fd)) ?? unknownFacts(name)

const openToRead = (path: string): number | null => {
  try {
    return nodeFiles.open(path, 'read')
  } catch {
    return null
  }
}

const liveFences = (stateDir: string, but: readonly Live[] = []): readonly Live[] =>
  fencesIn(stateDir)
    .filter((name) => but.every((one) => one.name !== name) && isHeld(stateDir, name))
    .map((name) => ({ name, fd: openToRead(join(folderOf(stateDir), name)) }))

const closeAll = (fences: readonly Live[]): void => {
  for (const { fd } of fences) if (fd !== null) nodeFiles.close(fd)
}

/** Fences that were live when somebody was about to stop something. */
export interface Watched {
  readonly live: readonly Live[]
  close(): void
}

/**
 * Opens every live fence. Call it before a stop is put: what the stop cuts off may have ended, its
 * fence removed, before whoever put it looks. Throws nothing, because stopping must not be hard:
 * what it cannot look at is told by `reachFences`.
 */
export const watchFences = (stateDir: string): Watched => {
  let live: readonly Live[] = []
  try {
    live = liveFences(stateDir)
  } catch {
    // The look after the stop says what is wrong.
  }
  return { live, close: () => closeAll(live) }
}

/** One that cannot be opened, such as a link, tells nothing: it counts as one that is held. */
const tryHold = (path: string): ReturnType<typeof tryHoldExisting> => {
  try {
    return tryHoldExisting(path)
  } catch {
    return 'busy'
  }
}

/** One look: `busy` while a piece is leaving. */
const look = (stateDir: string, live: Live): FenceFacts | 'busy' => {
  const { name } = live
  const held = tryHold(join(folderOf(stateDir), name))
  if (held === 'absent') return said(live)
  if (held === 'busy') return 'busy'
  try {
    return readFacts(held.fd) ?? unknownFacts(name)
  } finally {
    held.release()
  }
}

/**
 * Tries every live fence of the operations that `covered` picks, for at most `waitMs`, and those
 * that were `watched` before the stop. Call it once the stop is durable: whoever takes its fence
 * later sees the stop.
 */
export const reachFences = async (
  stateDir: string, covered: (facts: FenceFacts) => boolean, waitMs: number,
  watched: Pick<Watched, 'live'> = { live: [] },
): Promise<Reached> => {
  const until = performance.now() + waitMs
  const isMeant = (facts: FenceFacts): boolean => isUnknown(facts) || covered(facts)
  const sent: FenceFacts[] = []
  const since = liveFences(stateDir, watched.live)
  try {
    let open = [...watched.live, ...since].filter((live) => isMeant(said(live)))
    for (;;) {
      open = open.filter((live) => {
        const facts = look(stateDir, live)
        if (facts === 'busy') return true
        if (facts.sent !== 'nothing' && isMeant(facts)) sent.push(facts)
        return false
      })
      if (open.length === 0 || performance.now() >= until) break
      // One whose process died sends nothing more; the kernel let go of its fence.
      await systemClock.sleep(pauseMs)
    }
    return { sent, underWay: open.map(said) }
  } finally {
    closeAll(since)
  }
}
