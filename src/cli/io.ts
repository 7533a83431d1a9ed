/**
 * The only module that touches the process: its streams, terminal facts, signals, environment and
 * end. Everything else is handed an `Io`, so that a test is a record of what was written.
 */
import type { Readable, Writable } from 'node:stream'

/** The process's streams and terminal facts. */
export interface Io {
  /** Which of the three streams are terminals. */
  readonly terminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean }
  /** Width of the terminal in columns; 80 when unknown. */
  readonly columns: number
  writeOut(data: string | Uint8Array): void
  writeErr(text: string): void
  /** Everything on stdin, as it comes. */
  stdin(): AsyncIterable<Uint8Array>
  /** The raw streams, for prompts and the spinner only. */
  streams(): { readonly stdin: Readable; readonly stdout: Writable; readonly stderr: Writable }
}

/** What the process was started with. */
export interface ProcessFacts {
  /** Arguments after the program's own name. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly execArgv: readonly string[]
  readonly cwd: string
}

/** The real process. */
export interface ProcessIo extends Io {
  readonly facts: ProcessFacts
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP; the second ends the process at once. */
  readonly stop: AbortSignal
  /** Flushes both streams and ends the process. */
  end(status: number): Promise<void>
}

const cancelledStatus = 130
const columnsUnknown = 80
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Takes hold of the process; called once, at the start. */
export const processIo = (): ProcessIo => {
  const { stdout, stderr, stdin } = process
  const out = quietPipe(stdout)
  const err = quietPipe(stderr)
  return {
    facts: {
      argv: process.argv.slice(2),
      env: process.env,
      execArgv: process.execArgv,
      cwd: process.cwd(),
    },
    terminal: {
      // Asking for stdin opens it, so it is asked only when somebody wants to know.
      get stdin() { return process.stdin.isTTY === true },
      stdout: stdout.isTTY === true,
      stderr: stderr.isTTY === true,
    },
    columns: stdout.columns ?? columnsUnknown,
    writeOut: out.write,
    writeErr: err.write,
    stdin: () => stdin,
    streams: () => ({ stdin, stdout, stderr }),
    stop: stopSignal(),
    async end(status) {
      await Promise.all([out.flush(), err.flush()])
      process.exit(status)
    },
  }
}

interface QuietPipe {
  write(data: string | Uint8Array): void
  flush(): Promise<void>
}

/** A reader that went away (`| head`) is no failure of ours: what follows is dropped. */
const quietPipe = (stream: Writable): QuietPipe => {
  let broken = false
  stream.on('error', () => (broken = true))
  return {
    write(data) {
      if (!broken) stream.write(data)
    },
    flush: () =>
      new Promise((resolve) => {
        if (broken || stream.destroyed) return resolve()
        stream.once('error', () => resolve())
        stream.write('', () => resolve())
      }),
  }
}

const stopSignal = (): AbortSignal => {
  const controller = new AbortController()
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(cancelledStatus)
    controller.abort()
  }
  for (const name of signals) process.on(name, onSignal)
  return controller.signal
}
