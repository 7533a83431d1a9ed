/**
 * Which process serves a state: whoever holds the kernel lock of `run/service`. Two would each
 * write a port of its own into the state, and devices would be led to the one that ends. The text
 * of the file says who it is, for people; what counts is the lock, which ends with its process.
 */
import { ftruncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { fail, type SallyportError } from '../../base/errors.js'
import { iso } from '../../base/schema.js'
import { ioFailure } from '../../state/files.js'
import { holdFreshFile, probeFile } from '../../state/holds/kernel-file.js'
import { readPrivate } from '../session/private-file.js'

const pathOf = (stateDir: string): string => join(stateDir, 'run', 'service')
const bytesMax = 1_024

/** Shape of what is told of a service that runs; what it has not yet said is null. */
export const runningShape = v.strictObject({
  pid: v.nullable(v.pipe(v.number(), v.safeInteger())),
  /** When it was started. */
  since: v.nullable(iso),
  /** Null until it listens. */
  origin: v.nullable(v.string()),
  /** Where devices of other machines find it; null where they find it nowhere. */
  public: v.nullable(v.string()),
})
type RunningService = v.InferOutput<typeof runningShape>

const saidIn = (text: string): RunningService => {
  try {
    // One that an earlier program wrote knows no such place.
    return v.parse(runningShape, { public: null, ...JSON.parse(text) as object })
  } catch {
    // It is writing just now.
    return { pid: null, since: null, origin: null, public: null }
  }
}

/** The service that runs over a state; null where none does. Changes no byte. */
export const runningService = (stateDir: string): RunningService | null => {
  const path = pathOf(stateDir)
  if (probeFile(path) !== 'live') return null
  return saidIn(readPrivate(path, bytesMax) ?? '')
}

/** Who serves and since when, in words; `time` is how the reader is told a time. */
export const runningText = (
  { pid, since, origin, public: elsewhere }: RunningService,
  time: (iso: string) => string = (iso) => iso,
): string => [
  `process ${pid ?? 'unknown'}`, ...(since === null ? [] : [`since ${time(since)}`]),
  ...(origin === null ? [] : [`at ${origin}`]),
  ...(elsewhere === null ? [] : [`and, for devices elsewhere, ${elsewhere}`]),
].join(' ')

const isRunning = (one: RunningService): SallyportError => fail.locked(
  'service_running', `A service of this state runs already: ${runningText(one)}.`, {
    next: 'Use that one, or end it first. `sallyport serve --open` asks it for its page.',
    details: { pid: one.pid, since: one.since, origin: one.origin },
  })

/** The place of the one service of a state, held until it is released or its process ends. */
export interface HeldService {
  /** Says where it listens, and where devices of other machines find it. */
  listensAt(origin: string, elsewhere: string | null): void
  release(): void
}

/**
 * Takes the place. Throws `locked` `service_running` where another process has it, and what the
 * disk does.
 */
export const holdService = async (stateDir: string, since: string): Promise<HeldService> => {
  const file = await holdFreshFile(pathOf(stateDir))
  if (file === null) throw isRunning(runningService(stateDir) ?? saidIn(''))
  const say = (origin: string | null, elsewhere: string | null): void => {
    const told: RunningService = { pid: process.pid, since, origin, public: elsewhere }
    const text = JSON.stringify(told)
    try {
      writeSync(file.fd, text, 0)
      ftruncateSync(file.fd, text.length)
    } catch (error) {
      file.remove()
      throw ioFailure(error, 'the place of the service')
    }
  }
  say(null, null)
  return { listensAt: say, release: () => file.remove() }
}
