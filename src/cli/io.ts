/**
 * The only module that touches the process: its streams, terminal facts, signals, environment and
 * end. Everything else is handed an `Io`, so that a test is a record of what was written.
 */
import { fstatSync, statSync, writeSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { errnoOf } from '../base/errno.js'
import { thisPlatform } from '../base/platform/this-platform.js'

/** The process's streams and terminal facts. */
export interface Io {
  /** Which of the three streams are terminals. */
  readonly terminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean }
  /** Width of the terminal of stdout, else of stderr, in columns; 80 when unknown. */
  readonly columns: number
  /** Height of the terminal of stdout in rows; 24 when unknown. */
  readonly rows: number
  writeOut(data: string | Uint8Array): void
  /** Whether whoever read stdout went away: what is written to it is dropped. */
  isOutGone(): boolean
  writeErr(text: string): void
  /** Everything on stdin, as it comes. */
  stdin(): AsyncIterable<Uint8Array>
  /**
   * The raw streams, for prompts and the spinner only. Without `color` the libraries that draw on
   * them use none: they ask the environment, some as soon as they are loaded.
   */
  streams(color: boolean): {
    readonly stdin: Readable
    readonly stdout: Writable
    readonly stderr: Writable
  }
}

/** Whose process it is and what runs in it: what a timer starts. */
export interface Self {
  /** Null where users have no number. */
  readonly uid: number | null
  /** Interpreter and program, absolute. */
  readonly program: readonly string[]
}

interface ProcessFacts {
  /** Arguments after the program's own name. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly execArgv: readonly string[]
  readonly cwd: string
  readonly self: Self
}

/**
 * What a second signal does. It calls `end`, now or a moment later, which writes the last words to
 * stderr and ends the process with the status of what was cancelled.
 */
export type Insist = (end: (lastWords: string) => void) => void

/** The real process. */
export interface ProcessIo extends Io {
  readonly facts: ProcessFacts
  /** Aborted by the first SIGINT, SIGTERM or, unless `nohup` started it, SIGHUP. */
  readonly stop: AbortSignal
  /** Says how every later one ends the process; at once and without a word until then. */
  onInsist(act: Insist): void
  /** Flushes both streams and ends the process. */
  end(status: number): Promise<void>
}

const cancelledStatus = 130
const columnsUnknown = 80
const rowsUnknown = 24
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Takes hold of the process; called once, at the start. Node makes a stream of each descriptor at
 * its first mention, which costs a good part of what an empty program takes to start: results are
 * written to the descriptor itself, and the streams are for prompts, the spinner and stdin.
 */
export const processIo = (): ProcessIo => {
  const out = openOutput(1, () => process.stdout)
  const err = openOutput(2, () => process.stderr)
  const endSaying = (lastWords: string): void => {
    try {
      err.write(lastWords)
    } catch {
      // Where it cannot be told the exit status still says it.
    }
    endNow(cancelledStatus)
  }
  return {
    facts: {
      argv: process.argv.slice(2),
      env: process.env,
      execArgv: process.execArgv,
      cwd: workingFolder(),
      self: {
        uid: process.getuid?.() ?? null,
        program: [process.execPath, resolve(process.argv[1] ?? '')],
      },
    },
    terminal: {
      get stdin() { return mayBeTerminal(0) && process.stdin.isTTY },
      get stdout() { return mayBeTerminal(1) && process.stdout.isTTY },
      get stderr() { return mayBeTerminal(2) && process.stderr.isTTY },
    },
    get columns() {
      const widths = [
        mayBeTerminal(1) ? process.stdout.columns : 0,
        mayBeTerminal(2) ? process.stderr.columns : 0,
      ]
      // A terminal that nobody has measured says 0.
      return widths.find((width) => width > 0) ?? columnsUnknown
    },
    get rows() {
      const rows = mayBeTerminal(1) ? process.stdout.rows : 0
      return rows > 0 ? rows : rowsUnknown
    },
    writeOut: out.write,
    isOutGone: out.isGone,
    writeErr: err.write,
    stdin: stdinStream,
    streams(color) {
      if (!color) process.env['NO_COLOR'] = '1'
      endWithTerminal()
      return { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr }
    },
    ...stopSignal(endSaying),
    async end(status) {
      await Promise.all([out.flush(), err.flush()])
      endNow(status)
    },
  }
}

/** Node makes an empty stream of a folder: `< folder` would be told as nothing given. */
const stdinStream = (): Readable => {
  if (fstatSync(0).isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' })
  return process.stdin
}

/** Names below it lead nowhere, like those below a folder that was removed: it is a file. */
const goneFolder = '/dev/null'

/**
 * A folder may be removed while a shell stands in it: that must not keep anybody from stopping
 * everything, nor any line that names no file by a relative path.
 */
const workingFolder = (): string => {
  try {
    return process.cwd()
  } catch {
    return goneFolder
  }
}

/** Pipes and files are told from terminals without making a stream. */
const mayBeTerminal = (fd: number): boolean => {
  try {
    return fstatSync(fd).isCharacterDevice()
  } catch {
    return false
  }
}

interface Output {
  write(data: string | Uint8Array): void
  isGone(): boolean
  flush(): Promise<void>
}

/**
 * Writes in order and whole. A reader that went away (`| head`) is no failure of ours: what follows
 * is dropped. Any other failure, such as a full disk behind `>`, is thrown.
 */
const openOutput = (fd: number, streamOf: () => Writable): Output => {
  let gone = false
  let stream: Writable | null = null
  const onError = (error: unknown): void => {
    gone = true
    const hangup = errnoOf(error) === 'EIO' && isLostTerminal(fd)
    if (!hangup && errnoOf(error) !== 'EPIPE') throw error
  }
  return {
    write(data) {
      if (gone) return
      let rest = Buffer.from(data)
      try {
        while (stream === null && rest.length > 0) rest = rest.subarray(writeSync(fd, rest))
      } catch (error) {
        // Somebody made the pipe non-blocking and it is full: the stream knows how to wait.
        if (errnoOf(error) !== 'EAGAIN') return onError(error)
        stream = streamOf().on('error', onError)
      }
      if (rest.length > 0) stream?.write(rest)
    },
    isGone: () => gone,
    flush: () =>
      new Promise((resolve) => {
        if (stream === null || gone || stream.destroyed) return resolve()
        stream.once('error', () => resolve())
        stream.write('', () => resolve())
      }),
  }
}

/**
 * Node gives a terminal its old modes back when it ends, and aborts where there is no terminal any
 * more; the core file of that may hold a key. Ended by the hangup itself, nothing is left behind.
 */
const endNow = (status: number): never => {
  if ([0, 1, 2].some(isLostTerminal)) {
    process.removeAllListeners('SIGHUP')
    process.kill(process.pid, 'SIGHUP')
  }
  return process.exit(status)
}

let endsWithTerminal = false

/** A prompt whose terminal goes away would fail while it gives back what is gone. */
const endWithTerminal = (): void => {
  if (endsWithTerminal) return
  endsWithTerminal = true
  process.stdin.prependListener('end', () => {
    if (isLostTerminal(0)) endNow(cancelledStatus)
  })
}

/** A device that is no terminal now and none of those beside /dev/null was one. */
const isLostTerminal = (fd: number): boolean => {
  if (!mayBeTerminal(fd)) return false
  const [kind, kindOfNull] = [fstatSync(fd), statSync('/dev/null')]
    .map(({ rdev }) => thisPlatform.deviceKind(rdev))
  return kind !== kindOfNull && !process.getBuiltinModule('node:tty').isatty(fd)
}

/**
 * Node takes an ignore of SIGHUP that it inherits back before anybody can see it. A shell names in
 * this variable what it ran, and `nohup` hands it on; dash sets none.
 */
const isUnderNohup = (): boolean => basename(process.env['_'] ?? '') === 'nohup'

const stopSignal = (end: (lastWords: string) => void): Pick<ProcessIo, 'stop' | 'onInsist'> => {
  const controller = new AbortController()
  let insist: Insist = () => end('')
  const onSignal = (): void => {
    if (controller.signal.aborted) insist(end)
    else controller.abort()
  }
  for (const name of signals) {
    process.on(name, name === 'SIGHUP' && isUnderNohup() ? () => undefined : onSignal)
  }
  // Unanswered, it opens Node's inspector: a port through which others read keys from memory.
  const { inspectorSignal } = thisPlatform
  if (inspectorSignal !== null) process.on(inspectorSignal, () => undefined)
  return { stop: controller.signal, onInsist: (act) => void (insist = act) }
}
