/**
 * The bytes of an anchor: two slots of one sealed line each, so that the next mark is written into
 * one of them while the mark before stands in the other. A slot holds canonical JSON, a space, the
 * HMAC of that text, a newline, and zeros to its end.
 */
import * as v from 'valibot'
import { canonicalJson } from '../base/canonical.js'
import type { KeyRing } from './keys.js'
import { markShape, type Mark } from './snapshot/manifest.js'

/** Bytes of one slot: what a disk writes at once, and no write of one slot touches the other. */
export const slotBytes = 4_096

/** Bytes of an anchor. */
export const anchorBytes = 2 * slotBytes

/**
 * The mark of an anchor. `torn`: the other slot does not seal, so that a later mark may have been
 * on its way into it; whether it was, the log says.
 */
export interface Anchored extends Mark { readonly torn: boolean }

/** What an anchor seals; `missing` where there is none, `forged` where no seal of the key is. */
export type Reading = Anchored | 'missing' | 'forged'

const anchorShape = v.strictObject({
  schema: v.picklist(['sallyport.anchor.v1', 'sallyport.anchor.v2']),
  store_id: v.string(),
  ...markShape.entries,
})

const sealed = (keys: KeyRing, text: string): string => `${text} ${keys.hmac('anchor', text)}\n`

export const encodeSlot = (keys: KeyRing, storeId: string, mark: Mark): Buffer => {
  const { number, sequence, chain, policy_revision } = mark
  const text = canonicalJson({
    schema: 'sallyport.anchor.v2', store_id: storeId, number, sequence, chain, policy_revision,
  })
  const slot = Buffer.alloc(slotBytes)
  slot.write(sealed(keys, text))
  return slot
}

/** The mark that a line seals for a store; undefined where it seals none. */
const markOf = (
  line: string, keys: KeyRing, storeId: string, version: 'v1' | 'v2',
): Mark | undefined => {
  const body = line.slice(0, Math.max(0, line.lastIndexOf(' ')))
  if (line !== sealed(keys, body)) return undefined
  const parsed = v.safeParse(anchorShape, JSON.parse(body))
  if (!parsed.success || parsed.output.store_id !== storeId) return undefined
  const { schema, number, sequence, chain, policy_revision } = parsed.output
  if (schema !== `sallyport.anchor.${version}`) return undefined
  return { number, sequence, chain, policy_revision }
}

/** The line of a slot: all before its zeros. Bytes behind these leave it unsealed. */
const lineOf = (slot: Buffer): string => slot.toString('utf8').replace(/\0+$/, '')

/**
 * What the bytes of an anchor seal: the later of two slots, or the only one that seals. One line
 * alone is an anchor of before there were slots (`sallyport.anchor.v1`); the next mark replaces it.
 */
export const readingOf = (bytes: Buffer, keys: KeyRing, storeId: string): Reading => {
  if (bytes.length !== anchorBytes) {
    const mark = markOf(bytes.toString('utf8'), keys, storeId, 'v1')
    return mark === undefined ? 'forged' : { ...mark, torn: false }
  }
  const [first, second] = [bytes.subarray(0, slotBytes), bytes.subarray(slotBytes)]
    .map((slot) => markOf(lineOf(slot), keys, storeId, 'v2'))
  if (first === undefined || second === undefined) {
    const mark = first ?? second
    return mark === undefined ? 'forged' : { ...mark, torn: true }
  }
  if (first.number === second.number && first.chain !== second.chain) return 'forged'
  return { ...(first.number > second.number ? first : second), torn: false }
}

const numberIn = (line: string): number => {
  try {
    const value: unknown = JSON.parse(line.slice(0, Math.max(0, line.lastIndexOf(' '))))
    const number = typeof value === 'object' && value !== null && 'number' in value
      ? value.number : 0
    return typeof number === 'number' && Number.isSafeInteger(number) ? number : 0
  } catch (error) {
    if (error instanceof SyntaxError) return 0
    throw error
  }
}

/**
 * The highest number that an anchor names, sealed or not: for whoever has no key, and numbers what
 * comes above it. 0 where none can be read.
 */
export const numberTold = (bytes: Buffer): number => Math.max(0, ...[
  bytes.subarray(0, slotBytes), bytes.subarray(slotBytes),
].map((slot) => numberIn(lineOf(slot))))
