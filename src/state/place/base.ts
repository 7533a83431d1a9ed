/**
 * What a shared state begins with where a directory was shared: its files, in one sealed pack that
 * the first record at the place names; or a later one, see `head-start.ts`. A new replica takes
 * them as they are and follows from there.
 */
import { basename, dirname, join } from 'node:path'
import * as v from 'valibot'
import { count } from '../../base/schema.js'
import { readAnchor, writeAnchor } from '../anchor.js'
import { storedNames } from '../artifacts.js'
import { replicaForked } from '../commit.js'
import type { FileStore } from '../file-store.js'
import {
  orIoFailure, publish, readWhole, removeFile, syncDir, temporaryName, withFile,
  writeAll,
} from '../files.js'
import { fileBytesMax } from '../limits.js'
import { isSnapshotName, logEpochs, manifestNumbers } from '../paths.js'
import type { Generation } from '../snapshot/generation.js'
import type { ArtifactRef, PackReader } from '../types.js'
import { piecesOf } from './placed-artifacts.js'

const label = 'shared/base'

/** What the first record at a place says of a shared directory. */
const baseShape = v.strictObject({ stored_sha256: v.string(), sha256: v.string(), bytes: count })

/** A pack of files, and where their log ends. */
export interface Base {
  readonly ref: ArtifactRef
  readonly sequence: number
  readonly chain: string
}

const standOf = ({ sequence, chain, end, logPath, manifest }: Generation) =>
  ({ sequence, chain, end, logPath, manifest })

/**
 * Packs the files of a directory, folded before, while nobody folds: everything but artifacts,
 * which go by themselves.
 */
export const packBase = (store: FileStore, verb: string): Promise<Base> =>
  store.withoutFolding(verb, async () => {
    const { files, places } = store
    const { sequence, chain, end, logPath, manifest } =
      await store.exclusive(verb, () => standOf(store.generation))
    const pack = store.artifacts.writePack(label)
    try {
      for (const name of files.list(places.collections).filter(isSnapshotName)) {
        pack.add(`collections/${name}`, piecesOf(files, join(places.collections, name)))
      }
      const newest = places.manifest(manifest.number)
      pack.add(newest.slice(store.dir.length + 1), piecesOf(files, newest))
      for (const epoch of logEpochs(files.list(places.wal)).filter((one) => one > manifest.epoch)) {
        const path = places.log(epoch)
        pack.add(path.slice(store.dir.length + 1),
          piecesOf(files, path, path === logPath ? end : undefined))
      }
      const witness = readWhole(files, places.witness, fileBytesMax.witness) ?? Buffer.alloc(0)
      pack.add('witness.log', witness)
      const names = storedNames(files, places.artifacts)
      pack.add('artifacts', Buffer.from(JSON.stringify(names)))
      return { ref: pack.finish(), sequence, chain }
    } finally {
      pack.abandon()
    }
  })

/** The pack that a base record names. `damaged` `replica_forked` where it names none. */
export const baseOf = (opened: unknown): ArtifactRef => {
  const parsed = v.safeParse(baseShape, opened)
  if (!parsed.success) throw replicaForked()
  return parsed.output
}

const writeOut = (
  { files }: FileStore, folder: string, name: string, chunks: Iterable<Buffer>,
): void => {
  const temporary = join(folder, temporaryName())
  withFile(files, temporary, 'create', (fd) => {
    let end = 0
    for (const chunk of chunks) {
      writeAll(files, fd, chunk, end)
      end += chunk.length
    }
    files.sync(fd)
  })
  files.rename(temporary, join(folder, name))
}

/** Names of stored files that a pack says rows name. */
export const artifactsOfBase = (store: FileStore, ref: ArtifactRef): readonly string[] => {
  const pack = store.artifacts.openPack(label, ref)
  try {
    return v.parse(v.array(v.string()), JSON.parse(pack.read('artifacts').toString('utf8')))
  } finally {
    pack.close()
  }
}

/** Where a body of a pack lies in a state directory, in the order in which they are written. */
const filesIn = (names: readonly string[]): readonly string[] => {
  const isManifest = (name: string): number => Number(name.includes('/manifest.'))
  // The manifest comes last: until then the replica is the empty one that it was.
  return names.filter((name) => /^(?:collections|wal)\/[\w.]+$/.test(name))
    .sort((a, b) => isManifest(a) - isManifest(b))
}

const replaceFiles = (store: FileStore, pack: PackReader): void => {
  const { files, places, dir } = store
  const old = [
    ...manifestNumbers(files.list(places.collections)).map((number) => places.manifest(number)),
    ...logEpochs(files.list(places.wal)).map((epoch) => places.log(epoch)),
  ]
  const names = filesIn(pack.bodies.map(({ name }) => name))
  for (const name of names) {
    writeOut(store, join(dir, dirname(name)), basename(name), pack.chunks(name))
  }
  publish(files, places.witness, pack.read('witness.log'))
  const kept = new Set(names.map((name) => join(dir, name)))
  for (const path of old) if (!kept.has(path)) removeFile(files, path)
  for (const folder of [places.collections, places.wal, dir]) syncDir(files, folder)
}

/**
 * Moves the anchor on to the last mark of a base. One that seals a later mark stays, as one that is
 * not there does: a replica that is fetched anew counts as behind until it has come so far again,
 * and where the server lost what followed, that is how it is noticed.
 */
const anchorBase = ({ files, keyPlaces, keys, storeId, generation }: FileStore): void => {
  const mark = generation.marks.at(-1)
  if (mark === undefined) return
  const anchored = readAnchor(files, keyPlaces.anchor, keys, storeId)
  if (typeof anchored === 'string' || anchored.number >= mark.number) return
  writeAnchor(files, keyPlaces.anchor, keys, storeId, mark)
}

/**
 * Puts the files of a pack in the place of those of a new replica, which holds nothing. Where
 * another process of it was first, and has gone on perhaps, nothing is put.
 */
export const takeBase = async (store: FileStore, ref: ArtifactRef): Promise<void> => {
  await store.withoutFolding('machine join', () => store.exclusive('machine join', () => {
    if (store.end.sequence > 0) return
    const pack = store.artifacts.openPack(label, ref)
    try {
      orIoFailure('taking over a shared state', () => replaceFiles(store, pack))
    } finally {
      pack.close()
    }
    store.reload()
    orIoFailure('moving the anchor', () => anchorBase(store))
  }))
}
