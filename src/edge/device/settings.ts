/** What the owner of a device may set, in a file that the program only reads. */
import * as v from 'valibot'
import { fail, SallyportError } from '../../base/errors.js'
import { closedObject, parseClosed, strictInteger } from '../../base/schema.js'
import { parseStrictJson } from '../../base/strict-json.js'
import { ioFailure, readWhole, type Files } from '../../state/files.js'
import { edgeLimits } from '../constants.js'
import type { Blocklist } from './blocklist.js'

/** Limits of the spool; whichever is reached first sends the oldest away (S-039, S-209). */
export interface SpoolLimits {
  readonly max_age_seconds: number
  readonly max_bytes: number
  readonly max_items: number
}

/** How often and how long it is tried. */
export interface RetrySettings {
  /** Wait after the first failure; it doubles with each further one. */
  readonly first_ms: number
  /** The wait grows no further. */
  readonly most_ms: number
  /** One request, reply included. */
  readonly timeout_ms: number
}

/** The settings of a device. */
export interface DeviceSettings {
  readonly limits: SpoolLimits
  readonly retry: RetrySettings
  readonly blocklist: Blocklist
}

const mebibyte = 1024 * 1024
const day = 86_400

/**
 * What holds where nothing is set: 7 days, 1 GiB, 10,000 items; 1 s to 5 min between tries. A
 * request has more time than the service gives a capture: on a slow line a device that gave up
 * first would send the same capture for ever, and all that waits behind it stayed.
 */
export const defaultSettings: DeviceSettings = {
  limits: { max_age_seconds: 7 * day, max_bytes: 1024 * mebibyte, max_items: 10_000 },
  retry: { first_ms: 1_000, most_ms: 300_000, timeout_ms: edgeLimits.artifactMsMax + 10_000 },
  blocklist: { sources: [], file_names: [] },
}

const patternsMax = 200
const patternBytesMax = 256
const rule = `must be 1 to ${patternBytesMax} bytes of text`
const patterns = v.optional(v.pipe(
  v.array(v.pipe(v.string(), v.minBytes(1, rule), v.maxBytes(patternBytesMax, rule))),
  v.maxLength(patternsMax),
))

const shape = closedObject({
  limits: v.optional(closedObject({
    max_age_seconds: v.optional(strictInteger(1, 365 * day)),
    max_bytes: v.optional(strictInteger(1, 1024 * 1024 * mebibyte)),
    max_items: v.optional(strictInteger(1, 1_000_000)),
  })),
  retry: v.optional(closedObject({
    first_ms: v.optional(strictInteger(100, 60_000)),
    most_ms: v.optional(strictInteger(100, 3_600_000)),
    timeout_ms: v.optional(strictInteger(500, 600_000)),
  })),
  blocklist: v.optional(closedObject({ sources: patterns, file_names: patterns })),
})

const bytesMax = 262_144
const about = { code: 'edge_settings_invalid', what: 'the settings file' }

const given = <T extends object>(part: T | undefined): T =>
  Object.fromEntries(Object.entries(part ?? {}).filter(([, value]) => value !== undefined)) as T

const wholeFile = (files: Files, path: string): Buffer | undefined => {
  try {
    return readWhole(files, path, bytesMax)
  } catch (error) {
    if (!(error instanceof SallyportError)) throw ioFailure(error, 'the settings')
    throw fail.rejected('edge_settings_invalid',
      `The settings file is a link, no regular file, or longer than ${bytesMax} bytes.`)
  }
}

/**
 * Reads `settings.json`; what it leaves out has its default. Throws `rejected` where the file is
 * no closed document of the known fields: a blocklist that was mistyped must not count as none.
 */
export const readSettings = (files: Files, path: string): DeviceSettings => {
  const bytes = wholeFile(files, path)
  if (bytes === undefined) return defaultSettings
  const read = parseClosed(shape, parseStrictJson(bytes, { bytesMax, depthMax: 8 }), about)
  const settings = {
    limits: { ...defaultSettings.limits, ...given(read.limits) },
    retry: { ...defaultSettings.retry, ...given(read.retry) },
    blocklist: { ...defaultSettings.blocklist, ...given(read.blocklist) },
  } as DeviceSettings
  if (settings.retry.most_ms >= settings.retry.first_ms) return settings
  throw fail.rejected('edge_settings_invalid',
    'The settings file, field retry.most_ms, is below retry.first_ms.', { reason: 'rule' })
}
