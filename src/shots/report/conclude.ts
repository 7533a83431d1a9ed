/**
 * Buying a conclusion: stored analyses and digests of a period go through the `report` slot once.
 * The same inputs are never bought twice, whatever period names them: another period
 * over the same sources finds the same conclusion.
 */
import { canonicalJson, digestOf } from '../../base/canonical.js'
import { fail } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import { claimCollection, claimStatus } from '../../gateway/call/claims.js'
import { callError } from '../../gateway/call/ending.js'
import type { CallEnd, CallOrder } from '../../gateway/call/order.js'
import { sendCall } from '../../gateway/call/send.js'
import type { GatewayReceipt } from '../../gateway/receipt.js'
import type { Tx, View } from '../../state/types.js'
import { blockedNext, blockedReasons } from '../analysis/blocked.js'
import { shotLabels, type AnalysisStatus } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { disputedOf } from '../disputed.js'
import { closedSwitch } from '../gates.js'
import { currentFacts } from '../observations/as-of-now.js'
import { readDigest } from '../digest/read-digest.js'
import { takeObservations, type ObservationFilter } from '../observations/find.js'
import { pausedNext, textPause } from '../paused.js'
import { savedSettings } from '../source/settings.js'
import { judgeBought, keepBought, type BoughtText } from '../texts/bought.js'
import { digestEntries, openerOf, promptEntries } from '../texts/entries.js'
import { conclusionPromptVersion, textContent, type PromptEntry } from '../texts/prompt.js'
import { requireSameRoute, requireTextRoute, type TextRoute } from '../texts/readiness.js'
import { conclusionSources, type ConclusionSources } from './collect.js'
import type { ReportPeriod } from './period.js'
import { conclusionCollections as c, conclusionHeadId, type MadeConclusion } from './report-rows.js'

/** Longest conclusion, Unicode code points. */
const conclusionCharsMax = 4_000

/** A conclusion that stands; `bought` false when it stood already and nobody was contacted. */
export interface Concluded {
  readonly bought: boolean
  readonly made: MadeConclusion
  readonly receipt: GatewayReceipt | null
}

/** One more call after one that was refused, failed or is uncertain. */
interface ConcludeOptions {
  readonly retry: boolean
}

interface Concluding extends ConcludeOptions {
  readonly ctx: ShotsContext
  readonly period: ReportPeriod
  readonly sources: ConclusionSources
  readonly route: TextRoute
  /** Of the call, as it was when this one looked. */
  readonly number: number
}

/** The number of the next call. Throws `blocked` where one must not be repeated by itself. */
const nextNumber = (
  ctx: ShotsContext, view: View, sourceDigest: string,
  { retry, period: { since, until } }: ConcludeOptions & Pick<Concluding, 'period'>,
): number => {
  const row = view.get(c.conclusions, sourceDigest)
  if (row === undefined) return 1
  const claim = view.get(claimCollection, row.input_digest)
  const standing = claimStatus(ctx.gov.store, view, claim)
  if (standing === 'running') {
    throw fail.conflict('conclusion_in_progress', 'This conclusion is being made now.')
  }
  const again = standing === 'not_contacted' || standing === 'interrupted' || retry
  if (again) return row.number + 1
  throw fail.blocked(
    'conclusion_not_repeated',
    'The last call for these inputs was refused, failed or is uncertain; it is not repeated.',
    {
      reason: claim?.ended?.reason ?? standing,
      // Without its period it would be another one's, which nobody asked to pay for.
      next: `Look at it, then run \`sallyport shots report --since ${since} --until ${until} `
        + '--conclude --retry`.',
      details: { operation_id: claim?.operation_id ?? null },
    },
  )
}

/**
 * The number of this call, while nobody asked since it looked: a retry is of what it saw, and no
 * conclusion that was made meanwhile is bought again or written over.
 */
const requireTurn = (one: Concluding, tx: Tx): number => {
  const { ctx, sources: { digest }, number } = one
  const isMade = Boolean(tx.get(c.conclusions, digest)?.made)
  if (!isMade && nextNumber(ctx, tx, digest, one) === number) return number
  throw fail.conflict(
    'conclusion_asked_meanwhile',
    'This conclusion was asked for meanwhile; nothing was sent.',
    { next: 'Run it again.' },
  )
}

const claim = (
  one: Concluding, tx: Tx,
): { readonly inputDigest: string; readonly claimed: null } => {
  const { ctx, period, sources, route } = one
  const now = requireTextRoute(ctx, tx, 'gateway.report')
  const same = conclusionSources(tx, period).digest === sources.digest
    && now.boundMicrousd === route.boundMicrousd && now.consentId === route.consentId
  if (!same) {
    throw fail.conflict('report_inputs_changed', 'The report changed; nothing was sent.', {
      reason: 'inputs_changed', next: 'Run it again.',
    })
  }
  const number = requireTurn(one, tx)
  const inputDigest = digestOf({
    call: 'shots.conclusion', source_digest: sources.digest, model: route.setup.model,
    prompt_version: conclusionPromptVersion, number,
  })
  tx.put(c.conclusions, sources.digest, {
    source_digest: sources.digest, number, input_digest: inputDigest, made: null,
  })
  return { inputDigest, claimed: null }
}

const idsOf = ({ sources, episodes }: ConclusionSources) => ({
  source_observation_ids: sources.map((row) => row.observation_id),
  digest_ids: episodes.map((row) => row.episode_id),
})

const payloadOf = ({ sources }: Concluding, content: string): Buffer => Buffer.from(canonicalJson({
  schema: shotLabels.conclusion, source_digest: sources.digest, ...idsOf(sources), content,
}))

const record = (
  { sources, route }: Concluding, tx: Tx, now: string, end: CallEnd<BoughtText>,
): MadeConclusion | null => {
  const row = tx.get(c.conclusions, sources.digest)
  const text = row === undefined ? null : keepBought(tx, now, end, {
    label: shotLabels.conclusion, owner: route.principal, route,
    promptVersion: conclusionPromptVersion,
  })
  if (row === undefined || text === null) return null
  const made: MadeConclusion = {
    conclusion_id: newId('ccl'), digest_count: sources.episodes.length, ...idsOf(sources), ...text,
  }
  tx.put(c.conclusions, sources.digest, { ...row, made })
  const count = (tx.get(c.head, conclusionHeadId)?.count ?? 0) + 1
  tx.put(c.head, conclusionHeadId, { count, newest: sources.digest })
  return made
}

const toldDigests = (ctx: ShotsContext, view: View, sources: ConclusionSources): PromptEntry[] =>
  digestEntries(sources.episodes.map((row) => ({
    captured_at: row.window_start, window_end: row.window_end,
    digest: readDigest(ctx.gov, view, row).content,
  })))

const orderOf = (one: Concluding, view: View): CallOrder<null, BoughtText, MadeConclusion> => {
  const { ctx, period, sources, route } = one
  return {
    step: 'conclude',
    slot: 'report',
    purpose: 'gateway.report',
    priority: 'high',
    principal: route.principal,
    root: null,
    sends: { purpose: 'gateway.report' },
    boundMicrousd: route.boundMicrousd,
    content: textContent({
      order: [
        'Write the conclusion of a report on what a person did at a computer: what was worked on, '
          + 'how the time was spent, what was achieved and what stayed open.',
        `The report covers ${period.since} to ${period.until}.`,
      ],
      charsMax: conclusionCharsMax,
      entries: promptEntries(sources.sources, openerOf(ctx, view)),
      digests: toldDigests(ctx, view, sources),
    }),
    claim: (tx) => claim(one, tx),
    recheck: (now) => requireSameRoute(ctx, now, 'gateway.report', route),
    closed: (now) => closedSwitch(savedSettings(now)),
    judge: (reply) =>
      judgeBought(reply, route, conclusionCharsMax, (content) => payloadOf(one, content)),
    keep: ({ content }) => ctx.gov.store.artifacts.write(shotLabels.conclusion, content.payload),
    record: (tx, now, end) => record(one, tx, now, end),
  }
}

/** What brings an analysed screenshot into the period: `analyze` is named only where it would. */
const nothingNext = (
  ctx: ShotsContext, view: View, { since, until }: ReportPeriod,
): string => {
  const { folderDigest } = currentFacts(ctx, view)
  if (folderDigest === null) return 'See `sallyport shots status`.'
  const within = { since, until, folderDigest } satisfies ObservationFilter
  const any = (status: AnalysisStatus): boolean =>
    takeObservations(view, { ...within, statuses: [status] }, 1).length > 0
  if (any('pending')) return 'Run `sallyport shots analyze`.'
  const [blocked] = blockedReasons(ctx, view, { since, until })
  if (blocked !== undefined) return blockedNext(blocked.reason, disputedOf(ctx, view))
  return any('failed')
    ? 'Run `sallyport shots reanalyze --failed --reason provider_failure_retry`.'
    : 'Give --since an earlier time; what lies in the folder is taken in by `sallyport shots scan`.'
}

/** Only somebody's retry asks a gateway that has just refused: timers write reports, too. */
const requireNoPause = (ctx: ShotsContext, view: View): void => {
  const pause = textPause(ctx, view)
  if (pause === null) return
  const { reason, until } = pause
  throw fail.blocked(
    'conclusion_paused', `The gateway refused the last request; none is sent before ${until}.`,
    { reason, next: pausedNext('report'), details: { paused_until: until } },
  )
}

const names = {
  noun: 'conclusion',
  texts: { refused: 'The reply cannot be kept; the charge stands.' },
} as const

/**
 * Makes the conclusion over a period with at most one request, or finds it made. Throws `rejected`
 * `nothing_to_conclude`, what keeps a text from being bought, and every end without a text.
 */
export const concludeReport = async (
  ctx: ShotsContext, period: ReportPeriod, options: ConcludeOptions,
): Promise<Concluded> => {
  const view = ctx.gov.store.read()
  const sources = conclusionSources(view, period)
  if (sources.sources.length === 0) {
    throw fail.rejected('nothing_to_conclude', 'The period holds no analysed screenshot.', {
      next: nothingNext(ctx, view, period),
    })
  }
  const known = view.get(c.conclusions, sources.digest)?.made
  if (known) return { bought: false, made: known, receipt: null }
  const number = nextNumber(ctx, view, sources.digest, { ...options, period })
  const route = requireTextRoute(ctx, view, 'gateway.report')
  if (!options.retry) requireNoPause(ctx, view)
  const one: Concluding = { ctx, period, sources, route, number, ...options }
  const result = await sendCall(ctx.gateway, orderOf(one, view))
  if (result.made === null) throw callError(names, result)
  return { bought: true, made: result.made, receipt: result.receipt }
}
