/**
 * Buying the text of one window: claimed under the digest of its inputs before anything is sent,
 * kept in the record that settles its charge. The claim, not a hope, is why no text is ever bought
 * twice: whoever comes second finds it.
 */
import { canonicalJson, digestOf } from '../../base/canonical.js'
import { fail } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import type { CallResult } from '../../gateway/call/finish.js'
import type { CallEnd, CallOrder } from '../../gateway/call/order.js'
import { sendCall } from '../../gateway/call/send.js'
import type { Tx, View } from '../../state/types.js'
import { digestSchemaVersion, digestSourceTool, shotLabels } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { closedSwitch } from '../gates.js'
import { savedSettings } from '../source/settings.js'
import { judgeBought, keepBought, type BoughtText } from '../texts/bought.js'
import { openerOf, promptEntries } from '../texts/entries.js'
import { codePoints } from '../texts/judge.js'
import { digestPromptVersion, textContent } from '../texts/prompt.js'
import { requireSameRoute, requireTextRoute, type TextRoute } from '../texts/readiness.js'
import { putEpisode } from './episode-store.js'
import { planWindow, type WindowPlan } from './plan.js'
import { reaches } from './reach.js'
import {
  digestCollections as c, earlierTextsMax, type Episode, type MadeText,
} from './digest-rows.js'
import { sourcesBetween } from '../texts/sources.js'

/** A window whose text is to be bought. */
type WindowToWrite = Extract<WindowPlan, { kind: 'write' }>

interface Writing {
  readonly ctx: ShotsContext
  readonly plan: WindowToWrite
  readonly charsMax: number
  readonly retry: boolean
  /** A consent reaches forward only: one of meanwhile is none for its images. */
  readonly isOlder: boolean
  readonly route: TextRoute
}

const episodeOf = (
  { window, sourceDigest }: WindowPlan, now: string, before: Episode | undefined, made: MadeText,
): Episode => ({
  episode_id: before?.episode_id ?? newId('epi'),
  source_tool: digestSourceTool,
  schema_version: digestSchemaVersion,
  digest_key: window.key,
  window_start: window.start,
  window_end: window.end,
  observation_count: made.source_observation_ids.length,
  source_digest: sourceDigest,
  created_at: before?.created_at ?? now,
  updated_at: now,
  revision: (before?.revision ?? 0) + 1,
  earlier_artifact_ids: before === undefined ? []
    : [...before.earlier_artifact_ids, before.artifact_id]
      .filter((id) => id !== made.artifact_id).slice(-earlierTextsMax),
  ...made,
})

/** Puts a text that was bought before back in its place. */
export const reuseText = (
  tx: Tx, now: string, plan: Extract<WindowPlan, { kind: 'reuse' }>,
): Episode => {
  const row = episodeOf(plan, now, tx.get(c.episodes, plan.window.key), plan.made)
  putEpisode(tx, row)
  return row
}

/** The sealed payload's bytes: metadata of the window and the content, canonical JSON (S-100). */
const payloadOf = ({ window, sources }: WindowPlan, content: string): Buffer =>
  Buffer.from(canonicalJson({
    schema: digestSchemaVersion,
    source_tool: digestSourceTool,
    digest_key: window.key,
    window_start: window.start,
    window_end: window.end,
    source_observation_ids: sources.map((row) => row.observation_id),
    observation_count: sources.length,
    content_chars: codePoints(content),
    content,
  }))

/** What decides the text: a second claim of the same is refused by the gateway's own rows. */
const inputDigestOf = ({ plan, route, charsMax }: Writing): string => digestOf({
  call: 'shots.digest', digest_key: plan.window.key, source_digest: plan.sourceDigest,
  model: route.setup.model, prompt_version: digestPromptVersion, chars_max: charsMax,
  number: plan.number,
})

/** Inside the claiming record everything is judged once more: rows may have moved meanwhile. */
const claim = (
  writing: Writing, tx: Tx,
): { readonly inputDigest: string; readonly claimed: null } => {
  const { ctx, plan, retry, isOlder } = writing
  const { window } = plan
  const route = requireTextRoute(ctx, tx, 'gateway.digest')
  const sources = sourcesBetween(tx, window.start, window.end)
  const fresh = planWindow(ctx, tx, window, sources, { retry })
  const same = fresh.kind === 'write' && fresh.sourceDigest === plan.sourceDigest
    && fresh.number === plan.number && route.consentId === writing.route.consentId
    && route.boundMicrousd === writing.route.boundMicrousd
    && (!isOlder || reaches(ctx, tx)(sources))
  if (!same) {
    throw fail.conflict('digest_inputs_changed', 'The window changed; nothing was sent.', {
      reason: 'inputs_changed',
    })
  }
  const inputDigest = inputDigestOf(writing)
  tx.put(c.attempts, plan.sourceDigest, {
    source_digest: plan.sourceDigest, digest_key: window.key, number: plan.number,
    input_digest: inputDigest, made: null,
  })
  return { inputDigest, claimed: null }
}

/** Keeps the text in the record that settles its charge: both or neither. */
const record = (
  { plan, route }: Writing, tx: Tx, now: string, end: CallEnd<BoughtText>,
): Episode | null => {
  const text = keepBought(tx, now, end, {
    label: shotLabels.digest, owner: route.principal, route, promptVersion: digestPromptVersion,
  })
  if (text === null) return null
  const ids = plan.sources.map((row) => row.observation_id)
  const made: MadeText = { ...text, source_observation_ids: ids }
  const row = episodeOf(plan, now, tx.get(c.episodes, plan.window.key), made)
  putEpisode(tx, row)
  const attempt = tx.get(c.attempts, plan.sourceDigest)
  if (attempt !== undefined) tx.put(c.attempts, plan.sourceDigest, { ...attempt, made })
  return row
}

const orderOf = (writing: Writing, view: View): CallOrder<null, BoughtText, Episode> => {
  const { ctx, plan, charsMax, route } = writing
  const { window, sources } = plan
  return {
    step: 'digest',
    slot: 'report',
    purpose: 'gateway.digest',
    priority: 'high',
    principal: route.principal,
    root: null,
    sends: { purpose: 'gateway.digest' },
    boundMicrousd: route.boundMicrousd,
    content: textContent({
      order: [
        'Write a digest of what a person did at a computer in one window of time, from analyses '
          + 'of screenshots.',
        `The window is ${window.start} to ${window.end}; ${sources.length} analyses, oldest first.`,
      ],
      charsMax,
      entries: promptEntries(sources, openerOf(ctx, view)),
    }),
    claim: (tx) => claim(writing, tx),
    recheck: (now) => requireSameRoute(ctx, now, 'gateway.digest', route),
    closed: (now) => closedSwitch(savedSettings(now)),
    judge: (reply) => judgeBought(reply, route, charsMax, (content) => payloadOf(plan, content)),
    keep: ({ content }) => ctx.gov.store.artifacts.write(shotLabels.digest, content.payload),
    record: (tx, now, end) => record(writing, tx, now, end),
  }
}

/**
 * Buys the text of a window with at most one request. Throws what kept it from being claimed
 * (`blocked`, `budget`, `conflict`, `locked`); every end after that is in the result.
 */
export const writeWindow = async (
  ctx: ShotsContext, plan: WindowToWrite,
  options: Pick<Writing, 'charsMax' | 'retry' | 'isOlder'>,
): Promise<CallResult<Episode>> => {
  const view = ctx.gov.store.read()
  const route = requireTextRoute(ctx, view, 'gateway.digest')
  return sendCall(ctx.gateway, orderOf({ ctx, plan, route, ...options }, view))
}
