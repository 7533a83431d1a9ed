import { v7 } from 'uuid'

/** Type prefixes of ids; an id is `<prefix>_<UUIDv7>`, so ids of one type sort by creation. */
export type IdPrefix =
  | 'prn' // principal
  | 'root' // login session
  | 'goal'
  | 'task'
  | 'job'
  | 'att' // attempt
  | 'req' // request
  | 'op' // operation = reservation
  | 'art' // artifact
  | 'con' // consent
  | 'led' // ledger
  | 'row' // ledger row
  | 'dec' // trust decision
  | 'aud' // audit row
  | 'int' // save intent
  | 'prf' // capability proof
  | 'grt' // gateway grant
  | 'obs' // observation
  | 'rct' // receipt of a scheduler job
  | 'epi' // digest episode
  | 'ccl' // conclusion of a report
  | 'stp' // stop
  | 'cnn' // saved connection
  | 'pru' // prune
  | 'eff' // effect of a job
  | 'std' // standing authority
  | 'rdb' // readback
  | 'prd' // producer of a publication
  | 'cls' // closure of a job's capacity
  | 'edge_dev' // paired device
  | 'edge_code' // code that pairs a device
  | 'edge_art' // what a paired device sent

export const newId = (prefix: IdPrefix): string => `${prefix}_${v7()}`

const uuid7Form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** When a UUID of version 7 says that it was made, in milliseconds since 1970; else undefined. */
export const msOfUuid7 = (uuid: string): number | undefined =>
  uuid7Form.test(uuid) ? Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16) : undefined


/**
 * So many last digits an id is shown and found by. A UUID of version 7 begins with its time: ids
 * that were made together differ at the end.
 */
export const tailDigits = 8

/** Whether a text is an id of any type, whole. */
const isWhole = (text: string): boolean => {
  const at = text.lastIndexOf('_')
  return /^[a-z]+(?:_[a-z]+)?$/.test(text.slice(0, Math.max(0, at)))
    && uuid7Form.test(text.slice(at + 1))
}

/** The last digits of an id; null of one that does not end in a UUID (`op_unread-…`). */
export const tailOf = (id: string): string | null =>
  isWhole(id) ? id.slice(-tailDigits) : null

/** An id as lists show it: its type and its last digits. What is no such id stays as it is. */
export const shortOf = (id: string): string => {
  const tail = tailOf(id)
  return tail === null ? id : `${id.slice(0, id.lastIndexOf('_') + 1)}${tail}`
}

/** A text that may name a row in short. */
export interface ShortId {
  /** What the id begins with; null where the text lacks the type, or may be an end alone. */
  readonly begins: string | null
  /** What the id ends with, at least `tailDigits` of it; null where it is shorter. */
  readonly ends: string | null
}

/**
 * A text as a short form of an id of this type: `task_0190f3`, `task_1a2b3c4d` or `1a2b3c4d`. Null
 * for a whole id and for everything else.
 */
export const shortForm = (prefix: IdPrefix, text: string): ShortId | null => {
  const isTyped = text.startsWith(`${prefix}_`)
  const rest = isTyped ? text.slice(prefix.length + 1) : text
  if (!/^[0-9a-f-]{1,36}$/.test(rest) || tailOf(text) !== null) return null
  const ends = /[0-9a-f]{8}$/.test(rest) ? rest : null
  return !isTyped && ends === null ? null : { begins: isTyped ? text : null, ends }
}
