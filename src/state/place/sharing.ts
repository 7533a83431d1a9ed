/**
 * Giving a directory to a place, taking it back, and going on at a server that another one took
 * over from. Each has one moment at which it is decided, durable here or there, and each may be run
 * again behind a crash.
 */
import { randomUUID } from 'node:crypto'
import { fail, SallyportError } from '../../base/errors.js'
import { directoryOf } from '../directory.js'
import { FileStore } from '../file-store.js'
import { storedNames } from '../artifacts.js'
import { formatVersion } from '../paths.js'
import type { Store } from '../types.js'
import { packBase } from './base.js'
import { dropBehind, isLacking, requireNotBehind } from './behind.js'
import { readPlaceFile, removePlaceFile, writePlaceFile, type PlaceSettings } from './place-file.js'
import type { MachineRow, Place, PlacedRecord, Standing } from './place.js'
import { PlacedStore } from './placed-store.js'
import { recordsBehind } from './records-behind.js'
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
 * that nobody uses, and that the next try replaces. Throws what reaching the place throws; nothing
 * here has changed then.
 */
export const shareDirectory = async (
  store: Store, reaching: Reaching, given?: Place,
): Promise<PlacedStore> => {
  const directory = directoryOf(store) as FileStore
  const { files, keyPlaces, keys, storeId, places, dir } = directory
  if (directory.holds.live() > 0) throw busy()
  const settings: PlaceSettings = { ...reaching, machine: machineOf(directory) }
  const place = given ?? placeOf(settings, storeId, { clock: directory.clock })
  try {
    await directory.exclusive('state share', () => directory.rotate())
    await directory.mergeAll('state share')
    writePlaceFile(files, keyPlaces.dir, keys, storeId, settings)
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
      if (directory.end.sequence !== sequence) throw busy()
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

/** Has everything that was placed; what was ended by a run of before is as it was then. */
const followLast = async (store: PlacedStore): Promise<void> => {
  try {
    await store.fresh()
  } catch (error) {
    if (!(error instanceof SallyportError && error.code === 'state_unshared')) throw error
  }
}

/**
 * Takes a shared state back into this directory: the place takes no record of any machine from then
 * on, and stops that lie there lie here. `conflict` `machines_at_work` while another machine has
 * something under way, or places a record meanwhile; `server_changed` `behind` while a machine has
 * records that the server lost. Where it was cut off it may be run again on this machine, and on no
 * other.
 */
export const unshareDirectory = async (store: PlacedStore): Promise<void> => {
  const { replica, place, storeId, seal } = store
  await followLast(store)
  if (store.holds.live() > 0) throw atWork()
  const { sequence, chain } = replica.end
  requireNotBehind(store.stops, sequence)
  const stops = await place.end({ sequence, link: seal.link(chain) })
  if (stops === 'moved') throw atWork()
  await store.stops.takeOver(stops)
  await replica.exclusive('state unshare', () => replica.keepIn(undefined))
  removePlaceFile(replica.files, replica.keyPlaces.dir, storeId)
}

/** What came of asking a server that is not known. */
export interface Accepted {
  /** Records that the server had lost and was given back. */
  readonly gave_back: number
  /** Machines that were left out, by their names. */
  readonly without: readonly string[]
}

/** What is done where a machine is left out: what it alone knew is lost. */
export interface Loss {
  /** Just before the server is made known; durable here. */
  stop(): Promise<void>
  /** Behind that, and again where it was cut off. */
  settle(gaveBack: number): Promise<void>
}

const named = (machines: readonly MachineRow[]): string =>
  machines.map(({ name }) => name).join(', ')

/** Machines that may know more than the server, and have not said so. */
const silent = ({ machines, vouchers }: Standing, without: string | null): MachineRow[] => {
  const said = new Set(vouchers.map(({ machine }) => machine))
  return machines.filter(({ machine, name, retired }) =>
    retired === null && name !== without && !said.has(machine))
}

const lostOf = (store: PlacedStore, last: PlacedRecord): readonly PlacedRecord[] => {
  const behind = recordsBehind(store.replica)
  const known = behind === null ? [] : [behind.base, ...behind.records]
  const at = known.findIndex(({ sequence }) => sequence === last.sequence)
  const found = known[at]
  if (found === undefined) {
    throw fail.blocked('records_folded', 'What the server lost is not in this machine\'s log.', {
      next: 'Run it on a machine that was joined longer, or put the server back further.',
    })
  }
  if (!store.seal.link(found.chain).equals(last.link)) {
    throw fail.conflict('server_changed', 'The server went on with records that are not ours.', {
      reason: 'other_history',
      next: 'Two servers were written to. Keep one: put it in the place of the other.',
    })
  }
  const records = (behind?.records ?? []).filter(({ sequence }) => sequence > last.sequence)
  const before = new Map(known.map(({ sequence, chain }) => [sequence, chain]))
  return records.map((record) => store.seal.seal(record, before.get(record.sequence - 1) ?? ''))
}

/**
 * Goes on at a server that another one took over from. Each machine says first how far it had come;
 * once all have, the one that had come farthest gives back what the server lost. `conflict`
 * `machines_to_ask` names those that have not said it, or the one that has to run it.
 * `without`: the name of a machine that is gone; what it alone knew is lost, which `loss` heeds.
 * The machine is retired last: cut off before that, the same call goes on.
 */
export const acceptServer = async (
  store: PlacedStore, without: string | null = null,
  loss: Loss = { stop: () => Promise.resolve(), settle: () => Promise.resolve() },
): Promise<Accepted | null> => {
  const { place, replica } = store
  replica.read()
  const { isChanged, last, machines } = await place.standing()
  const isKnown = !isChanged && last.sequence >= replica.end.sequence
  const gone = machines.filter(({ name, retired }) => retired === null && name === without)
  if (isKnown && gone.length === 0) {
    await vouchForOthers(store)
    return null
  }
  const stop = gone.length > 0 ? loss.stop : undefined
  const given = isKnown ? 0 : await goOnAt(store, without, stop)
  await store.fresh()
  dropBehind(store.stops, gone.map(({ machine }) => machine))
  if (gone.length > 0) await loss.settle(given)
  for (const one of gone) await place.retire(one.machine)
  return { gave_back: given, without: gone.map(({ name }) => name) }
}

/** This machine lacks nothing, and another one does: it waits until all have said how far. */
const vouchForOthers = async (store: PlacedStore): Promise<void> => {
  await store.fresh()
  const { sequence, chain } = store.replica.end
  if (!isLacking(store.stops, sequence)) return
  await store.place.vouch({ sequence, link: store.seal.link(chain) })
}

/** Makes the server known; how many records it was given back. */
const goOnAt = async (
  store: PlacedStore, without: string | null, stop: Loss['stop'] = () => Promise.resolve(),
): Promise<number> => {
  const { place, replica, seal, settings: { machine } } = store
  const { sequence, chain } = replica.end
  await place.vouch({ sequence, link: seal.link(chain) })
  const standing = await place.standing()
  const missing = silent(standing, without)
  if (missing.length > 0) {
    throw fail.conflict('machines_to_ask', 'Not every machine has said how far it had come.', {
      next: 'Run this there too, or name one that is gone with --without NAME.',
      details: { machines: named(missing) },
    })
  }
  // One that is gone, or was retired, gives nothing back, however far it had come.
  const here = Math.max(sequence, standing.last.sequence)
  const farther = standing.vouchers.filter((one) => one.sequence > here)
  const who = standing.machines.filter(({ machine: id, name, retired }) =>
    id !== machine && retired === null && name !== without
      && farther.some((one) => one.machine === id))
  if (who.length > 0) {
    throw fail.conflict('machines_to_ask', 'Another machine has records that the server lost.', {
      next: 'Run this there: it gives them back.', details: { machines: named(who) },
    })
  }
  const lost = standing.last.sequence >= sequence ? [] : lostOf(store, standing.last)
  await stop()
  if (await place.accept(standing.last, lost) === 'moved') throw busy()
  return lost.length
}
