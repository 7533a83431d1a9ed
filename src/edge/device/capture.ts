/**
 * Taking one picture into the spool. What is blocked is refused before the file is opened, so that
 * not a byte of it is ever in the spool (S-041); the file itself is read and never changed.
 */
import { createHash, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'
import { isoFromMs, type Clock } from '../../base/clock.js'
import { fail, type SallyportError } from '../../base/errors.js'
import { isWellFormed } from '../../base/well-formed.js'
import { pathFrom } from '../../base/user-folders.js'
import { errnoOf, type Files } from '../../state/files.js'
import { blockedBy } from './blocklist.js'
import type { CaptureRequest } from './capture-contract.js'
import { openDeviceFolder } from './folder.js'
import { captureBytesMax, mimeOf } from './picture.js'
import { readSettings } from './settings.js'
import type { Capture } from './spool/item.js'
import { Spool, type Added, type Steps } from './spool/spool.js'

/** What the use cases of a device need. */
export interface DeviceContext {
  /** Folder of the device. */
  readonly dir: string
  readonly files: Files
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Longest wait for the lock of the spool, milliseconds. */
  readonly waitMs: number
  readonly at: Steps
}

const pathBytesMax = 4_096
const openFlags =
  constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY

/**
 * Takes a file into the spool. `cwd` is what a relative path starts from. Throws `blocked`
 * `capture_blocked`, `rejected` for what is no regular file, no PNG or JPEG, empty or over 20 MiB,
 * and what `Spool.add` throws.
 */
export const captureFile = async (
  ctx: DeviceContext, cwd: string, request: CaptureRequest,
): Promise<Added> => {
  const places = openDeviceFolder(ctx.files, ctx.dir)
  const { limits, blocklist } = readSettings(ctx.files, places.settings)
  const path = pathFrom(cwd, request.file)
  const declared = { source: request.source ?? null, file_name: basename(path) }
  const blocked = blockedBy(blocklist, declared)
  if (blocked !== null) throw blockedError(blocked)
  const { bytes, mtimeMs } = await readPicture(path, ctx.at)
  const capture = captureOf(ctx, request, path, bytes, mtimeMs)
  await ctx.at('capture.read')
  const spool = new Spool({ ...ctx, places, limits })
  return spool.add(capture)
}

const blockedError = (by: 'source' | 'file_name'): SallyportError =>
  fail.blocked(
    'capture_blocked', `The blocklist holds the ${by.replace('_', ' ')} of this capture.`,
    { reason: `blocked_${by}`, next: 'Nothing was taken. The list is settings.json, blocklist.' },
  )

const captureOf = (
  { clock }: DeviceContext, request: CaptureRequest, path: string, bytes: Buffer, mtimeMs: number,
): Capture => {
  const mime = mimeOf(bytes)
  if (mime === null) {
    throw fail.rejected('capture_not_a_picture', 'The file is neither a PNG nor a JPEG.', {
      next: 'Its first bytes decide, not its name.',
    })
  }
  const name = basename(path)
  const tellable = isWellFormed(path) && Buffer.byteLength(path) <= pathBytesMax
  return {
    bytes,
    facts: {
      schema: 'sallyport.edge.spooled.v1',
      request_id: request.request_id ?? randomUUID(),
      // A file may say that it comes from the future or from before time: then it is of now.
      captured_at: isoFromMs(Math.max(0, Math.min(mtimeMs, clock.wallMs()))),
      sha256: createHash('sha256').update(bytes).digest('hex'),
      bytes: bytes.length,
      mime,
      cloud_egress: request.cloud_egress ?? false,
      model_egress: request.model_egress ?? false,
      purpose: request.purpose ?? 'screenshot',
      source: request.source ?? null,
      file_name: tellable ? name : null,
      source_path: tellable ? path : null,
    },
  }
}

const notRegular = (): SallyportError =>
  fail.rejected('capture_not_a_file', 'What is named is no regular file; links are not followed.', {
    next: 'Name the file itself.',
  })

const readPicture = async (
  path: string, at: Steps,
): Promise<{ bytes: Buffer; mtimeMs: number }> => {
  let file: FileHandle | null = null
  try {
    file = await open(path, openFlags)
    const facts = await file.stat()
    if (!facts.isFile()) throw notRegular()
    await at('capture.opened')
    const bytes = await readBounded(file, facts.size)
    const after = await file.stat()
    if (after.size !== bytes.length || after.mtimeMs !== facts.mtimeMs) {
      throw fail.rejected('capture_still_written', 'The file changed while it was read.', {
        next: 'Run it again when the file is finished.',
      })
    }
    return { bytes, mtimeMs: facts.mtimeMs }
  } catch (error) {
    throw readFailure(error)
  } finally {
    await file?.close()
  }
}

const readBounded = async (file: FileHandle, size: number): Promise<Buffer> => {
  if (size === 0) throw fail.rejected('capture_not_a_picture', 'The file is empty.')
  if (size > captureBytesMax) {
    throw fail.rejected('capture_too_large', `The file is larger than ${captureBytesMax} bytes.`, {
      details: { limit_bytes: captureBytesMax, bytes: size },
    })
  }
  const bytes = Buffer.allocUnsafe(size)
  let have = 0
  while (have < size) {
    const { bytesRead } = await file.read(bytes, have, size - have, have)
    if (bytesRead === 0) break
    have += bytesRead
  }
  return bytes.subarray(0, have)
}

const readFailure = (error: unknown): unknown => {
  const errno = errnoOf(error)
  if (['ELOOP', 'ENXIO', 'ENODEV', 'EISDIR'].includes(errno)) return notRegular()
  if (!/^E[A-Z0-9]+$/.test(errno)) return error
  return fail.rejected('capture_unreadable', `The file cannot be read (${errno}).`, {
    details: { errno }, cause: error,
  })
}
