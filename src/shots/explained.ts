/** The ids of the screenshot source: images, digests, conclusions, receipts of its jobs. */
import { countText } from '../base/counted.js'
import { msOfUuid7 } from '../base/ids.js'
import {
  eventsOf, idsOf, isOwn, type Explained, type ExplainedKind, type ExplainedKinds, type ExplainSite,
} from '../governance/explained.js'
import { collections } from '../governance/rows.js'
import { lookUp } from '../state/indexes.js'
import type { View } from '../state/types.js'
import { blockedNext, blockedRowReader } from './analysis/blocked.js'
import { failedNext } from './waiting.js'
import { shotLabels, type AnalysisStatus } from './constants.js'
import type { ShotsContext } from './context.js'
import { digestCollections, episodesById } from './digest/digest-rows.js'
import { disputedOf } from './disputed.js'
import { gateTextOf, routeStatusOf } from './gates.js'
import { currentFacts, rowClassificationNow, rowStatusNow } from './observations/as-of-now.js'
import { shotCollections, type Observation } from './observations/observation-rows.js'
import { receiptCollections, receiptHeadId, type ShotReceipt } from './receipts/receipt-rows.js'
import { receiptOf } from './receipts/append.js'
import { conclusionCollections, conclusionHeadId } from './report/report-rows.js'
import { nextStepsOf } from '../base/next-step.js'

/** Makes what the source is looked at with. */
type ContextOf = (site: ExplainSite) => ShotsContext

const statusTexts: Readonly<Record<AnalysisStatus, string>> = {
  pending: 'It waits for the next pass of the analysis.',
  succeeded: 'It was analysed.',
  failed: 'Its analysis failed; it is sent again only where you ask for it.',
  needs_reanalysis: 'It was analysed by an older model, prompt or schema.',
  blocked: 'It is not analysed.',
}

/** Why a blocked image is so, as of now, and what opens the way. */
const blockedPart = (
  ctx: ShotsContext, view: View, row: Observation,
): { readonly reason: string; readonly text: string; readonly next: readonly string[] } => {
  const reason = blockedRowReader(ctx, view, routeStatusOf(ctx, view))(row)
  return {
    reason, text: `It is not analysed: ${gateTextOf(reason)?.text ?? reason}`,
    next: nextStepsOf(blockedNext(reason, disputedOf(ctx, view))).map(({ command }) => command),
  }
}

/** Of what was analysed whatever stood in its way before is over. */
const reasonOf = (
  status: AnalysisStatus, { analyzer }: Observation, blocked: string | undefined,
): string | null => (status === 'succeeded' || status === 'needs_reanalysis'
  ? null : blocked ?? analyzer.reason)

const explainImage = (ctx: ShotsContext, view: View, row: Observation): Explained => {
  const now = currentFacts(ctx, view)
  const status = rowStatusNow(row, now)
  const classified = row.archived_at === null ? rowClassificationNow(row, now) : 'archived'
  const blocked = status === 'blocked' ? blockedPart(ctx, view, row) : null
  const { analyzer, payload, observation_id: id } = row
  return {
    state: classified ?? status,
    text: classified === null ? blocked?.text ?? statusTexts[status]
      : `Nothing is done with it any more (${classified}).`,
    facts: {
      status, reason: reasonOf(status, row, blocked?.reason), attempts: analyzer.attempts,
      bytes: row.bytes, width: row.width, height: row.height, model: payload?.model ?? null,
      like_images: row.screenshot_visual_run?.suppressed_count ?? 0,
    },
    related: idsOf(analyzer.operation_id, payload?.operation_id, payload?.artifact_id,
      row.edge?.artifact_id, row.edge?.device_id),
    events: eventsOf([row.captured_at, 'captured'], [row.observed_at, 'taken in'],
      [payload?.analyzed_at, 'analysed'], [analyzer.updated_at, `analysis ${status}`],
      [row.archived_at, 'archived']),
    next: [...new Set([
      ...(classified === null ? blocked?.next ?? [] : []), `sallyport shots show ${id}`,
      // Only what is meant still, of the folder in force or a named device, is sent again.
      ...(status === 'failed' && classified === null && now.folderDigest !== null
        && failedNext(ctx, view)(row).needsPerson
        ? [`sallyport shots reanalyze ${id} --reason provider_failure_retry`] : []),
    ])],
  }
}

const minutesOf = (window: { readonly window_start: string, readonly window_end: string }) =>
  countText((Date.parse(window.window_end) - Date.parse(window.window_start)) / 60_000, 'minute')

const digestKind: ExplainedKind = {
  kind: 'digest', short: async () => (await import('./own-ids.js')).digestIds,
  find: ({ view }, id) => {
    const [found] = lookUp(view, digestCollections.episodes, episodesById, { under: [id] })
    const row = found === undefined ? undefined : view.get(digestCollections.episodes, found.id)
    return row === undefined ? undefined : {
      state: null,
      text: `It sums up ${countText(row.observation_count, 'image')} of ${minutesOf(row)}.`,
      facts: {
        window_start: row.window_start, window_end: row.window_end, revision: row.revision,
        model: row.model, cost_microusd: row.cost_microusd,
      },
      related: idsOf(row.operation_id, row.artifact_id, ...row.source_observation_ids),
      events: eventsOf([row.created_at, 'written'], [row.updated_at, 'last changed']),
      next: [`sallyport shots show ${id}`, `sallyport explain ${row.operation_id}`],
    }
  },
}

const conclusionKind: ExplainedKind = {
  kind: 'conclusion of a report',
  find: ({ view }, id) => {
    const head = view.get(conclusionCollections.head, conclusionHeadId)
    const made = head && view.get(conclusionCollections.conclusions, head.newest)?.made
    return made?.conclusion_id !== id ? undefined : {
      state: null, text: 'It is the newest conclusion of a report.',
      facts: { model: made.model, digests: made.digest_count },
      related: idsOf(made.operation_id, ...made.digest_ids),
      events: eventsOf([made.written_at, 'written']), next: ['sallyport shots report'],
    }
  },
}

/** Receipts that are looked at around the moment of an id, at most. */
const receiptsMax = 32

/**
 * The receipt of an id. They are numbered in the order of their time: it is looked for by halves,
 * and where a person had some removed, among those behind the gap.
 */
const receiptById = (view: View, id: string): ShotReceipt | undefined => {
  const ms = msOfUuid7(id.slice(id.lastIndexOf('_') + 1))
  let [low, high] = [1, view.get(receiptCollections.head, receiptHeadId)?.number ?? 0]
  while (ms !== undefined && low < high) {
    const middle = Math.floor((low + high) / 2)
    const found = receiptOf(view, middle)
    const isBefore = found === undefined || msOfUuid7(found.receipt_id.slice(4)) === undefined
      || (msOfUuid7(found.receipt_id.slice(4)) ?? 0) < ms
    if (isBefore) low = middle + 1
    else high = middle
  }
  for (let number = Math.max(1, low - 1), n = 0; n < receiptsMax; n += 1, number += 1) {
    const found = receiptOf(view, number)
    if (found?.receipt_id === id) return found
  }
  return undefined
}

const operationsIn = ({ job, facts }: ShotReceipt): readonly (string | null)[] => {
  if (job === 'screenshot_folder_analysis') return facts.items.map((one) => one.operation_id)
  return job === 'screenshot_observation_digest'
    ? facts.windows.map((one) => one.operation_id) : []
}

const receiptKind: ExplainedKind = {
  kind: 'receipt of a job',
  find: ({ view }, id) => {
    const row = receiptById(view, id)
    return row === undefined ? undefined : {
      state: row.facts.status, text: `It is the receipt of one run of ${row.job}.`,
      facts: { job: row.job, number: row.number },
      related: idsOf(...operationsIn(row)),
      events: eventsOf([row.idle?.since, 'nothing to do since'], [row.at, 'run']),
      next: ['sallyport timers show', 'sallyport shots status'],
    }
  },
}

const labels: ReadonlySet<string> = new Set(Object.values(shotLabels))

/** Sealed texts of this source have no owner: whoever may list the images may know of them. */
const artifactKind: ExplainedKind = {
  kind: 'sealed text of the screenshots',
  find: ({ view }, id) => {
    const row = view.get(collections.artifacts, id)
    if (row === undefined || !labels.has(row.label)) return undefined
    return {
      state: 'adopted', text: 'It is a sealed text of the screenshots: its row tells whose.',
      facts: { label: row.label, bytes: row.ref.bytes }, related: [],
      events: eventsOf([row.created_at, 'sealed']),
      next: ['sallyport shots list --digests', 'sallyport shots list'],
    }
  },
}

/** Their kinds. */
export const shotsExplained = (contextOf: ContextOf): ExplainedKinds => ({
  obs: {
    kind: 'image', short: async () => (await import('./own-ids.js')).observationIds,
    find: (site, id) => {
      const row = site.view.get(shotCollections.observations, id)
      const isTheirs = row?.edge === undefined || isOwn(site, row.edge.owner)
      return row === undefined || !isTheirs
        ? undefined : explainImage(contextOf(site), site.view, row)
    },
  },
  epi: digestKind, ccl: conclusionKind, rct: receiptKind, art: artifactKind,
})
