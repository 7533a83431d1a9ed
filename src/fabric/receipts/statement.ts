/**
 * What a receipt says, as an in-toto statement (github.com/in-toto/attestation, Statement v1):
 * `subject` names content by keyed digests, `predicate` has the facts. Pure.
 */
import * as v from 'valibot'
import { canonicalJson } from '../../base/canonical.js'
import { sha256, text } from '../../base/schema.js'
import type { Receipted } from '../../governance/receipted.js'

/** What a receipt proves, and what not. It is signed with it. */
export const whatItProves =
  'A holder of the state and its key says so. It proves nothing of time, provider or host.'

/** Content by a keyed digest: only who holds the state can say what it is of. */
const subjectShape = v.strictObject({ name: text, digest: v.strictObject({ hmacSha256: sha256 }) })

/** Names of the fields of a statement are those of in-toto. */
export const statementShape = v.strictObject({
  _type: v.literal('https://in-toto.io/Statement/v1'),
  subject: v.pipe(v.array(subjectShape), v.minLength(1)),
  predicateType: v.literal('urn:sallyport:receipt:v1'),
  predicate: v.strictObject({
    /** `ask`, `analysis`, `publication`, `issue`, `comment` or `closure`. */
    what: text,
    /** What the state calls it. */
    id: text,
    facts: v.record(text, v.unknown()),
    proves: v.literal(whatItProves),
  }),
})
export type Statement = v.InferOutput<typeof statementShape>

/** Digest of some content under a key of the state: of one name of one thing. */
export type KeyedDigest = (id: string, name: string, sha256: string) => string

/** What is said of a thing. */
export const statementOf = (
  id: string, { what, content, facts }: Receipted, keyed: KeyedDigest,
): Statement => ({
  _type: 'https://in-toto.io/Statement/v1',
  subject: content.map(({ name, sha256: digest }) =>
    ({ name, digest: { hmacSha256: keyed(id, name, digest) } })),
  predicateType: 'urn:sallyport:receipt:v1',
  predicate: { what, id, facts: { ...facts }, proves: whatItProves },
})

/** The bytes that are signed: canonical JSON, so that the same facts are the same bytes. */
export const statementBytes = (statement: Statement): Buffer =>
  Buffer.from(canonicalJson(statement))
