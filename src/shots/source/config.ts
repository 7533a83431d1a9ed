/** Saving and showing the settings of the screenshot source. */
import * as v from 'valibot'
import { count, nullableText, text } from '../../base/schema.js'
import { nullableSentence } from '../../base/told.js'
import { canonicalJson } from '../../base/canonical.js'
import { fail, SallyportError } from '../../base/errors.js'
import { slotNames } from '../../gateway/constants.js'
import { projectGateway } from '../../gateway/projection.js'
import { gatewayFacts } from '../../gateway/readiness.js'
import { forgetSince } from '../../gateway/usage/usage-rows.js'
import { appendAudit } from '../../governance/audit.js'
import { nowIso, type Session } from '../../governance/context.js'
import { orUndefined } from '../../governance/judge/fact.js'
import { askedThrough } from '../../governance/stops/act.js'
import { closeBySave } from '../../governance/stops/restrictive-save.js'
import { requestsDocument, requestsShape } from '../../governance/stops/requests.js'
import type { SaveAim } from '../../governance/stops/stop.js'
import type { View } from '../../state/types.js'
import { shotCollections as c } from '../observations/observation-rows.js'
import { namedNow, nameDevices } from '../captures/naming.js'
import { folderVariable } from '../constants.js'
import type { Env, ShotsContext } from '../context.js'
import { routeStatusOf } from '../gates.js'
import { closedBySettings, closedUnder, type FoldersInUse } from './closing.js'
import {
  folderEditable, folderProblem, judgeFolder, locateFolder, requireNoWorse,
  type ResolvedFolder,
} from './folder.js'
import { folderDigestOf } from './folder-digest.js'
import {
  imageFolders, isFolderHere, requireFolderHere, takeFolder,
} from './folder-machine.js'
import { changedIgnore, type ToldArea } from './ignored.js'
import {
  configuredFolder, parseSettingsChange, resolveSettings, reusesAnalyses, savedSettings,
  settingsCollection, settingsId, type SavedShotSettings, type ShotSettings,
  type ShotSettingsChange,
} from './settings.js'

/** Bytes of a settings document. */
export const settingsBytesMax = 65_536

const source = v.picklist(['environment', 'settings', 'default'])
const value = v.nullable(v.union([v.string(), v.number(), v.boolean(), v.array(v.string())]))

const slotShape = v.strictObject({
  slot: v.picklist(slotNames), model: nullableText, upstream_allow: v.array(text),
  request_cost_bound_microusd: v.nullable(count),
  purposes: v.array(v.strictObject({ purpose: text, consent_current: v.boolean() })),
  status: text, reason_code: nullableText, capability_proof: text,
})

/** What `shots config` prints. */
export const shotsConfigShape = v.strictObject({
  schema_version: v.literal('svc.screenshot_config.v1'),
  folder: v.strictObject({
    /** The image folder in force; null where none can be used. */
    screenshot_folder: nullableText,
    configuration_source: source,
    saved_folder: nullableText,
    editable: v.boolean(),
    /** Why it cannot be scanned now; null where it can. */
    problem: nullableSentence,
  }),
  /** Every setting but the folder: what is in force, whence, and what is saved. */
  settings: v.record(text, v.strictObject({ value, source, saved: value })),
  /** Variables that have no meaning; the job that it is of refuses to run. */
  invalid_variables: v.array(text),
  /** What `gateway setup` owns; null without a route. */
  gateway: v.nullable(v.strictObject({
    status: text, reason_code: nullableText, key_present: v.boolean(),
    spend_ceiling_microusd: count, cloud_egress_acknowledged: v.boolean(),
    slots: v.array(slotShape),
  })),
  /** After a save: what had left before of what it closed. */
  requests: v.optional(requestsShape),
})
export type ShotsConfig = v.InferOutput<typeof shotsConfigShape>

/** Settings in force, with variables that have no meaning left aside and named. */
export const tolerantSettings = (
  view: View, env: Env,
): { readonly settings: ShotSettings; readonly invalid: readonly string[] } => {
  const invalid: string[] = []
  let left = env
  for (;;) {
    try {
      return { settings: resolveSettings(view, left), invalid }
    } catch (error) {
      const variable = error instanceof SallyportError ? error.details['variable'] : undefined
      if (typeof variable !== 'string' || left[variable] === undefined) throw error
      invalid.push(variable)
      left = { ...left, [variable]: undefined }
    }
  }
}

type Shown = ShotsConfig['settings']

/** Devices that are named: `saved` those of whatever consent, `value` those of the one of now. */
const shownDevices = (
  ctx: ShotsContext, view: View, { devices }: SavedShotSettings,
): Shown[string] => (devices
  ? { value: [...namedNow(ctx, view)], saved: devices.named.map((one) => one.device_id),
    source: 'settings' }
  : { value: null, saved: null, source: 'default' })

const fromSaved = (saved: SavedShotSettings): Shown => Object.fromEntries(
  ([
    'analysis', 'cloud_upload', 'fallbacks', 'data_collection', 'zdr', 'renew_proof', 'key_alone',
    'settle_seconds', 'budget_microusd', 'budget_requests', 'request_cost_bound_microusd', 'ignore',
  ] as const).map((name) => [name, {
    value: saved[name] ?? null, saved: saved[name] ?? null,
    source: (saved[name] ?? null) === null ? 'default' as const : 'settings' as const,
  }]),
)

const fromJobs = (settings: ShotSettings): Shown => {
  const { saved } = settings
  const jobs = {
    visual_run_refresh_minutes: settings.refreshMinutes,
    ingest_enabled: settings.ingestEnabled,
    ingest_interval_minutes: settings.ingestIntervalMinutes,
    ingest_limit: settings.ingestLimit,
    analysis_limit: settings.analysisLimit,
    analysis_concurrency: settings.concurrency,
    analysis_interval_seconds: settings.analysisIntervalSeconds,
    analysis_job_timeout_seconds: settings.jobTimeoutSeconds,
    digest_enabled: settings.digestEnabled,
    digest_interval_minutes: settings.digestIntervalMinutes,
    digest_window_minutes: settings.digestWindowMinutes,
    digest_max_chars: settings.digestMaxChars,
  }
  return Object.fromEntries(Object.entries(jobs).map(([name, one]) =>
    [name, { ...one, saved: saved[name as keyof typeof jobs] ?? null }]))
}

/** Every setting but the folder, with sources. */
const shownSettings = (ctx: ShotsContext, view: View, settings: ShotSettings): Shown =>
  ({
    recursive: {
      value: settings.recursive, saved: settings.saved.recursive,
      source: settings.saved.recursive === null ? 'default' : 'settings',
    },
    ...fromSaved(settings.saved),
    devices: shownDevices(ctx, view, settings.saved),
    reuse: {
      value: reusesAnalyses(settings.saved) ? 'on' : 'off', saved: settings.saved.reuse ?? null,
      source: (settings.saved.reuse ?? null) === null ? 'default' : 'settings',
    },
    ...fromJobs(settings),
  })

/** The folder in force and what stands in its way; never throws for a folder. */
const shownFolder = (
  ctx: ShotsContext, view: View, saved: SavedShotSettings,
): ShotsConfig['folder'] => {
  const { source: from } = configuredFolder(saved, ctx.env)
  const facts = {
    configuration_source: from, saved_folder: saved.screenshot_folder,
    editable: folderEditable(ctx),
  }
  try {
    const resolved = locateFolder(ctx, saved)
    const { folder } = resolved
    const problem = isFolderHere(ctx.gov.store, view, resolved)
      ? folderProblem(folder) : 'of_other_machine'
    return { screenshot_folder: folder, ...facts, problem }
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    return { screenshot_folder: null, ...facts, problem: error.code }
  }
}

const shownGateway = (ctx: ShotsContext, view: View): ShotsConfig['gateway'] => {
  const { gateway } = projectGateway(gatewayFacts(ctx.gov, view, ctx.gateway.place))
  if (gateway === null) return null
  const current = (purpose: string) => ({
    purpose,
    consent_current: gateway.consents.some((one) => one.purpose === purpose && one.current),
  })
  const slot = (name: 'screenshot' | 'report', purposes: readonly string[]) => {
    const one = gateway.slots[name]
    return {
      slot: name, model: one.model, upstream_allow: one.upstream_allow,
      request_cost_bound_microusd: one.request_cost_bound_microusd,
      purposes: purposes.map(current),
      status: one.status, reason_code: one.reason_code, capability_proof: one.proof.state,
    }
  }
  return {
    status: gateway.status, reason_code: gateway.reason_code, key_present: gateway.key_present,
    spend_ceiling_microusd: gateway.spend_ceiling_microusd,
    cloud_egress_acknowledged: gateway.cloud_egress_acknowledged,
    slots: [
      slot('screenshot', ['gateway.vision']), slot('report', ['gateway.digest', 'gateway.report']),
    ],
  }
}

/**
 * The settings in force and what the gateway owns, and what a save has just told. Opens no socket,
 * changes no byte.
 */
export const showShotsConfig = (
  ctx: ShotsContext, view: View, saved: Pick<ShotsConfig, 'requests'> = {},
): ShotsConfig => {
  const { settings, invalid } = tolerantSettings(view, ctx.env)
  return {
    schema_version: 'svc.screenshot_config.v1',
    folder: shownFolder(ctx, view, settings.saved),
    settings: shownSettings(ctx, view, settings),
    invalid_variables: [...invalid],
    gateway: shownGateway(ctx, view),
    ...saved,
  }
}

/** What leaves the machine once both switches are on, for the person who turns one on. */
export const egressText = [
  'With analysis and cloud upload on, and a consent to gateway.vision, whole screenshots leave',
  'this machine: the exact bytes of each new image go to the configured gateway and to the',
  'upstream hosts that its screenshot slot allows, with everything that can be read in them.',
  'Fallbacks and data collection are refused and zero data retention is demanded in every',
  'request, but what others do with what they receive cannot be checked from here. A program',
  'cannot recognise a private message: what must not be seen has to stay out of the folder.',
].join('\n')

/** What else leaves once a device is named, for the person who names it. */
export const devicesText = [
  'With a device named, what it uploads from then on leaves this machine as images of the folder',
  'do: the exact bytes of each new capture go to the configured gateway and to the upstream hosts',
  'that its screenshot slot allows. That holds for captures that were uploaded with both kinds of',
  'egress, under the consent to gateway.vision of now. Nothing that was uploaded before leaves,',
  'and nothing of a device that is not named. Another consent, or the end of a pairing, ends it.',
].join('\n')

/** What jobs may send and pay by themselves once `renew_proof` is on. */
export const renewText = [
  'With renew_proof on, the analysis and the digest job renew the proof of their slot by',
  'themselves before it is a day old, whenever something waits to be sent: one synthetic',
  "request, no image of yours, paid from the budget of the day and named in the job's receipt.",
].join('\n')

/** Whether a change lets jobs renew proofs by themselves. */
export const startsRenewing = (before: SavedShotSettings, change: ShotSettingsChange): boolean =>
  change.renew_proof === 'on' && before.renew_proof !== 'on'

/** Whether a change turns on something that lets images leave. */
export const widensEgress = (before: SavedShotSettings, change: ShotSettingsChange): boolean =>
  (change.analysis === 'on' && before.analysis !== 'on')
  || (change.cloud_upload === 'on' && before.cloud_upload !== 'on')

type Plain = Omit<ShotSettingsChange, 'devices' | 'add_ignore' | 'remove_ignore' | 'ignore'>

const given = (change: Plain): Partial<SavedShotSettings> =>
  Object.fromEntries(Object.entries(change).filter(([, one]) => one !== undefined))

/** What somebody must know who has areas ignored. */
export const ignoreText = [
  'Ignored areas do not count when two images are compared, so that what changes in them alone is',
  'not analysed. They hide nothing: an image that is analysed is sent as it is, with all in them.',
].join('\n')

/** Whether a change names areas to be ignored. */
export const startsIgnoring = ({ ignore, add_ignore: add = [] }: ShotSettingsChange): boolean =>
  add.length + (ignore ?? []).length > 0

/** The screen that an area is of which names none: that of the folder's newest image. */
const newestScreen = (
  ctx: ShotsContext, view: View, saved: SavedShotSettings,
) => (): ToldArea['screen'] => {
  const { folderDigest } = locateFolder(ctx, saved)
  const { width = 0, height = 0 } = view.get(c.folders, folderDigest)?.representative ?? {}
  return width === 0 || height === 0 ? null : { width, height }
}

const differ = (a: unknown, b: unknown): boolean =>
  canonicalJson(a ?? null) !== canonicalJson(b ?? null)

const changedMeanwhile = (): SallyportError =>
  fail.conflict('settings_changed', 'The settings were changed meanwhile.', {
    next: 'Nothing was saved. Look at `sallyport shots show` and say it again.',
  })

/** What a person decides on who fills the form in. */
export interface SeenSettings {
  readonly saved: SavedShotSettings
  /** The consent to `gateway.vision` under which devices are named; null where none is. */
  readonly consentId: string | null
}

/** What there is to be seen, as of a view. */
export const seenSettings = (ctx: ShotsContext, view: View): SeenSettings =>
  ({ saved: savedSettings(view), consentId: routeStatusOf(ctx, view).consentId })

/** What was decided on is what is saved upon: what changed meanwhile was not seen. */
const requireAsShown = ({ seen }: SettingsStep, shown: SeenSettings | undefined): void => {
  if (shown === undefined || canonicalJson(seen) === canonicalJson(shown)) return
  throw changedMeanwhile()
}

/** What is saved over what, as of a view. */
interface SettingsStep {
  readonly seen: SeenSettings
  readonly before: SavedShotSettings
  readonly after: SavedShotSettings
  readonly closes: readonly SaveAim[]
  /** The folder that was named; null where none was. */
  readonly chosen: Pick<ResolvedFolder, 'folderDigest' | 'source'> | null
}

/** The environment of this process says nothing of the others'. */
const foldersInUse = (ctx: ShotsContext, view: View): FoldersInUse => {
  const world = { ...ctx, env: { ...ctx.env, [folderVariable]: undefined } }
  return {
    saved: (settings) => orUndefined(() => locateFolder(world, settings))?.folderDigest ?? null,
    known: imageFolders(view).map(({ root_digest: id }) => id),
  }
}

const chosenFolder = (
  { screenshot_folder: folder }: Pick<ShotSettingsChange, 'screenshot_folder'>,
): SettingsStep['chosen'] => (typeof folder === 'string'
  ? { folderDigest: folderDigestOf(folder), source: 'input' } : null)

/** Gives the settings with the devices that a change names, as of a view. */
const devicesNamer = async (
  ctx: ShotsContext, session: Session, ids: ShotSettingsChange['devices'],
): Promise<(view: View) => Pick<SavedShotSettings, 'devices'>> => {
  if (ids === undefined) return () => ({})
  const shelf = await ctx.captures()
  return (view) => ({ devices: nameDevices(ctx, session, view, { shelf, ids }) })
}

/** Reads a change; throws what is wrong with its shape or its folder. */
const readChange = async (
  ctx: ShotsContext, session: Session, document: unknown,
): Promise<(view: View) => SettingsStep> => {
  const {
    add_ignore, remove_ignore, ignore: list, devices, ...change
  } = parseSettingsChange(document)
  const devicesOf = await devicesNamer(ctx, session, devices)
  const areas = { ignore: list, add_ignore, remove_ignore }
  const folder = typeof change.screenshot_folder === 'string'
    ? { screenshot_folder: judgeFolder(ctx, change.screenshot_folder, 'settings') } : {}
  const named = given({ ...change, ...folder })
  const chosen = chosenFolder(folder)
  return (view) => {
    if (chosen !== null) requireFolderHere(ctx.gov.store, view, chosen)
    const seen = seenSettings(ctx, view)
    const { saved: before } = seen
    const settings = { ...before, ...named, ...devicesOf(view) }
    const ignore = changedIgnore(before.ignore, areas, newestScreen(ctx, view, settings))
    const after = ignore === undefined ? settings : { ...settings, ignore }
    const closes = closedBySettings(before, after, foldersInUse(ctx, view))
    return { seen, before, after, closes, chosen }
  }
}

/** What somebody else saved meanwhile may make this close more than was stopped for it. */
const requireStopped = (aims: readonly SaveAim[], { closes }: SettingsStep): void => {
  const open = closes.some(({ kind, target }) =>
    !aims.some((aim) => aim.kind === kind && aim.target === target))
  if (open) throw changedMeanwhile()
}

/**
 * Saves a change, whole or not at all (S-184 as a use case), and answers what had left before of
 * what it closes. `shown` is what it was decided on, where somebody was shown it. Throws
 * `rejected`: `settings_invalid` for another shape, as `judgeFolder` and `requireNoWorse` for a
 * folder that may not be one, `of_other_machine` for one of another machine, as `changedIgnore` for
 * areas, as `nameDevices` for devices, and `conflict` `settings_changed`; then nothing is changed.
 * Throws as `closeBySave` where it is saved.
 */
export const saveShotsConfig = async (
  ctx: ShotsContext, session: Session, document: unknown, shown?: SeenSettings,
): Promise<Required<Pick<ShotsConfig, 'requests'>>> => {
  const { gov } = ctx
  const stepOf = await readChange(ctx, session, document)
  const step = stepOf(gov.store.read())
  requireAsShown(step, shown)
  const { closes: aims, before: { screenshot_folder: saved }, after: { screenshot_folder } } = step
  if (screenshot_folder !== null) requireNoWorse(saved, screenshot_folder)
  const verb = 'shots config set'
  const saves = { aims, closed: closedUnder(step.after), by: askedThrough(verb, session) }
  const { sent } = await closeBySave(gov, saves, (spend) =>
    gov.store.transact(verb, (tx) => {
      const now = stepOf(tx)
      const { before, after } = now
      requireAsShown(now, shown)
      requireStopped(aims, now)
      spend(tx)
      const changed = (Object.keys(after) as (keyof SavedShotSettings)[])
        .filter((name) => differ(before[name], after[name]))
      if (changed.length === 0) return
      // Most of them close a gate or may: an old copy must not open it again.
      tx.mark()
      tx.put(settingsCollection, settingsId, after)
      if (now.chosen !== null) takeFolder(gov.store, tx, now.chosen)
      // What others did with the key while nobody said that they do not is in no reading.
      if (changed.includes('key_alone')) forgetSince(tx)
      appendAudit(tx, nowIso(gov), {
        what: 'shots.settings_saved', principal: session.principal.principal_id,
        root: session.root.root_id, subject: settingsId,
        facts: { fields: changed.join(',') },
      })
    }, { first: aims.length > 0 }))
  return { requests: requestsDocument(sent) }
}

/** The line that says that a saved folder waits behind the environment; null where it does not. */
export const overrideNote = (ctx: ShotsContext, document: ShotSettingsChange): string | null =>
  typeof document.screenshot_folder === 'string' && !folderEditable(ctx)
    ? `Saved, but ${folderVariable} is set and comes first.` : null
