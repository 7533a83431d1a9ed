/**
 * The sealed plan of a publication as it lies there: a pack of two bodies, the plan and the listing
 * of its base. The contents of files lie in a pack of their own, which the plan names by its
 * digest; so the digest of this pack's index names every byte that a publication will send.
 */
import * as v from 'valibot'
import { canonicalJson } from '../../../base/canonical.js'
import { count, sha256, text } from '../../../base/schema.js'
import { branchReason } from '../../git/branch-name.js'
import { isObjectId } from '../../git/object-id.js'
import { treeModes } from '../../git/tree-entry.js'
import { isRepositoryName } from '../../repository.js'
import { sourceMarks } from '../../source/marks.js'

const objectId = v.pipe(v.string(), v.check(isObjectId))
const branch = v.pipe(v.string(), v.check((name) => branchReason(name) === null))
const fileModes = ['100644', '100755'] as const
const person = v.strictObject({ name: text, email: text, date: text })

const isRepository = (full: string): boolean => {
  const [owner = '', name = '', ...more] = full.split('/')
  return more.length === 0 && isRepositoryName({ owner, name })
}
const repository = v.pipe(v.string(), v.check(isRepository))

/** A program that the producer is made of, as it was found when the publication was prepared. */
const file = v.strictObject({ path: text, sha256 })
const program = v.strictObject({ path: text, version: text, sha256 })
const texts = v.array(v.string())

const producerShape = v.strictObject({
  helper: file, node: program, git: program, addon: file,
  arguments: v.strictObject({ blobs: texts, trees: texts, commit: texts }),
  environment: v.strictObject({
    supervisor: v.record(v.string(), v.string()), git: v.record(v.string(), v.string()),
  }),
  manifest_sha256: sha256,
})
/** What the local work of a publication is done with and given (C-079). */
export type PlannedProducer = v.InferOutput<typeof producerShape>

const postShape = v.strictObject({
  number: count, action: text, path: text, id: v.nullable(objectId), bytes: count,
  body_sha256: sha256, idempotency: text, effect_id: text,
})
export type RegisteredEffect = v.InferOutput<typeof postShape>

const documentShape = v.strictObject({
  schema: v.literal('svc.codehost.publication.v1'),
  job_id: text,
  host: text,
  repository,
  base: v.strictObject({ branch, commit: objectId, tree: objectId }),
  branch,
  title: text,
  body: text,
  people: v.strictObject({ author: person, committer: person }),
  message: text,
  /** Files that the folder had, and those among them that differ from the base. */
  files: count,
  /** Path, mode, id of the blob, bytes, whether it is text, bytes as JSON. */
  changes: v.pipe(v.array(v.strictTuple([
    text, v.picklist(fileModes), objectId, count, v.boolean(), count,
  ])), v.minLength(1)),
  /** What a person should look at, by path. */
  marks: v.array(v.strictTuple([text, v.array(v.picklist(sourceMarks))])),
  /** The pack of contents; a body's name is the id of its blob. */
  contents: v.strictObject({ artifact_id: text, stored_sha256: sha256, sha256, bytes: count }),
  posts: v.pipe(v.array(postShape), v.minLength(1)),
  tree: objectId,
  commit: objectId,
  producer: producerShape,
})
/** The plan's body. */
export type PublicationDocument = v.InferOutput<typeof documentShape>

const listingShape = v.array(v.strictTuple([text, v.picklist(treeModes), objectId]))
/** The base, a row a file or folder: path, mode, id. */
type BaseListing = v.InferOutput<typeof listingShape>

/** Names of the two bodies. */
export const bodyNames = { plan: 'plan', base: 'base' } as const

/** Bytes of either body. */
export const documentBytes = (document: PublicationDocument | BaseListing): Buffer =>
  Buffer.from(canonicalJson(document))

const parsed = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return null
  }
}

/** The plan of its bytes; null for anything else. */
export const documentOf = (bytes: Uint8Array): PublicationDocument | null => {
  const result = v.safeParse(documentShape, parsed(bytes))
  return result.success ? result.output : null
}

/** The listing of its bytes; null for anything else. */
export const listingOfBytes = (bytes: Uint8Array): BaseListing | null => {
  const result = v.safeParse(listingShape, parsed(bytes))
  return result.success ? result.output : null
}
