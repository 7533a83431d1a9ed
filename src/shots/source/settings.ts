/**
 * Settings of the screenshot source: environment before saved before default, each with its source,
 * so that `status` can say where a value comes from. What opens a gate has no permissive default:
 * a control that was never set is null, and null blocks (S-008 to S-016).
 */
import * as v from 'valibot'
import { fail } from '../../base/errors.js'
import {
  closedObject, parseClosed, strictInteger, strictIntegerText, count, iso, text,
} from '../../base/schema.js'
import type { CollectionSpec, View } from '../../state/types.js'
import type { Env } from '../context.js'
import { folderSetting, folderVariable, shotLimits as limits } from '../constants.js'
import { isAreaText } from './ignored.js'

const microusd = strictInteger(1, 1_000_000_000)

const areas = v.array(v.string())

/** Devices whose captures leave under one consent; its end, or another one, ends all of it. */
const namedDevicesShape = v.strictObject({
  /** The consent to `gateway.vision` that they were named under. */
  consent_id: text,
  /** Principal id of whoever named them: only devices of that owner are meant. */
  owner: text,
  /** When all pairings of before had ended last: an end since then ends these, too. */
  outlived: v.nullable(iso),
  named: v.array(v.strictObject({
    device_id: text,
    /** What was uploaded up to this number was sent before it was named, and stays. */
    above_sequence: count,
  })),
})
/** Devices whose captures may leave. */
export type NamedDevices = v.InferOutput<typeof namedDevicesShape>

const savedEntries = {
  /** Canonical path text of the image folder; judged by folder.ts before it is saved. */
  screenshot_folder: v.nullable(v.string()),
  recursive: v.nullable(v.boolean()),
  analysis: v.nullable(v.picklist(['on', 'off'])),
  cloud_upload: v.nullable(v.picklist(['on', 'off'])),
  fallbacks: v.nullable(v.picklist(['deny', 'allow'])),
  data_collection: v.nullable(v.picklist(['deny', 'allow'])),
  zdr: v.nullable(v.picklist(['on', 'off'])),
  /** Lets jobs renew a proof before it grows stale; only `on` does. */
  renew_proof: v.nullable(v.picklist(['on', 'off'])),
  /** Whether a repeat of an image that was described takes its analysis: yes, unless `off`. */
  reuse: v.nullable(v.picklist(['on', 'off'])),
  /** This state alone uses the gateway key, so readings of its usage tell of it; only `on`. */
  key_alone: v.nullable(v.picklist(['on', 'off'])),
  /** While a region keeps changing one image in so many seconds is sent; null: every one. */
  settle_seconds: v.nullable(strictInteger(limits.settleSecondsMin, limits.settleSecondsMax)),
  budget_microusd: v.nullable(microusd),
  budget_requests: v.nullable(strictInteger(1, 1_000_000)),
  request_cost_bound_microusd: v.nullable(microusd),
  visual_run_refresh_minutes: v.nullable(strictInteger(1, limits.visualRunRefreshMinutesMax)),
  ingest_enabled: v.nullable(v.boolean()),
  ingest_interval_minutes: v.nullable(strictInteger(1, 1_440)),
  ingest_limit: v.nullable(strictInteger(1, limits.ingestImagesMax)),
  analysis_limit: v.nullable(strictInteger(1, limits.analysisItemsMax)),
  analysis_concurrency: v.nullable(strictInteger(1, limits.concurrencyMax)),
  analysis_interval_seconds: v.nullable(strictInteger(1, 86_400)),
  analysis_job_timeout_seconds: v.nullable(strictInteger(1, limits.analysisTimeoutSecondsMax)),
  digest_enabled: v.nullable(v.boolean()),
  digest_interval_minutes: v.nullable(strictInteger(1, 1_440)),
  digest_window_minutes: v.nullable(strictInteger(1, limits.digestWindowMinutesMax)),
  digest_max_chars: v.nullable(strictInteger(1, 100_000)),
  /** Areas that do not count when images are compared, as ignored.ts reads them. */
  ignore: v.nullable(areas),
}
const savedShape = v.strictObject({
  schema_version: v.literal('svc.screenshot_settings.v1'), ...savedEntries,
  // Left out in settings of an earlier version.
  renew_proof: v.optional(savedEntries.renew_proof),
  reuse: v.optional(savedEntries.reuse),
  key_alone: v.optional(savedEntries.key_alone),
  settle_seconds: v.optional(savedEntries.settle_seconds),
  devices: v.optional(v.nullable(namedDevicesShape)),
  ignore: v.optional(v.nullable(
    v.array(v.pipe(v.string(), v.check(isAreaText, 'must be an area'))))),
})
/** The saved settings; null means never set. */
export type SavedShotSettings = v.InferOutput<typeof savedShape>

/** Where the settings live; the only id is `settingsId`. */
export const settingsCollection: CollectionSpec<SavedShotSettings> = {
  name: 'shot_settings', schema: savedShape, partition: 'one',
}
/** Id of the only document of `settingsCollection`. */
export const settingsId = 'the'

/** Nothing saved. */
export const unsetSettings: SavedShotSettings = {
  schema_version: 'svc.screenshot_settings.v1',
  screenshot_folder: null, recursive: null, analysis: null, cloud_upload: null, fallbacks: null,
  data_collection: null, zdr: null, renew_proof: null, reuse: null, key_alone: null,
  settle_seconds: null, devices: null,
  budget_microusd: null, budget_requests: null,
  request_cost_bound_microusd: null, visual_run_refresh_minutes: null, ingest_enabled: null,
  ingest_interval_minutes: null, ingest_limit: null, analysis_limit: null,
  analysis_concurrency: null, analysis_interval_seconds: null, analysis_job_timeout_seconds: null,
  digest_enabled: null, digest_interval_minutes: null, digest_window_minutes: null,
  digest_max_chars: null, ignore: null,
}

/** Whether folders below count, too: not unless saved so. */
export const isRecursive = (saved: Pick<SavedShotSettings, 'recursive'>): boolean =>
  saved.recursive ?? false

/** Whether jobs may renew a proof by themselves: not unless saved so. */
export const renewsProof = (saved: Pick<SavedShotSettings, 'renew_proof'>): boolean =>
  saved.renew_proof === 'on'

/** Whether an image that was described before is not asked about again: unless switched off. */
export const reusesAnalyses = (saved: Pick<SavedShotSettings, 'reuse'>): boolean =>
  saved.reuse !== 'off'

/** Whether usage of the gateway key is read around passes: not unless saved so. */
export const readsUsage = (saved: Pick<SavedShotSettings, 'key_alone'>): boolean =>
  saved.key_alone === 'on'

/** The saved settings of a view. */
export const savedSettings = (view: Pick<View, 'get'>): SavedShotSettings =>
  view.get(settingsCollection, settingsId) ?? unsetSettings

/** What a save may change; null unsets. */
export const settingsChangeShape = closedObject({
  ...Object.fromEntries(
    Object.entries(savedEntries).map(([name, schema]) => [name, v.optional(schema)]),
  ) as { [K in keyof typeof savedEntries]: v.OptionalSchema<(typeof savedEntries)[K], undefined> },
  /** Areas beside those that are ignored, and areas that no longer are. */
  add_ignore: v.optional(areas),
  remove_ignore: v.optional(areas),
  /** Ids of devices whose captures may leave, or `all` that are paired now; empty for none. */
  devices: v.optional(v.nullable(v.union([v.literal('all'), v.array(v.string())]))),
})
export type ShotSettingsChange = v.InferOutput<typeof settingsChangeShape>

/** Reads a change strictly: unknown and legacy names are refused (S-056, S-176). */
export const parseSettingsChange = (value: unknown): ShotSettingsChange =>
  parseClosed(settingsChangeShape, value, { code: 'settings_invalid', what: 'the settings' })

/** Where a value comes from. */
export type SettingSource = 'environment' | 'settings' | 'default'
interface Setting<T> {
  readonly value: T
  readonly source: SettingSource
}

/** What every job uses. */
interface CommonSettings {
  readonly recursive: boolean
  readonly refreshMinutes: Setting<number>
  /** The gates as saved; only the explicit closed values open them. */
  readonly saved: SavedShotSettings
}

/** What taking in uses. */
export interface IngestSettings extends CommonSettings {
  readonly ingestEnabled: Setting<boolean>
  readonly ingestIntervalMinutes: Setting<number>
  readonly ingestLimit: Setting<number>
}

/** What the analysis uses. */
export interface AnalysisSettings extends CommonSettings {
  readonly analysisLimit: Setting<number>
  readonly concurrency: Setting<number>
  readonly analysisIntervalSeconds: Setting<number>
  readonly jobTimeoutSeconds: Setting<number>
}

/** What digests use. */
export interface DigestSettings extends CommonSettings {
  readonly digestEnabled: Setting<boolean>
  readonly digestIntervalMinutes: Setting<number>
  readonly digestWindowMinutes: Setting<number>
  readonly digestMaxChars: Setting<number>
}

/** Settings that jobs use, resolved. */
export interface ShotSettings extends IngestSettings, AnalysisSettings, DigestSettings {}

const badVariable = (name: string, rule: string): Error =>
  fail.rejected('setting_invalid', `The environment variable ${name} ${rule}.`, {
    next: 'See `sallyport help environment`.', details: { variable: name },
  })

const integerSetting = (
  env: Env, name: string, saved: number | null, fallback: number, max: number,
): Setting<number> => {
  const text = env[name]
  if (text === undefined || text === '') {
    return saved === null
      ? { value: fallback, source: 'default' } : { value: saved, source: 'settings' }
  }
  const parsed = v.safeParse(strictIntegerText(1, max), text)
  if (!parsed.success) throw badVariable(name, `must be a plain integer from 1 to ${max}`)
  return { value: parsed.output, source: 'environment' }
}

const yes = new Set(['1', 'true', 'on', 'yes', 'enabled'])
const no = new Set(['0', 'false', 'off', 'no', 'disabled'])

const switchSetting = (env: Env, name: string, saved: boolean | null): Setting<boolean> => {
  const text = env[name]?.toLowerCase()
  if (text === undefined || text === '') {
    return saved === null
      ? { value: true, source: 'default' } : { value: saved, source: 'settings' }
  }
  if (yes.has(text)) return { value: true, source: 'environment' }
  if (no.has(text)) return { value: false, source: 'environment' }
  throw badVariable(name, `must be one of ${[...yes, ...no].join(', ')}`)
}

const commonSettings = (saved: SavedShotSettings): CommonSettings => ({
  saved,
  recursive: isRecursive(saved),
  refreshMinutes: saved.visual_run_refresh_minutes === null
    ? { value: limits.visualRunRefreshMinutesDefault, source: 'default' }
    : { value: saved.visual_run_refresh_minutes, source: 'settings' },
})

/** Resolves what taking in uses. Throws `rejected` `setting_invalid` for a variable of its own. */
export const ingestSettings = (view: View, env: Env): IngestSettings => {
  const saved = savedSettings(view)
  const ingest = 'SCREENSHOT_FOLDER_INGEST_'
  return {
    ...commonSettings(saved),
    ingestEnabled: switchSetting(env, `${ingest}ENABLED`, saved.ingest_enabled),
    ingestIntervalMinutes:
      integerSetting(env, `${ingest}INTERVAL_MIN`, saved.ingest_interval_minutes, 1, 1_440),
    ingestLimit: integerSetting(
      env, `${ingest}LIMIT`, saved.ingest_limit, limits.ingestImagesDefault,
      limits.ingestImagesMax,
    ),
  }
}

/** Resolves what the analysis uses; throws for a variable of its own. */
export const analysisSettings = (view: View, env: Env): AnalysisSettings => {
  const saved = savedSettings(view)
  const analysis = 'SCREENSHOT_FOLDER_ANALYSIS_'
  return {
    ...commonSettings(saved),
    analysisLimit: integerSetting(
      env, `${analysis}LIMIT`, saved.analysis_limit, limits.analysisItemsDefault,
      limits.analysisItemsMax,
    ),
    concurrency: integerSetting(
      env, `${analysis}CONCURRENCY`, saved.analysis_concurrency, limits.concurrencyDefault,
      limits.concurrencyMax,
    ),
    analysisIntervalSeconds: integerSetting(
      env, `${analysis}INTERVAL_SECONDS`, saved.analysis_interval_seconds, 60, 86_400,
    ),
    jobTimeoutSeconds: integerSetting(
      env, `${analysis}JOB_TIMEOUT_SECONDS`, saved.analysis_job_timeout_seconds,
      limits.analysisTimeoutSecondsDefault, limits.analysisTimeoutSecondsMax,
    ),
  }
}

/** Resolves what digests use; throws for a variable of its own. */
export const digestSettings = (view: View, env: Env): DigestSettings => {
  const saved = savedSettings(view)
  const digest = 'SCREENSHOT_OBSERVATION_DIGEST_'
  return {
    ...commonSettings(saved),
    digestEnabled: switchSetting(env, `${digest}ENABLED`, saved.digest_enabled),
    digestIntervalMinutes:
      integerSetting(env, `${digest}INTERVAL_MIN`, saved.digest_interval_minutes, 15, 1_440),
    digestWindowMinutes:
      integerSetting(
        env, `${digest}WINDOW_MIN`, saved.digest_window_minutes, 30,
        limits.digestWindowMinutesMax,
      ),
    digestMaxChars: integerSetting(
      env, `${digest}MAX_CHARS`, saved.digest_max_chars, limits.digestCharsDefault, 100_000,
    ),
  }
}

/** Resolves all of it; throws for any of these variables. */
export const resolveSettings = (view: View, env: Env): ShotSettings => ({
  ...ingestSettings(view, env), ...analysisSettings(view, env), ...digestSettings(view, env),
})

/** Which text names the folder, before folder.ts judges it; an empty variable counts as absent. */
export const configuredFolder = (
  saved: SavedShotSettings, env: Env,
): { readonly text: string | null; readonly source: SettingSource } => {
  const variable = env[folderVariable]
  if (variable !== undefined && variable !== '') return { text: variable, source: 'environment' }
  const setting = saved[folderSetting]
  if (setting === null) return { text: null, source: 'default' }
  return { text: setting, source: 'settings' }
}
