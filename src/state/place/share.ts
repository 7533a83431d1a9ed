/** Making a state that several machines share, and joining one that is there. */
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { systemClock } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import { createState, refuseExisting, type ReplicaOf } from '../create.js'
import { FileStore, type OpenOptions } from '../file-store.js'
import { nodeFiles, removeFile, type Files } from '../files.js'
import { KeyRing, makeKey } from '../keys.js'
import { firstChain } from '../log/format.js'
import { formatVersion, keyPlaces, placesOf, type KeyPlaces } from '../paths.js'
import { parsePlaceAddress } from './address.js'
import { isChangedFor } from './behind.js'
import type { HeadStart } from './head-start-shape.js'
import { runOfNow } from './known-run.js'
import { lazyPlace } from './lazy-place.js'
import { removePlaceFile, writePlaceFile, type PlaceSettings } from './place-file.js'
import type { Place, Position } from './place.js'
import { PlacedStore } from './placed-store.js'
import { RecordSeal } from './record-seal.js'
import { writesVersion } from './writes.js'

/** How a place is reached by a machine that gets its id here. */
export type Reaching = Omit<PlaceSettings, 'machine'>

/** A new state at a place. */
export interface CreateSharedOptions extends Omit<OpenOptions, 'mode'> {
  readonly profile: Readonly<Record<string, unknown>>
  readonly reaching: Reaching
}

/** What a machine needs to join a state, beside how its place is reached. */
export interface Joining {
  readonly storeId: string
  /** The store's key, 32 bytes. */
  readonly key: Buffer
  /** When the store was made (ISO). */
  readonly createdAt: string
  readonly profile: Readonly<Record<string, unknown>>
  /** The last record that the machine knew which invited; the place must still have it. */
  readonly at: Position
  /** Id that the machine was invited by; left out: a new one. */
  readonly machine?: string
  /** Files of a replica to begin with. */
  readonly headStart?: HeadStart | null
}

/** A new replica. */
export interface JoinOptions extends Omit<OpenOptions, 'mode'> {
  readonly joining: Joining
  readonly reaching: Reaching
}

export const placeOf = (
  settings: PlaceSettings, storeId: string, { clock = systemClock }: Pick<OpenOptions, 'clock'>,
): Place => lazyPlace({
  address: parsePlaceAddress(settings.address, settings.ca), ca: settings.ca,
  password: settings.password, storeId, clock,
  machine: { machine: settings.machine, writes: writesVersion },
  run: runOfNow(settings.run),
})

/** Nothing of the store may be here: two replicas would share one key folder and one anchor. */
const refuseKnownHere = (files: Files, configDir: string, storeId: string): void => {
  if (files.stat(keyPlaces(configDir, storeId).key) === undefined) return
  throw fail.conflict('machine_joined', 'This configuration directory has a key of that state.', {
    next: 'Name the state directory that it opens with --state-dir. For a second one, or where a '
      + 'join was cut off and made none, name another --config-dir.',
  })
}

/** A replica that is to be made, and how its place is reached. */
interface ReplicaParts extends Omit<Parameters<typeof createState>[0], 'replica'> {
  readonly replica: ReplicaOf
  readonly settings: PlaceSettings
}

/**
 * Makes it, and the file that names its place. Where that comes to nothing no key of it stays,
 * which would keep the next try out, and no file, by which it would count as shared.
 */
const makeReplica = ({ settings, ...parts }: ReplicaParts): void => {
  const { files, dir, configDir, replica: { storeId, key } } = parts
  const at = keyPlaces(configDir, storeId)
  try {
    writePlaceFile(files, at.dir, new KeyRing(storeId, () => key), storeId, settings)
    createState(parts)
  } catch (error) {
    if (files.stat(placesOf(dir).state) === undefined) leaveNoKey(files, at, storeId)
    throw error
  }
}

const leaveNoKey = (files: Files, at: KeyPlaces, storeId: string): void => {
  try {
    removePlaceFile(files, at.dir, storeId)
    for (const path of [at.anchor, at.key]) removeFile(files, path)
  } catch {
    // What led here is the one to tell.
  }
}

const openReplica = (options: Omit<OpenOptions, 'mode'>, place: Place): PlacedStore => {
  const all: OpenOptions = { ...options, mode: 'write', place }
  return new PlacedStore(new FileStore(all), all)
}

/**
 * Makes a state at a place and its first replica, and opens it. `conflict` `state_exists`; throws
 * what reaching the place throws, before anything is made here.
 */
export const createShared = async (options: CreateSharedOptions): Promise<PlacedStore> => {
  const { profile, reaching, ...rest } = options
  const [dir, configDir] = [resolve(options.dir), resolve(options.configDir)]
  const [files, clock] = [options.files ?? nodeFiles, options.clock ?? systemClock]
  refuseExisting(files, dir)
  const [storeId, { key }] = [randomUUID(), makeKey()]
  const keys = new KeyRing(storeId, () => key)
  const settings: PlaceSettings = { ...reaching, machine: randomUUID() }
  const place = options.place ?? placeOf(settings, storeId, options)
  try {
    const seal = new RecordSeal(keys, storeId)
    await place.found({
      format: formatVersion, writes: writesVersion,
      machine: { machine: settings.machine, name: settings.machineName },
      at: { sequence: 0, link: seal.link(firstChain(storeId)), body: Buffer.alloc(0) },
    })
    const createdAt = new Date(clock.wallMs()).toISOString()
    makeReplica({
      dir, configDir, profile, files, nowMs: clock.wallMs(), settings,
      replica: { storeId, key, createdAt },
    })
  } catch (error) {
    await place.close()
    throw error
  }
  return openReplica(rest, place)
}

/** Whether the place has the record that whoever invited knew: one that was put back lacks it. */
const requireKnownRecord = async (place: Place, { sequence, link }: Position): Promise<void> => {
  const { records: [record] } = await place.follow(sequence - 1, 1)
  if (record?.sequence === sequence && record.link.equals(link)) return
  throw fail.conflict('server_changed', 'The server lacks what it had when this was written.', {
    next: 'It was put back from a copy, or another one took over. Ask whoever invited: '
      + '`sallyport doctor` tells there how the server stands.',
  })
}

const otherRun = (): Error =>
  fail.conflict('server_changed', 'This server is not the one that the invitation is for.', {
    next: 'Another one took over since, or a former one answers. Have a machine that is there '
      + 'write a new one: `sallyport machine invite NAME --to FILE`.',
  })

const used = (): Error =>
  fail.conflict('invitation_used', 'A machine has joined by this invitation already.', {
    next: 'Have another machine write a new one: `sallyport machine invite NAME --to FILE`.',
  })

/**
 * Makes a replica of a state that is there, follows all that it has, and opens it. `conflict`
 * `state_exists`, `machine_joined`, `machine_name_taken`, `invitation_used`, `server_changed`.
 */
export const joinShared = async (options: JoinOptions): Promise<PlacedStore> => {
  const { joining, reaching, ...rest } = options
  const { storeId, key, createdAt, profile, at, headStart = null } = joining
  const [dir, configDir] = [resolve(options.dir), resolve(options.configDir)]
  const [files, clock] = [options.files ?? nodeFiles, options.clock ?? systemClock]
  refuseExisting(files, dir)
  refuseKnownHere(files, configDir, storeId)
  const settings: PlaceSettings = { ...reaching, machine: joining.machine ?? randomUUID() }
  const place = options.place ?? placeOf(settings, storeId, options)
  let hasJoined = false
  try {
    hasJoined = await place.join({ machine: settings.machine, name: settings.machineName })
    if (!hasJoined) throw used()
    await requireKnownRecord(place, at)
    makeReplica({
      dir, configDir, profile, files, nowMs: clock.wallMs(), settings,
      replica: { storeId, key, createdAt, machine: settings.machine },
    })
  } catch (error) {
    // Only a machine that has joined is told anything; this one came to nothing.
    if (hasJoined) await place.retire(settings.machine).catch(() => undefined)
    await place.close()
    throw isChangedFor(error, 'run') ? otherRun() : error
  }
  const store = openReplica(rest, place)
  try {
    if (headStart !== null) await store.beginAt(headStart)
    await store.fresh()
  } catch (error) {
    store.close()
    throw error
  }
  return store
}
