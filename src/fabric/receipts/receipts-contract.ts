/** What goes in and comes out of receipts that others can check. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { closedObject, sha256, text } from '../../base/schema.js'
import { envelopeShape } from './envelope.js'
import type { CheckedReceipt, MadeReceipt } from './receipts.js'
import { statementShape, type Statement } from './statement.js'

const { subject, predicate } = statementShape.entries
const { what, id, facts, proves } = predicate.entries

/** What a receipt says, in a document. */
const saidEntries = { what, id, facts, content: subject, proves }

const saidOf = ({ subject: content, predicate: said }: Statement) => ({ ...said, content })

export const receiptExport = contract({
  name: 'receipt.export',
  input: closedObject({ id: text }),
  output: v.strictObject({
    ...saidEntries,
    key_id: sha256,
    /** SHA-256 of the file that is printed without `--json`. */
    sha256,
    /** The DSSE envelope. */
    envelope: envelopeShape,
  }),
  toDocument: ({ keyId, sha256: digest, envelope, statement }: MadeReceipt) =>
    ({ ...saidOf(statement), key_id: keyId, sha256: digest, envelope }),
})

/** The public half of the key that they are signed with. */
export const receiptKey = contract({
  name: 'receipt.key',
  output: v.strictObject({ key_id: sha256, algorithm: v.literal('ed25519'), public_key_pem: text }),
  toDocument: (half: { readonly id: string; readonly pem: string }) =>
    ({ key_id: half.id, algorithm: 'ed25519' as const, public_key_pem: half.pem }),
})

export const receiptVerify = contract({
  name: 'receipt.verify',
  input: closedObject({ receipt: text, key: text }),
  output: v.strictObject({
    verified: v.literal(true),
    ...saidEntries,
    key_id: sha256,
    /** SHA-256 of the file as it was given. */
    sha256,
  }),
  toDocument: ({ keyId, sha256: digest, statement }: CheckedReceipt) =>
    ({ verified: true as const, ...saidOf(statement), key_id: keyId, sha256: digest }),
})
