/**
 * What rows mean now. A changed folder makes incomplete rows stale and a changed model, prompt or
 * schema makes analyses old; both are told on read and written down by the verbs that change
 * something, so that looking changes no byte (S-156 to S-158, S-162). The same rule serves one
 * row and one counter, so that lists and numbers agree.
 */
import { SallyportError } from '../../base/errors.js'
import { gatewayCollection, gatewayRouteId } from '../../gateway/setup.js'
import type { Store, View } from '../../state/types.js'
import {
  analysisPromptVersion, analysisSchemaVersion, type AnalysisStatus, type Classification,
} from '../constants.js'
import { locateFolder, type FolderWorld } from '../source/folder.js'
import { folderDigestOf } from '../source/folder-digest.js'
import { foldersElsewhere } from '../source/folder-machine.js'
import { countKeyOf, type CountKey, type Observation } from './observation-rows.js'
import { configuredFolder, savedSettings } from '../source/settings.js'

/** What rows are compared with; null where nothing is configured or it may not be used. */
export interface CurrentFacts {
  /** Canonical path of the folder in force. */
  readonly folder: string | null
  readonly folderDigest: string | null
  /** `gateway/<provider>/<model>` of the `screenshot` slot. */
  readonly model: string | null
  /** Digests of folders of other machines: what their rows mean is judged there. */
  readonly elsewhere?: ReadonlySet<string>
}

/** Where it is looked from; `gov`: the open state, where there is one. */
type Site = FolderWorld & { readonly gov?: { readonly store: Pick<Store, 'machine'> } }

/** The model that the `screenshot` slot names. */
export const configuredModel = (view: View): string | null =>
  view.get(gatewayCollection, gatewayRouteId)?.slots.screenshot?.model ?? null

const folderNow = (
  world: FolderWorld, view: View, elsewhere: ReadonlySet<string>,
): Pick<CurrentFacts, 'folder' | 'folderDigest'> => {
  const saved = savedSettings(view)
  const { text: named, source } = configuredFolder(saved, world.env)
  // It was judged where it lies, and the links of this machine say nothing of it.
  if (source === 'settings' && named !== null && elsewhere.has(folderDigestOf(named))) {
    return { folder: named, folderDigest: folderDigestOf(named) }
  }
  try {
    return locateFolder(world, saved)
  } catch (error) {
    if (error instanceof SallyportError) return { folder: null, folderDigest: null }
    throw error
  }
}

/** The folder and the model that count now. */
export const currentFacts = (world: Site, view: View): CurrentFacts => {
  const elsewhere = foldersElsewhere(world.gov?.store ?? { machine: null }, view)
  const { folder, folderDigest } = folderNow(world, view, elsewhere)
  const facts = { folder, folderDigest, model: configuredModel(view) }
  return elsewhere.size === 0 ? facts : { ...facts, elsewhere }
}

const isOld = (key: CountKey, now: CurrentFacts): boolean =>
  key.prompt_version !== analysisPromptVersion || key.schema_version !== analysisSchemaVersion
  || (now.model !== null && key.model !== now.model)

/**
 * The status as of now: a succeeded row made under anything older needs reanalysis, and no longer
 * once what it was made under is in force again. Without a model that cannot be told of one that
 * was written as old.
 */
export const statusNow = (key: CountKey, now: CurrentFacts): AnalysisStatus => {
  const { analysis_status: status } = key
  if (status !== 'succeeded' && status !== 'needs_reanalysis') return status
  if (isOld(key, now)) return 'needs_reanalysis'
  return now.model === null ? status : 'succeeded'
}

/** Incomplete: nothing was ever analysed, so nothing is lost with the row (S-163). */
const isIncomplete = (key: CountKey): boolean => key.model === null

/**
 * The classification as of now. An incomplete row of another folder is stale, whatever else it is;
 * one of the current folder is not. Where no folder can be told, the folder is another machine's,
 * or a device captured it, what was written stands.
 */
export const classificationNow = (key: CountKey, now: CurrentFacts): Classification | null => {
  const stands = now.folderDigest === null || key.edge === true
    || now.elsewhere?.has(key.root_digest) === true
  if (stands || key.archived) return key.classification
  if (key.root_digest !== now.folderDigest && isIncomplete(key)) return 'stale_root'
  return key.classification === 'stale_root' ? null : key.classification
}

/** The same of a row. */
export const rowStatusNow = (row: Observation, now: CurrentFacts): AnalysisStatus =>
  statusNow(countKeyOf(row), now)

/** The same of a row. */
export const rowClassificationNow = (
  row: Observation, now: CurrentFacts,
): Classification | null => classificationNow(countKeyOf(row), now)

/** Whether a row may be in digests and reports, and with what (S-067, S-166). */
export const reportReadinesses = ['analysed', 'facts_only', 'excluded'] as const
type ReportReadiness = (typeof reportReadinesses)[number]

/** Readiness of a row for reports. */
export const reportReadinessOf = (row: Observation, now: CurrentFacts): ReportReadiness => {
  if (row.archived_at !== null || rowClassificationNow(row, now) !== null) return 'excluded'
  return row.payload === null ? 'facts_only' : 'analysed'
}
