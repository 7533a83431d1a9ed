/**
 * Giving a directory to a place, and taking it back. Each has one moment at which it is decided,
 * durable here or there, and each may be run again behind a crash.
 */
import { randomUUID } from 'node:crypto'
import { fail, SallyportError } from '../../base/errors.js'
import { isTrueFile } from '../care/copy.js'
import { directoryOf } from '../directory.js'
import { FileStore } from '../file-store.js'
import { damagedArtifact, storedPath } from '../artifact-folder.js'
import { storedNames } from '../artifacts.js'
import { formatVersion } from '../paths.js'
import type { Store, View } from '../types.js'
import { packBase } from './base.js'
import { requireNotBehind } from './behind.js'
import { readPlaceFile, removePlaceFile, writePlaceFile, type PlaceSettings } from './place-file.js'
import type { Place, PlacedRecord } from './place.js'
import { PlacedStore } from './placed-store.js'
import { placeOf, type Reaching } from './share.js'
import { writesVersion } from './writes.js'

const busy = (): Error =>
  fail.conflict('share_moved', 'Something was written while this state was being shared.', {
    next: 'Nothing is shared. End what works on it (`sallyport status`), then run it again.',
  })

/** The machine as an earlier try that was cut off called it: that one found the store, perhaps. */
const machineOf = ({ files, keyPlaces, keys, storeId }: FileStore): string => {
  try {
    return readPlaceFile(files, keyPlaces.dir, keys, storeId).machine
  } catch {
    return randomUUID()
  }
}

/**
 * Gives a directory to a place: everything goes there, sealed, and then this directory is a
 * replica. `conflict` `share_moved` where others write meanwhile: the place may have a store then
 * that nobody uses, and that the next try replaces. `damaged` `artifact_damaged`. Throws what
 * reaching the place throws; nothing here has changed then.
 */
export const shareDirectory = async (
  store: Store, reaching: Reaching, given?: Place,
): Promise<PlacedStore> => {
  const directory = directoryOf(store) as FileStore
  const { files, keyPlaces, keys, storeId, places, dir } = directory
  if (directory.holds.live() > 0) throw busy()
  // What has other bytes than its name says is given to nobody, and its record is followed by all.
  for (const name of storedNames(files, places.artifacts)) {
    if (!isTrueFile(files, storedPath(places.artifacts, name))) throw damagedArtifact()
  }
  const settings: PlaceSettings = { ...reaching, machine: machineOf(directory) }
  const place = given ?? placeOf(settings, storeId, { clock: directory.clock })
  try {
    await directory.exclusive('state share', () => directory.rotate())
    await directory.mergeAll('state share')
    const noteGiven = (given: Pick<PlaceSettings, 'given'>): void =>
      writePlaceFile(files, keyPlaces.dir, keys, storeId, { ...settings, ...given })
    noteGiven({ given: false })
    const options = { dir, configDir: keyPlaces.configDir, mode: 'write', place } as const
    const placed = new PlacedStore(new FileStore(options), options)
    const base = await packBase(directory, 'state share')
    const { ref: { stored_sha256, sha256, bytes }, sequence, chain } = base
    const at: PlacedRecord = {
      sequence, link: placed.seal.link(chain),
      body: placed.seal.sealFor('base', storeId, { stored_sha256, sha256, bytes }),
    }
    await place.found({
      format: formatVersion, writes: writesVersion,
      machine: { machine: settings.machine, name: settings.machineName }, at,
    })
    for (const name of storedNames(files, places.artifacts)) await placed.blobs.put(name)
    await directory.exclusive('state share', () => {
      // Whoever has begun meanwhile and written nothing since could not write any more what comes.
      if (directory.end.sequence !== sequence || directory.holds.live() > 0) throw busy()
      noteGiven({})
      directory.keepIn('place')
    })
    placed.replica.close()
    return new PlacedStore(new FileStore(options), options)
  } catch (error) {
    await place.close()
    throw error
  }
}

const atWork = (): Error =>
  fail.conflict('machines_at_work', 'Something is under way on this state.', {
    next: 'Wait until it has ended: `sallyport status` on each machine, then run it again.',
  })

/**
 * Follows everything that was placed, and says whether the place was ended before: it is as it was
 * then, and who ended it and was cut off may do it again.
 */
export const isEnded = async (store: PlacedStore): Promise<boolean> => {
  try {
    await store.fresh()
    return false
  } catch (error) {
    if (error instanceof SallyportError && error.code === 'state_unshared') return true
    throw error
  }
}

/**
 * Fetches stored files that are missing here. Where some are nowhere to be had, another machine may
 * have them still, and can give them to a server alone. Throws `damaged` `artifact_damaged`.
 */
const fetchMissing = async (
  { blobs, place, settings }: PlacedStore, names: readonly string[],
): Promise<void> => {
  if (await blobs.fetchTrue(names)) return
  const others = (await place.machines()).filter(({ machine, retired }) =>
    retired === null && machine !== settings.machine)
  if (others.length === 0) return
  throw fail.damaged('artifact_damaged', 'Stored files are missing here and at the server.', {
    next: 'Run `sallyport state repair` on the other machines: it gives back what they have. '
      + 'Retire those that have nothing to give, and run it again.',
    details: { machines: others.map(({ name }) => name).join(', ') },
  })
}

/**
 * Takes a shared state back into this directory: the place takes no record of any machine from then
 * on, and stops that lie there lie here. What is `referenced` of stored files and missing here
 * comes here first: nobody gives it then. `conflict` `machines_at_work` while another machine has
 * something under way, or places a record meanwhile; `server_changed` `behind` while a machine has
 * records that the server lost; `damaged` `artifact_damaged` while one may have such files. Where
 * it was cut off it may be run again on this machine, and on no other.
 */
export const unshareDirectory = async (
  store: PlacedStore, referenced: (view: View) => ReadonlySet<string>,
): Promise<void> => {
  const { replica, place, storeId, seal } = store
  const isOver = await isEnded(store)
  // What other machines have under way at a place that has ended comes to nothing there.
  const holds = isOver ? replica.holds : store.holds
  if (holds.live() > 0) throw atWork()
  const { sequence, chain } = replica.end
  requireNotBehind(store.stops, sequence)
  if (!isOver) await fetchMissing(store, [...referenced(replica.read())])
  const stops = await place.end({ sequence, link: seal.link(chain) })
  if (stops === 'moved') throw atWork()
  await store.stops.takeOver(stops)
  const { files, keyPlaces: { dir }, keys } = replica
  await replica.exclusive('state unshare', () => {
    // Where the rest is cut off nobody takes the directory for a replica.
    writePlaceFile(files, dir, keys, storeId, { ...store.settings, given: false })
    replica.keepIn(undefined)
  })
  removePlaceFile(files, dir, storeId)
}
