/**
 * The settings status (section 2 of the contract). It opens no socket, takes no lock, hashes
 * nothing and changes no byte; each part that cannot be told says so and leaves the others alone.
 */
import { isoFromMs, msFromIso, type Clock } from '../../base/clock.js'
import { SallyportError } from '../../base/errors.js'
import { placesOf } from '../../state/paths.js'
import type { View } from '../../state/types.js'
import { folderVariable } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { currentFacts } from '../observations/as-of-now.js'
import {
  folderEditable, judgeFolder, locateFolder, type ResolvedFolder, type FolderWorld,
} from '../source/folder.js'
import { isFolderHere } from '../source/folder-machine.js'
import { shotCollections, type ShotFolder } from '../observations/observation-rows.js'
import { ignorableOf, toldOf } from '../observations/small-changes.js'
import {
  configuredFolder, isRecursive, savedSettings, unsetSettings, type SavedShotSettings,
} from '../source/settings.js'
import { lastScanOf } from '../scan/last-scan.js'
import { readLastTick, type LastTick } from '../scan/last-tick.js'
import { analysisPart, newestItemAt, scannedFolders, unknownAnalysis } from './analysis.js'
import { countImages, type ImageCount } from './images.js'
import type { FolderStatusPart, ShotsStatus, VisionStatusPart } from './shape.js'
import { unknownVision, visionPart } from './vision.js'

/** What a status is read from. */
export interface StatusSite {
  readonly clock: Clock
  readonly stateDir: string
  /** The open state, or why it could not be opened. */
  readonly state:
    | { readonly ctx: ShotsContext }
    | { readonly failure: string; readonly world: Omit<FolderWorld, 'workspace'> }
}

/** A folder of some thousand files is always counted whole. */
const countBudget = { entriesMax: 25_000, entriesFree: 4_096, msMax: 80 } as const

/** Where the folder is, as far as that can be told. */
interface Located {
  readonly resolved: ResolvedFolder | null
  /** As configured, where it may not be used. */
  readonly text: string | null
  readonly source: FolderStatusPart['configuration_source']
  readonly failure: string | null
  /** Set where its files lie on another machine: nothing is looked at. */
  readonly elsewhere?: true
}

const refused = (error: unknown): string => {
  if (error instanceof SallyportError) return error.code
  throw error
}

const locate = (ctx: ShotsContext, view: View, saved: SavedShotSettings): Located => {
  const { text, source } = configuredFolder(saved, ctx.env)
  try {
    const resolved = locateFolder(ctx, saved)
    const found = { resolved, text: resolved.folder, source, failure: null }
    return isFolderHere(ctx.gov.store, view, resolved) ? found : { ...found, elsewhere: true }
  } catch (error) {
    return { resolved: null, text, source, failure: refused(error) }
  }
}

/** With a state that cannot be read only the environment is left to say where the folder is. */
const locateBlindly = (world: Omit<FolderWorld, 'workspace'>, failure: string): Located => {
  const text = world.env[folderVariable] ?? ''
  if (text === '') return { resolved: null, text: null, source: null, failure }
  try {
    const folder = judgeFolder({ ...world, workspace: '/' }, text, 'environment')
    const resolved = { folder, folderDigest: '', source: 'environment' as const, editable: false }
    return { resolved, text: folder, source: 'environment', failure: null }
  } catch (error) {
    return { resolved: null, text, source: 'environment', failure: refused(error) }
  }
}

const nothing = (failure: string): ImageCount => ({ images: 0, latestAt: null, failure })

/** How many images there are, and when that was counted; null: now. */
interface Counted extends ImageCount {
  readonly countedAt: string | null
}

/** A folder that is too large to be counted here was counted by the last scan. */
const byLastScan = (counted: ImageCount, tick: LastTick | null): Counted => {
  const { images, newest_at: newest = null } = tick ?? {}
  if (tick === null || images === undefined || images < counted.images) {
    return { ...counted, countedAt: null }
  }
  const [latestAt = null] = [counted.latestAt, newest].filter((at) => at !== null).sort().reverse()
  return { images, latestAt, failure: null, countedAt: tick.at }
}

const imagesOf = (
  { stateDir, clock }: StatusSite, located: Located, recursive: boolean,
): Counted => {
  const { resolved, failure, elsewhere = false } = located
  if (elsewhere) return { ...nothing('of_other_machine'), countedAt: null }
  if (resolved === null) return { ...nothing(failure ?? 'folder_unknown'), countedAt: null }
  const counted = countImages(resolved.folder, recursive, {
    ...countBudget, now: () => clock.monotonicMs(),
  })
  return counted.failure === 'folder_too_large'
    ? byLastScan(counted, readLastTick(placesOf(stateDir).run, resolved.folderDigest))
    : { ...counted, countedAt: null }
}

const scanCommand = 'sallyport shots scan'

/** What is the same for everybody: what to call and what is kept. */
const fixedFolderFacts = {
  manual_scan_action: {
    command: scanCommand, method: 'POST', path: '/api/observer/screenshot-folder/scan',
  },
  inspection_endpoint: '/api/observer/screen-artifacts/{observation_id}/analysis',
  inspection_command: 'sallyport shots list',
  stored_artifact_type: 'image',
} as const

const ageSeconds = (at: string | null, clock: Clock): number | null =>
  at === null ? null : Math.floor((clock.wallMs() - msFromIso(at)) / 1000)

type ScanFacts = Pick<
  FolderStatusPart, 'local_scan_status' | 'last_scan_at' | 'last_scan_reason'
>

const unknownScan: ScanFacts = {
  local_scan_status: 'unknown', last_scan_at: null, last_scan_reason: null,
}

const scanFacts = (
  stateDir: string, { resolved }: Located, folder: ShotFolder | undefined,
): ScanFacts => {
  const last = resolved === null
    ? null : lastScanOf(placesOf(stateDir).run, resolved.folderDigest, folder)
  return {
    local_scan_status: last?.status ?? 'never',
    last_scan_at: last?.at ?? null,
    last_scan_reason: last?.reason ?? null,
  }
}

interface RowFacts {
  readonly saved: SavedShotSettings
  readonly folder: ShotFolder | undefined
  readonly newestAt: string | null
  readonly analysis: FolderStatusPart['analysis']
  readonly folders: FolderStatusPart['roots']
}

const ignoringOf = (
  { saved, folder }: RowFacts,
): Pick<FolderStatusPart, 'ignored' | 'small_changes'> => {
  const changes = folder?.small_changes
  const most = ignorableOf(changes, saved.ignore)
  return { ignored: saved.ignore ?? [], small_changes: toldOf(changes?.images ?? 0, most) }
}

const folderPart = (
  site: StatusSite, env: FolderWorld['env'], located: Located, rows: RowFacts,
): FolderStatusPart => {
  const { saved, folder, newestAt } = rows
  const unread = rows.analysis.metadata_status === 'partial'
  const images = imagesOf(site, located, isRecursive(saved))
  const counted = images.failure === null || images.failure === 'folder_too_large'
  return {
    configured_folder: located.text,
    configuration_source: located.source,
    saved_folder: saved.screenshot_folder,
    editable: folderEditable({ env }),
    recursive: unread ? null : isRecursive(saved),
    ...(unread ? { ignored: null, small_changes: null } : ignoringOf(rows)),
    image_count: counted ? images.images : null,
    latest_image_at: images.latestAt,
    image_count_at: images.countedAt,
    ...(unread ? unknownScan : scanFacts(site.stateDir, located, folder)),
    ...fixedFolderFacts,
    newest_item_at: newestAt,
    newest_item_age_seconds: ageSeconds(newestAt, site.clock),
    summary_status: images.failure === null ? 'ok' : 'partial',
    summary_failure: images.failure,
    analysis: rows.analysis,
    roots: rows.folders,
  }
}

const unreadRows = (stateDir: string, failure: string): RowFacts => ({
  saved: unsetSettings, folder: undefined, newestAt: null,
  analysis: unknownAnalysis(stateDir, failure), folders: [],
})

const rowsOf = (
  ctx: ShotsContext, view: View, saved: SavedShotSettings, located: Located,
): RowFacts => {
  try {
    const now = currentFacts(ctx, view)
    const folder = now.folderDigest === null
      ? undefined : view.get(shotCollections.folders, now.folderDigest)
    return {
      saved, folder, newestAt: newestItemAt(view, folder, isoFromMs(ctx.gov.clock.wallMs())),
      analysis: analysisPart(ctx, view, now, located.resolved?.folder ?? null),
      folders: scannedFolders(ctx, view, now),
    }
  } catch (error) {
    return { ...unreadRows(ctx.gov.store.dir, refused(error)), saved }
  }
}

const visionOf = (ctx: ShotsContext, view: View): VisionStatusPart => {
  try {
    return visionPart(ctx, view)
  } catch (error) {
    return unknownVision(refused(error))
  }
}

const whole = (
  site: StatusSite, folder: FolderStatusPart, vision: VisionStatusPart,
): ShotsStatus => ({
  schema_version: 'svc.screenshot_status.v1',
  checked_at: isoFromMs(site.clock.wallMs()),
  screenshot_folder: folder,
  remote_vision: vision,
  vlm_runtime: { live_probe: { checked: false, reason: 'deferred_fast_metadata' } },
})

const blindly = (
  site: StatusSite, failure: string, world: Omit<FolderWorld, 'workspace'>,
): ShotsStatus => {
  const located = locateBlindly(world, failure)
  const folder = folderPart(site, world.env, located, unreadRows(site.stateDir, failure))
  return whole(site, folder, unknownVision(failure))
}

const readably = (site: StatusSite, ctx: ShotsContext, view: View): ShotsStatus => {
  const saved = savedSettings(view)
  const located = locate(ctx, view, saved)
  const damage = ctx.gov.store.health().damage?.code ?? null
  const rows = damage === null
    ? rowsOf(ctx, view, saved, located)
    : { ...unreadRows(ctx.gov.store.dir, damage), saved }
  return whole(site, folderPart(site, ctx.env, located, rows), visionOf(ctx, view))
}

/** Reads the status. Throws nothing that a part can say. */
export const readShotsStatus = (site: StatusSite): ShotsStatus => {
  const { state } = site
  if ('failure' in state) return blindly(site, state.failure, state.world)
  try {
    return readably(site, state.ctx, state.ctx.gov.store.read())
  } catch (error) {
    const { env, home, ownFolders } = state.ctx
    return blindly(site, refused(error), { env, home, ownFolders })
  }
}
