/**
 * A head start for machines that join: the files of a replica as of one record, packed and sealed
 * as an artifact, so that not every record from the first one on has to be followed. It is made by
 * whoever invites, once there are many records, and named in the invitation alone: a place that
 * withholds it costs time and nothing else, and it cannot give another one.
 */
import { join } from 'node:path'
import * as v from 'valibot'
import { orIoFailure, publish, readWhole } from '../files.js'
import { packBase } from './base.js'
import { headStartShape, type HeadStart } from './head-start-shape.js'
import type { PlacedStore } from './placed-store.js'

/** From so many records behind the last head start on a new one is made. */
const recordsMin = 20_000
const noteBytesMax = 4_096

const notePath = (store: PlacedStore): string => join(store.runDir, 'head-start')

/** The last one that this machine made; null where nobody knows of any. */
const noted = (store: PlacedStore): HeadStart | null => {
  try {
    const bytes = readWhole(store.replica.files, notePath(store), noteBytesMax)
    return bytes === undefined ? null : v.parse(headStartShape, JSON.parse(bytes.toString()))
  } catch {
    // A new one is made.
    return null
  }
}

const made = async (store: PlacedStore, verb: string): Promise<HeadStart> => {
  const { replica, blobs, place, seal } = store
  await replica.exclusive(verb, () => replica.rotate())
  await replica.mergeAll(verb)
  const { ref, sequence, chain } = await packBase(replica, verb)
  const { stored_sha256, sha256: plain, bytes } = ref
  try {
    await blobs.put(stored_sha256)
    await place.keepBlob(stored_sha256)
  } finally {
    // No row names it: here it would be a file that belongs to nothing.
    replica.artifacts.remove(stored_sha256)
  }
  const link = seal.link(chain).toString('hex')
  return { sequence, link, stored_sha256, sha256: plain, bytes }
}

/**
 * One for who is invited now; null where there are few records. What is not newer than the last
 * one by `recordsMin` records is not made anew; the one before is taken away from the place.
 */
export const headStart = async (
  store: PlacedStore, verb: string, atLeast = recordsMin,
): Promise<HeadStart | null> => {
  const known = noted(store)
  if (store.replica.end.sequence - (known?.sequence ?? 0) < atLeast) return known
  const next = await made(store, verb)
  orIoFailure('noting a head start', () =>
    publish(store.replica.files, notePath(store), Buffer.from(JSON.stringify(next))))
  if (known !== null) await store.place.removeBlobs([known.stored_sha256])
  return next
}
