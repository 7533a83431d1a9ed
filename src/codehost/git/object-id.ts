/**
 * Ids of git objects, computed from their bytes: SHA-1 over `<type> <length>\0` and the body. What
 * the host stores under such an id is these very bytes.
 */
import { createHash } from 'node:crypto'

/** An id of a git object: 40 lowercase hex digits. */
export type ObjectId = string

type ObjectType = 'blob' | 'tree' | 'commit'

const idForm = /^[0-9a-f]{40}$/

/** Whether a text is an object id in its one form (C-119: 40 lowercase hex digits). */
export const isObjectId = (text: string): text is ObjectId => idForm.test(text)

/** The 20 bytes by which a tree names an object. Throws a defect for what is no id. */
export const rawId = (id: ObjectId): Buffer => {
  if (!isObjectId(id)) throw new TypeError('not an object id')
  return Buffer.from(id, 'hex')
}

/** An object's id in the making; the body is given in pieces, so that nothing is held whole. */
interface ObjectHash {
  /** The next bytes of the body. */
  update(piece: Uint8Array): void
  /** The id. Throws a defect where more or fewer bytes came than were announced. */
  id(): ObjectId
}

/** Begins the id of an object whose body has `length` bytes. */
export const objectHash = (type: ObjectType, length: number): ObjectHash => {
  const hash = createHash('sha1').update(`${type} ${length}\0`)
  let given = 0
  return {
    update: (piece) => {
      given += piece.byteLength
      hash.update(piece)
    },
    id: () => {
      if (given !== length) throw new RangeError('the body is not as long as announced')
      return hash.digest('hex')
    },
  }
}

/** The id of an object that is at hand whole. */
export const objectId = (type: ObjectType, body: Uint8Array): ObjectId => {
  const hash = objectHash(type, body.byteLength)
  hash.update(body)
  return hash.id()
}
