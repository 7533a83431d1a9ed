/** Receipts that others can check: making one of what this state has done, and checking one. */
import { createPublicKey, type KeyObject } from 'node:crypto'
import * as v from 'valibot'
import { sha256Hex } from '../../base/canonical.js'
import { fail, SallyportError } from '../../base/errors.js'
import type { IdPrefix } from '../../base/ids.js'
import { parseStrictJson } from '../../base/strict-json.js'
import type { Registry } from '../../governance/capability.js'
import type { Gov, Session } from '../../governance/context.js'
import type { Store } from '../../state/types.js'
import { capabilities } from '../capabilities.js'
import {
  envelopeShape, envelopeText, openEnvelope, publicHalf, sealEnvelope, type Envelope,
} from './envelope.js'
import { keyedBy, signingKey } from './signing-key.js'
import { statementBytes, statementOf, statementShape, type Statement } from './statement.js'

/** Limits of what is checked, in bytes. */
export const receiptLimits = { bytesMax: 1_048_576, keyBytesMax: 4_096, depthMax: 8 } as const

/** A receipt that was made. */
export interface MadeReceipt {
  readonly keyId: string
  /** SHA-256 of the file that `envelopeText` makes. */
  readonly sha256: string
  readonly envelope: Envelope
  readonly statement: Statement
}

const finderOf = (registry: Registry, id: string) => {
  const prefix = id.slice(0, Math.max(0, id.lastIndexOf('_')))
  for (const { receipted = {} } of registry) {
    // Whoever types `constructor_1` names nothing of ours.
    const find = Object.hasOwn(receipted, prefix) ? receipted[prefix as IdPrefix] : undefined
    if (find !== undefined) return find
  }
  throw fail.rejected('receipt_of_nothing', 'There are no receipts of what this id names.', {
    next: 'Name an ask (task_…), the observation of an analysis (obs_…), a job of the code host '
      + '(job_…) or a closure (cls_…). What a scan, a proof or a readback calls its receipt '
      + '(rct_…, op_…, rdb_…) is a record of this state alone: `sallyport explain ID`.',
  })
}

/**
 * The signed receipt of what an id names; it changes nothing, and gives the same bytes for as long
 * as the facts are the same. Throws `rejected` `receipt_of_nothing`, and as `FindReceipted`.
 */
export const makeReceipt = async (
  gov: Gov, session: Session, id: string, registry: Registry = capabilities,
): Promise<MadeReceipt> => {
  const find = await finderOf(registry, id)()
  const { store } = gov
  const statement = statementOf(id, find(gov, store.read(), session, id), keyedBy(store))
  const key = signingKey(store)
  const envelope = sealEnvelope(key, statementBytes(statement))
  return {
    keyId: publicHalf(key).id, sha256: sha256Hex(envelopeText(envelope)), envelope, statement,
  }
}

/** The public half of the key of a store. */
export const receiptKeyOf = (store: Pick<Store, 'keyedDigest'>) => publicHalf(signingKey(store))

const invalid = (reason: string, cause?: unknown): SallyportError =>
  fail.rejected('receipt_invalid', 'This is no receipt of this form.', {
    reason, cause, next: 'Give the file that `sallyport receipt export ID` printed, unchanged.',
  })

/** A JSON document of a shape. */
const shaped = <S extends v.GenericSchema>(
  shape: S, bytes: Uint8Array, reason: string,
): v.InferOutput<S> => {
  let value: unknown
  try {
    value = parseStrictJson(bytes, receiptLimits)
  } catch (error) {
    throw invalid(error instanceof SallyportError ? error.code : 'not_json', error)
  }
  const read = v.safeParse(shape, value)
  if (read.success) return read.output
  throw invalid(reason)
}

/** A public key out of its PEM. Throws `rejected` `receipt_key_invalid`. */
const publicKey = (pem: Uint8Array): KeyObject => {
  const text = Buffer.from(pem).toString('latin1').trim()
  // A private key has a public half, too, and should never be handed round for it.
  const isPublic = /^-----BEGIN PUBLIC KEY-----\r?\n[A-Za-z0-9+/=\r\n]+-----END PUBLIC KEY-----$/
  try {
    if (isPublic.test(text)) {
      const key = createPublicKey(text)
      if (key.asymmetricKeyType === 'ed25519') return key
    }
  } catch { /* Told below, in our words: OpenSSL's would quote the file. */ }
  throw fail.rejected('receipt_key_invalid', 'This is no public Ed25519 key in PEM.', {
    next: 'Give the file that `sallyport receipt key` printed.',
  })
}

/** A receipt whose signature holds. */
export interface CheckedReceipt {
  readonly keyId: string
  readonly sha256: string
  readonly statement: Statement
}

/**
 * Checks a receipt by a public key: no state, no session, nobody is asked. Throws `rejected`:
 * `receipt_key_invalid`, `receipt_invalid`, `receipt_not_signed`.
 */
export const checkReceipt = (file: Uint8Array, pem: Uint8Array): CheckedReceipt => {
  const key = publicKey(pem)
  const payload = openEnvelope(key, shaped(envelopeShape, file, 'no_envelope'))
  if (payload === null) {
    throw fail.rejected('receipt_not_signed', 'No signature of this receipt is by this key.', {
      next: 'Ask whoever gave you the receipt which key it is of, and for the file unchanged.',
    })
  }
  const statement = shaped(statementShape, payload, 'no_statement')
  // Else what is read, and shown, would be other than what was signed.
  if (!statementBytes(statement).equals(payload)) throw invalid('not_canonical')
  return { keyId: publicHalf(key).id, sha256: sha256Hex(file), statement }
}
