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

/** A new id with its type prefix. */
export const newId = (prefix: IdPrefix): string => `${prefix}_${v7()}`

const uuid7Form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** When a UUID of version 7 says that it was made, in milliseconds since 1970; else undefined. */
export const msOfUuid7 = (uuid: string): number | undefined =>
  uuid7Form.test(uuid) ? Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16) : undefined
