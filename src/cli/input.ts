/** What comes in through files and stdin: bounded, exact, and never repeated in an error text. */
import { close, constants, fstat, open, read, type Stats } from 'node:fs'
import { promisify } from 'node:util'
import { errnoOf } from '../base/errno.js'
import { fail, type SallyportError } from '../base/errors.js'
import { pathFrom } from '../base/user-folders.js'
import type { CliDeps } from './deps.js'
import type { Secrets } from './redact.js'

/** Where to read and how much. */
export interface InputSource {
  /** A path, or `-` for stdin. */
  readonly from: string
  /** The flag or argument that named it, for messages: `--api-key-file`. */
  readonly flag: string
  readonly bytesMax: number
}

const chunkBytes = 65_536

const files = {
  open: promisify(open), fstat: promisify(fstat), read: promisify(read), close: promisify(close),
}
/** A pipe that nobody writes to, opened without this, keeps a thread that nothing can end. */
const openFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/**
 * Reads a file, a pipe (also a shell's `<(command)`) or stdin whole, exactly as it is; one
 * interrupt ends the wait for a pipe. Throws `rejected`: `input_too_large` beyond `bytesMax`,
 * `input_unreadable` when the system says no or the path names a folder, a socket or a disk.
 */
export const readInput = async (deps: CliDeps, source: InputSource): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let length = 0
  try {
    const stream = source.from === '-'
      ? deps.io.stdin() : namedChunks(source, pathFrom(deps.cwd, source.from), deps.stop)
    for await (const chunk of endingWith(deps.stop, stream)) {
      length += chunk.byteLength
      if (length > source.bytesMax) throw tooLarge(source)
      chunks.push(Buffer.from(chunk))
    }
  } catch (cause) {
    throw readFailure(source, cause)
  }
  return Buffer.concat(chunks, length)
}

/** Nobody may ever close stdin or a pipe: one interrupt ends the reading, with `AbortError`. */
async function* endingWith(
  stop: AbortSignal, chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let onStop = (): void => undefined
  const stopped = new Promise<never>((_resolve, reject) => {
    onStop = () => reject(stop.reason)
    if (stop.aborted) onStop()
    else stop.addEventListener('abort', onStop, { once: true })
  })
  stopped.catch(() => undefined)
  const iterator = chunks[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), stopped])
      if (next.done === true) return
      yield next.value
    }
  } finally {
    stop.removeEventListener('abort', onStop)
    // A read that never ends cannot be closed; the process ends it.
    if (!stop.aborted) await iterator.return?.()
  }
}

/** What a path names, in chunks: a stream where reading may wait, plain reads where it cannot. */
async function* namedChunks(
  source: InputSource, path: string, stop: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const fd = await files.open(path, openFlags)
  let owned = true
  try {
    const facts = await files.fstat(fd)
    refuseUnreadable(source, facts)
    const stream = await streamOf(fd, facts, stop)
    owned = stream === null
    yield* stream ?? plainChunks(fd)
  } finally {
    if (owned) await files.close(fd)
  }
}

async function* plainChunks(fd: number): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { bytesRead, buffer } = await files.read(
      fd, Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, null)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

/** Waits for a pipe or terminal outside any thread, and is over as soon as the run is stopped. */
const streamOf = async (
  fd: number, facts: Stats, stop: AbortSignal,
): Promise<AsyncIterable<Uint8Array> | null> => {
  if (!facts.isFIFO() && !facts.isCharacterDevice()) return null
  // Loaded only here: most runs read no pipe, and both cost time at the start.
  const { isatty, ReadStream } = await import('node:tty')
  const { pipeStream } = await import('../net/pipe.js')
  if (!facts.isFIFO() && !isatty(fd)) return null
  const stream = facts.isFIFO() ? pipeStream(fd) : new ReadStream(fd)
  const end = (): void => void stream.destroy()
  if (stop.aborted) end()
  else stop.addEventListener('abort', end, { once: true })
  stream.once('close', () => stop.removeEventListener('abort', end))
  return stream
}

const kindOf = (facts: Stats): string | null => {
  if (facts.isDirectory()) return 'folder'
  if (facts.isBlockDevice()) return 'block device'
  return facts.isSocket() ? 'socket' : null
}

const refuseUnreadable = ({ flag }: InputSource, facts: Stats): void => {
  const kind = kindOf(facts)
  if (kind === null) return
  const errno = kind === 'folder' ? 'EISDIR' : 'ENXIO'
  throw fail.rejected('input_unreadable', `What ${flag} names is a ${kind}, not a file or pipe.`, {
    details: { flag, errno, kind },
  })
}

const tooLarge = ({ flag, bytesMax }: InputSource): SallyportError =>
  fail.rejected('input_too_large', `What ${flag} names is larger than ${bytesMax} bytes.`, {
    details: { flag, bytes_max: bytesMax },
  })

const readFailure = ({ flag }: InputSource, cause: unknown): unknown => {
  const errno = errnoOf(cause)
  if (!/^E[A-Z0-9]+$/.test(errno)) return cause
  const why = errno === 'ENXIO' ? 'is a socket or no working device' : 'cannot be read'
  return fail.rejected('input_unreadable', `What ${flag} names ${why} (${errno}).`, {
    details: { flag, errno }, cause,
    ...(errno === 'ENOENT' ? { next: 'There is no such file here: look at its name.' } : {}),
  })
}

/** As `readInput`, as text: UTF-8 without exception, no byte order mark. Nothing is trimmed. */
export const readInputText = async (deps: CliDeps, source: InputSource): Promise<string> => {
  const bytes = await readInput(deps, source)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw fail.rejected('input_not_utf8', `What ${source.flag} names is not UTF-8.`, {
      details: { flag: source.flag },
    })
  }
}

/**
 * Reads a secret: text of one line. One final line end is dropped, because editors write it;
 * nothing else is. The secret is cut out of any stack that this run may show.
 */
export const readSecret = async (
  deps: CliDeps & { readonly secrets: Secrets }, source: InputSource,
): Promise<string> => {
  const text = await readInputText(deps, source)
  const secret = text.replace(/\r?\n$/, '')
  // A line end inside would end an HTTP header early; a control character is never meant.
  if (/[\u0000-\u001f\u007f]/.test(secret)) {
    throw fail.rejected('secret_malformed', `What ${source.flag} names must be one line of text.`, {
      details: { flag: source.flag },
    })
  }
  deps.secrets.add(secret)
  return secret
}
