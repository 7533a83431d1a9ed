/** The STATE file: what this directory is, written once at creation (and by a migration). */
import { dirname } from 'node:path'
import * as v from 'valibot'
import { decodeChecked, digestOf, encodeChecked } from '../base/canonical.js'
import { fail, type SallyportError } from '../base/errors.js'
import { refuseDestroyed } from './destruction.js'
import { readWhole, type Files } from './files.js'
import { fileBytesMax } from './limits.js'
import { formatVersion, oldestFormatVersion, partsOf, placesOf, type Places } from './paths.js'

const sha = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

/** Shape of STATE. */
export const stateFileShape = v.strictObject({
  schema: v.literal('sallyport.state.v1'),
  format_version: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  store_id: v.string(),
  created_at: v.string(),
  profile_digest: sha,
  /** HMAC of store id and profile under the store's key: a changed profile is seen. */
  profile_seal: sha,
  profile: v.record(v.string(), v.unknown()),
  /** Only where the truth lies elsewhere: this directory is a replica of it. */
  kept_in: v.optional(v.literal('place')),
  /** What rows call this machine; left out on the machine that the state was made on. */
  machine: v.optional(v.pipe(v.string(), v.uuid())),
})
export type StateFile = v.InferOutput<typeof stateFileShape>

export const profileSealText = (storeId: string, profile: unknown): string =>
  `${storeId}|${digestOf(profile)}`

/** Bytes of a STATE file: canonical JSON, a space, its SHA-256, a newline. */
export const encodeStateFile = (state: StateFile): Buffer => encodeChecked(state)

/** The same state with its truth kept elsewhere; `undefined`: in its directory. */
export const keptAt = (state: StateFile, keptIn: StateFile['kept_in']): StateFile => {
  const { kept_in: _, ...own } = state
  return keptIn === undefined ? own : { ...own, kept_in: keptIn }
}

/** Reads STATE; undefined when a byte of it is untrue. */
export const decodeStateFile = (bytes: Buffer): StateFile | undefined => {
  const parsed = v.safeParse(stateFileShape, decodeChecked(bytes))
  if (!parsed.success) return undefined
  return parsed.output.profile_digest === digestOf(parsed.output.profile)
    ? parsed.output
    : undefined
}

/**
 * STATE of a directory that a repair, a restore or a change of the format may take up; undefined
 * where it is missing or untrue. `blocked`: `state_too_new`, or `state_too_old` where no step leads
 * on from its format; `no_state` `state_destroyed`.
 */
export const looseStateFile = (files: Files, path: string): StateFile | undefined => {
  const bytes = readWhole(files, path, fileBytesMax.state)
  const state = bytes === undefined ? undefined : decodeStateFile(bytes)
  if (state === undefined) refuseDestroyed(bytes)
  else requireKnownFormat(state.format_version)
  return state
}

/** Throws `blocked`: `state_too_new`, or `state_too_old` where no step leads on from a format. */
export const requireKnownFormat = (version: number): void => {
  if (version > formatVersion) throw tooNew(version)
  if (version < oldestFormatVersion) throw tooOld(version)
}

/** Whether a directory holds a state: STATE may be lost, and the rest of it is there. */
export const isStateIn = (files: Files, places: Places): boolean =>
  partsOf(places).some((path) => files.stat(path) !== undefined)

const stateDamaged = (): SallyportError =>
  fail.damaged('state_file_damaged', 'The STATE file is damaged, or missing.', {
    next: 'Run `sallyport state check`, then `sallyport state repair`.',
  })

/**
 * STATE of a directory. `no_state` when there is none, `damaged`/`state_file_damaged` when it is
 * untrue or the rest of a state stands there without it, `blocked`/`state_too_new` when a newer
 * program wrote it, `state_too_old` when an older one did, `no_state`/`state_destroyed` when its
 * destruction was begun.
 */
export const readStateFile = (files: Files, path: string): StateFile => {
  const bytes = readWhole(files, path, fileBytesMax.state)
  if (bytes === undefined) {
    if (isStateIn(files, placesOf(dirname(path)))) throw stateDamaged()
    throw fail.noState('no_state', 'There is no state directory here.', {
      next: 'Run `sallyport setup`, which asks whether you rehearse, or `sallyport init`. '
        + '`sallyport state path` tells which directory is meant.',
    })
  }
  const state = decodeStateFile(bytes)
  if (state === undefined) {
    refuseDestroyed(bytes)
    throw stateDamaged()
  }
  if (state.format_version > formatVersion) throw tooNew(state.format_version)
  if (state.format_version < formatVersion) throw tooOld(state.format_version)
  return state
}

/** The refusal of a format that has to be changed to this program's first, if it can be. */
export const tooOld = (version: number): SallyportError =>
  fail.blocked('state_too_old', 'This state has an older format.', {
    next: version < oldestFormatVersion
      ? 'No release wrote this format, and no program brings it to the present one. Begin ' +
        'another state with `sallyport init --state-dir DIR`.'
      : 'Make a copy of it, then run `sallyport state repair`: it brings the state to the ' +
        'present format.',
    details: { format_version: version, known: formatVersion },
  })

/** The refusal of a format that only a later program knows. */
export const tooNew = (version: number): Error =>
  fail.blocked('state_too_new', 'A newer version of the program wrote this state.', {
    next: 'Install that version, or a later one.',
    details: { format_version: version, known: formatVersion },
  })
