/**
 * How this machine reaches the place of a state: `<config>/keys/<store id>.place`, mode 600, beside
 * the key. Nothing else is asked: no environment variable, no file of the driver's own. The
 * password is sealed by the store's key, so that a copy of this file alone opens nothing.
 */
import { join } from 'node:path'
import * as v from 'valibot'
import { fail } from '../../base/errors.js'
import { ensureDurableDirs, publish, readWhole, removeFile, type Files } from '../files.js'
import { openWith, sealWith, type KeyRing } from '../keys.js'
import { parsePlaceAddress } from './address.js'
import { runForm } from './known-run.js'

/** Longest file: an address, a chain of certificates and a password. */
const placeBytesMax = 256 * 1024
const magic = 'SPW1'

const placeShape = v.strictObject({
  schema: v.literal('sallyport.place.v1'),
  address: v.string(),
  /** Certificates in PEM that the server's is judged by; null on loopback without TLS. */
  ca: v.nullable(v.string()),
  machine: v.pipe(v.string(), v.uuid()),
  machine_name: v.string(),
  /** Sealed, base64; null where the server asks for none. */
  password: v.nullable(v.string()),
  /** The run of the server that this machine went on at last; left out until one has answered. */
  run: v.optional(v.pipe(v.string(), v.regex(runForm))),
  /** See `PlaceSettings`. */
  given: v.optional(v.literal(false)),
})

/** What is needed to reach a place. */
export interface PlaceSettings {
  /** `postgres://user@host:port/database`, without a password. */
  readonly address: string
  readonly ca: string | null
  /** Id of this machine at the place, a UUID. */
  readonly machine: string
  readonly machineName: string
  readonly password: string | null
  /** Which run of which server this machine knows: it never goes back to a former one. */
  readonly run?: string
  /**
   * False while a directory is not given to the place yet, or not any more: where that was cut off
   * the file is there all the same. Left out: what lies here is a replica.
   */
  readonly given?: false
}

const pathOf = (keyFolder: string, storeId: string): string => join(keyFolder, `${storeId}.place`)

/** Writes the file, durable when it returns; one that is there is replaced. */
export const writePlaceFile = (
  files: Files, keyFolder: string, keys: KeyRing, storeId: string, settings: PlaceSettings,
): void => {
  const { address, ca, machine, machineName, password, run, given } = settings
  parsePlaceAddress(address, ca)
  ensureDurableDirs(files, keyFolder)
  const sealed = password === null ? null
    : sealWith(keys.subkey('shared/password'), magic, storeId, Buffer.from(password))
      .toString('base64')
  publish(files, pathOf(keyFolder, storeId), Buffer.from(`${JSON.stringify({
    schema: 'sallyport.place.v1', address, ca, machine, machine_name: machineName, password: sealed,
    ...(run === undefined ? {} : { run }), ...(given === undefined ? {} : { given }),
  })}\n`))
}

const damaged = (): Error =>
  fail.damaged('place_file_damaged', 'The file that says how the server is reached is damaged.', {
    next: 'Put it back from a copy (the key folder, a name that ends in .place), or join anew.',
  })

const parsed = (bytes: Buffer): v.InferOutput<typeof placeShape> => {
  try {
    return v.parse(placeShape, JSON.parse(bytes.toString('utf8')))
  } catch {
    throw damaged()
  }
}

/** Another one whenever the file was written, which comes to its place whole; null without one. */
export const placeFileStamp = (files: Files, keyFolder: string, storeId: string): string | null => {
  const facts = files.stat(pathOf(keyFolder, storeId))
  return facts === undefined ? null : `${facts.ino} ${facts.mtimeMs}`
}

/** Reads it. `blocked` `place_file_missing`; `damaged` `place_file_damaged`. */
export const readPlaceFile = (
  files: Files, keyFolder: string, keys: KeyRing, storeId: string,
): PlaceSettings => {
  const bytes = readWhole(files, pathOf(keyFolder, storeId), placeBytesMax)
  if (bytes === undefined) {
    throw fail.blocked('place_file_missing', 'Nothing says how the server is reached.', {
      next: 'Put the file back from a copy (the key folder, a name that ends in .place).',
    })
  }
  const { address, ca, machine, machine_name: machineName, password, run, given } = parsed(bytes)
  const said = {
    address, ca, machine, machineName, ...(run === undefined ? {} : { run }),
    ...(given === undefined ? {} : { given }),
  }
  if (password === null) return { ...said, password }
  const opened = openWith(
    keys.subkey('shared/password'), magic, storeId, Buffer.from(password, 'base64'))
  if (opened === undefined) throw damaged()
  return { ...said, password: opened.toString('utf8') }
}

/** One that cannot be read says that it was: nobody may go on with a ledger of its own. */
const isGivenBy = (files: Files, path: string): boolean => {
  try {
    const bytes = readWhole(files, path, placeBytesMax)
    return bytes !== undefined && parsed(bytes).given !== false
  } catch {
    return true
  }
}

/** Whether a key folder says so of any state: see `isGiven`. */
export const isAnyGiven = (files: Files, configDir: string): boolean => {
  const folder = join(configDir, 'keys')
  return files.stat(folder) !== undefined && files.list(folder)
    .some((name) => name.endsWith('.place') && isGivenBy(files, join(folder, name)))
}

/** Whether this machine is part of a shared state, as far as its file of it tells. */
export const isGiven = (files: Files, keyFolder: string, storeId: string): boolean =>
  isGivenBy(files, pathOf(keyFolder, storeId))

/** Removes it; a missing one is fine. */
export const removePlaceFile = (files: Files, keyFolder: string, storeId: string): void =>
  removeFile(files, pathOf(keyFolder, storeId))
