/**
 * The anchor: one sealed line outside the state directory that remembers the last mark. A copy of
 * an old state, put back, is behind it; a state with another history does not match it.
 */
import * as v from 'valibot'
import { canonicalJson } from '../base/canonical.js'
import { SallyportError } from '../base/errors.js'
import { ioFailure, publish, readWhole, type Files } from './files.js'
import type { KeyRing } from './keys.js'
import { fileBytesMax } from './limits.js'
import { markShape, type Mark } from './snapshot/manifest.js'
import { Still } from './still.js'
import type { AnchorStatus } from './types.js'

const anchorShape = v.strictObject({
  schema: v.literal('sallyport.anchor.v1'),
  store_id: v.string(),
  ...markShape.entries,
})

const encode = (keys: KeyRing, storeId: string, mark: Mark): Buffer => {
  const text = canonicalJson({ schema: 'sallyport.anchor.v1', store_id: storeId, ...mark })
  return Buffer.from(`${text} ${keys.hmac('anchor', text)}\n`)
}

/** Moves the anchor to a mark; durable when it returns. */
export const writeAnchor = (
  files: Files, path: string, keys: KeyRing, storeId: string, mark: Mark,
): void => publish(files, path, encode(keys, storeId, mark))

/** The anchored mark, or why there is none to believe. */
export const readAnchor = (
  files: Files, path: string, keys: KeyRing, storeId: string,
): Mark | 'missing' | 'forged' => {
  const bytes = readWhole(files, path, fileBytesMax.anchor)
  if (bytes === undefined) return 'missing'
  const text = bytes.toString('utf8')
  const at = text.lastIndexOf(' ')
  const body = text.slice(0, Math.max(0, at))
  if (text !== `${body} ${keys.hmac('anchor', body)}\n`) return 'forged'
  const parsed = v.safeParse(anchorShape, JSON.parse(body))
  if (!parsed.success || parsed.output.store_id !== storeId) return 'forged'
  const { number, sequence, chain, policy_revision } = parsed.output
  return { number, sequence, chain, policy_revision }
}

/** The anchor of one store. */
export interface Anchor {
  /** The anchored mark, or why there is none to believe (a missing key is a missing anchor). */
  read(): Mark | 'missing' | 'forged'
  /** Moves it to a mark; durable when it returns. */
  move(mark: Mark): void
  /**
   * Runs `fn`, for which the file is opened once at most: for whoever holds the lock, under which
   * nobody else moves it.
   */
  heldStill<T>(fn: () => T): T
}

/** The anchor in the file at `path`; the key is read when it is first needed. */
export const anchorAt = (
  files: Files, path: string, keys: KeyRing, storeId: string,
): Anchor => {
  let still = false
  let known: Mark | 'missing' | 'forged' | undefined
  const unmoved = new Still<Mark | 'missing' | 'forged'>()
  const open = (): Mark | 'missing' | 'forged' => {
    try {
      const facts = files.stat(path)
      const read = () => readAnchor(files, path, keys, storeId)
      return facts === undefined ? read() : unmoved.of(facts, read)
    } catch (error) {
      if (error instanceof SallyportError && error.code === 'key_missing') return 'missing'
      throw ioFailure(error, 'reading the anchor')
    }
  }
  return {
    read: () => {
      const mark = known ?? open()
      known = still ? mark : undefined
      return mark
    },
    move: (mark) => {
      known = undefined
      writeAnchor(files, path, keys, storeId, mark)
    },
    heldStill: (fn) => {
      still = true
      try {
        return fn()
      } finally {
        still = false
        known = undefined
      }
    },
  }
}

/** Whether two readings of one anchor found it where it was. */
export const sameMark = (
  before: Mark | 'missing' | 'forged', after: Mark | 'missing' | 'forged',
): boolean =>
  typeof before === 'string' || typeof after === 'string'
    ? before === after
    : before.number === after.number && before.chain === after.chain

/**
 * How an anchored mark compares with the marks of a store (oldest first, at least one). A
 * restore or a loss sets `floor` above every earlier mark: until the anchor has been moved beyond
 * it, which only their hooks can do, the store counts as behind.
 */
export const compareAnchor = (
  anchored: Mark | 'missing' | 'forged', marks: readonly Mark[], floor: number,
): { readonly status: AnchorStatus; readonly oneAhead: boolean } => {
  if (anchored === 'missing' || anchored === 'forged') return { status: anchored, oneAhead: false }
  const last = marks.at(-1)
  const waits = floor > 0 && anchored.number <= floor
  if (last === undefined || waits || last.number < anchored.number) {
    return { status: 'behind', oneAhead: false }
  }
  const same = marks.findLast((mark) => mark.number === anchored.number)
  const agrees = same !== undefined && same.chain === anchored.chain
  const distance = last.number - anchored.number
  if (!agrees || distance > 1) return { status: 'forked', oneAhead: false }
  return { status: 'ok', oneAhead: distance === 1 }
}
