/** What comes out of verifying a receipt. */
import * as v from 'valibot'
import { contract } from '../../../base/contract.js'
import { closedObject, nullableText, text } from '../../../base/schema.js'
import type { VerifiedReceipt } from './verify-receipt.js'

const statement = 'This store recorded exactly this, and nobody has altered it since. It proves '
  + 'our record and not the host: what the host has now, and whether what it said was true, nobody '
  + 'was asked.'

const number = v.number()

const verified = v.strictObject({
  receipt: v.picklist(['closure', 'read']),
  id: text,
  at: text,
  job: text,
  kind: text,
  closure: nullableText,
  connection: text,
  repository: text,
  /** What was looked at; all of it holds. */
  checks: v.array(text),
  readbacks: v.array(v.strictObject({
    id: text, read_at: text, effect: number, action: text,
    /** What was read, and the SHA-256 of the reply as it came. */
    path: text, raw_sha256: text,
    /** Number or id that the host chose; predicted id of a git object. */
    remote_id: v.nullable(number), object_id: nullableText,
  })),
  proves_record: v.literal(true),
  proves_host: v.literal(false),
  statement: text,
})
export type VerifiedDocument = v.InferOutput<typeof verified>

export const codehostVerify = contract({
  name: 'codehost.verify', input: closedObject({ receipt: text }), output: verified,
  toDocument: ({ kind, id, at, job, closure, checks, readbacks }: VerifiedReceipt) => ({
    receipt: kind, id, at, job: job.job_id, kind: job.native_kind,
    closure: closure?.closure_id ?? null, connection: job.connection_id,
    repository: job.repository, checks: [...checks],
    readbacks: readbacks.map((receipt) => ({
      id: receipt.readback_id, read_at: receipt.read_at, effect: receipt.effect.number,
      action: receipt.effect.action, path: receipt.get_path, raw_sha256: receipt.raw_sha256,
      remote_id: receipt.effect.remote_id, object_id: receipt.effect.object_id ?? null,
    })),
    proves_record: true as const, proves_host: false as const, statement,
  }),
})
