/**
 * What a publication changes on its base, as a patch: files of the base are read by GET, a bounded
 * number of them, in an operation of its own; the other side comes out of the sealed plan.
 */
import type { Session } from '../../../governance/context.js'
import { SallyportError } from '../../../base/errors.js'
import { readBlobs } from '../../adapter/base-blobs.js'
import { afterRead } from '../../after-read.js'
import { codehostBase, type CodehostContext } from '../../context.js'
import type { ObjectId } from '../../git/object-id.js'
import type { Change } from '../../plan/changes.js'
import { patchOf } from '../../plan/patch.js'
import { previewContentsMax } from '../../plan/plan-limits.js'
import { requirePrerequisites } from '../boundary.js'
import type { Job } from '../job-rows.js'
import { openPublication, type OpenPublication } from './open.js'

/** A patch, and what it took. */
export interface PublicationDiff {
  readonly patch: string
  /** Files of the base that were read. */
  readonly gets: number
  /** Files that change and are not in the patch: too many, too large, or too long together. */
  readonly leftOut: number
}

/** Most files of a base that are read, and most bytes of a patch. */
const diffLimits = { getsMax: previewContentsMax, patchBytesMax: 8 * 1024 * 1024 } as const

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a file; null where it is none. */
const textOf = (bytes: Uint8Array): string | null => {
  if (bytes.includes(0)) return null
  try {
    return utf8.decode(bytes)
  } catch {
    return null
  }
}

const contentOf = (open: OpenPublication, { id }: Change): string =>
  textOf(Buffer.concat([...open.piecesOf(id)])) ?? ''

/** Whether its lines can only be told with what the base has. */
const needsBase = ({ before, id, text }: Change): boolean =>
  before !== null && before.id !== id && text

const partOf = (change: Change, texts: { before: string, after: string } | null): string => {
  const { path, mode, id, before } = change
  return patchOf({ path, mode, id, before, texts })
}

/** A part that needs nothing of the base's content. */
const plainPart = (open: OpenPublication, change: Change): string => {
  const whole = change.before === null && change.text
  return partOf(change, whole ? { before: '', after: contentOf(open, change) } : null)
}

/** Parts of a patch by path, as far as there is room for them. */
class Parts {
  readonly #parts = new Map<string, string>()
  #room: number = diffLimits.patchBytesMax
  constructor(readonly changes: readonly Change[]) {}

  add({ path }: Change, part: string): void {
    const bytes = Buffer.byteLength(part)
    if (bytes > this.#room) return
    this.#room -= bytes
    this.#parts.set(path, part)
  }

  done(gets: number): PublicationDiff {
    const patch = this.changes.map(({ path }) => this.#parts.get(path) ?? '').join('')
    return { patch, gets, leftOut: this.changes.length - this.#parts.size }
  }
}

const readInto = async (
  ctx: CodehostContext, session: Session, job: Job, open: OpenPublication, parts: Parts,
): Promise<number> => {
  const waiting = new Map<ObjectId, Change[]>()
  for (const change of open.changes) {
    const id = change.before?.id ?? ''
    if (needsBase(change)) waiting.set(id, [...waiting.get(id) ?? [], change])
  }
  const ids = [...waiting.keys()].slice(0, diffLimits.getsMax)
  const asked = { gov: ctx.gov, sealedHost: codehostBase(ctx.gov), askedHost: ctx.baseUrl }
  await readBlobs(ctx, session, {
    connectionId: job.connection_id, noun: 'preview', ids,
    requires: (view) => requirePrerequisites('followThrough', asked, view, job),
    take: (id, bytes) => {
      if (bytes === null) return
      const before = textOf(bytes)
      for (const change of waiting.get(id) ?? []) {
        const texts = before === null ? null : { before, after: contentOf(open, change) }
        parts.add(change, partOf(change, texts))
      }
    },
  })
  return ids.length
}

/**
 * The patch of a publication. Throws what `openPublication` and `readBlobs` throw; what is thrown
 * after the host was asked has a status that says so.
 */
export const diffPublication = async (
  ctx: CodehostContext, session: Session, job: Job,
): Promise<PublicationDiff> => {
  const open = openPublication(ctx.gov, ctx.gov.store.read(), job)
  try {
    const parts = new Parts(open.changes)
    for (const change of open.changes) {
      if (!needsBase(change)) parts.add(change, plainPart(open, change))
    }
    return parts.done(await readInto(ctx, session, job, open, parts))
  } catch (error) {
    throw error instanceof SallyportError ? afterRead(error) : error
  } finally {
    open.close()
  }
}
