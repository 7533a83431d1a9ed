/** What comes in through files and stdin: bounded, exact, and never repeated in an error text. */
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fail } from '../base/errors.js'
import type { SallyportError } from '../base/errors.js'
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

/**
 * Reads a file or stdin whole, exactly as it is.
 * Throws `rejected`: `input_too_large` beyond `bytesMax`, `input_unreadable` when the system says
 * no.
 */
export const readInput = async (deps: CliDeps, source: InputSource): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let length = 0
  const stream = source.from === '-' ? deps.io.stdin() : fileChunks(resolve(deps.cwd, source.from))
  try {
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

async function* fileChunks(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r')
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

const tooLarge = ({ flag, bytesMax }: InputSource): SallyportError =>
  fail.rejected('input_too_large', `What ${flag} names is larger than ${bytesMax} bytes.`, {
    details: { flag, bytes_max: bytesMax },
  })

const readFailure = ({ flag }: InputSource, cause: unknown): unknown => {
  const errno = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (!/^E[A-Z0-9]+$/.test(errno)) return cause
  return fail.rejected('input_unreadable', `What ${flag} names cannot be read (${errno}).`, {
    details: { flag, errno }, cause,
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
