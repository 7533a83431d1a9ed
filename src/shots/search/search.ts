/**
 * Looking for a text in what models wrote: sealed payloads of analyses and digests, newest first.
 * Opens no socket and changes no byte; what is looked for is kept nowhere.
 */
import { fail, SallyportError } from '../../base/errors.js'
import { collections } from '../../governance/rows.js'
import { inGroups } from '../../state/each.js'
import type { View } from '../../state/types.js'
import { shotLimits } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { episodesByEnd, readDigest, requireEpisode } from '../digest/read-digest.js'
import { findObservations, type Behind } from '../observations/find.js'
import type { CountKey } from '../observations/observation-rows.js'
import { requireObservation } from '../observations/show.js'
import { openRegistered } from '../payload/read-payload.js'
import type { Found, SearchResult } from './search-contract.js'
import { lineAround, needleOf, textsIn } from './line.js'

/** What is looked for, and from when on. */
interface Search {
  readonly text: string
  /** ISO text. */
  readonly since?: string | undefined
  readonly limit?: number | undefined
  /** Only what comes behind this observation's analysis, or behind this digest. */
  readonly after?: string | undefined
}

/** Something that a model wrote, opened only when its turn comes. */
interface Written {
  readonly kind: Found['kind']
  readonly id: string
  readonly at: string
  readonly open: () => unknown
}

/** Where a search goes on: behind an observation, or behind a digest. */
type From =
  | { readonly behind: Behind }
  | { readonly episode: string; readonly until: string }

/** Throws `not_found` `observation_not_found`, `digest_not_found`. */
const fromOf = (view: View, after: string): From => {
  if (!after.startsWith('epi_')) return { behind: requireObservation(view, after) }
  return { episode: after, until: requireEpisode(view, after).window_end }
}

function* analyses(
  ctx: ShotsContext, view: View, since: string | undefined, from: From | null,
): Generator<Written, void, undefined> {
  const filter = {
    // An image that no model wrote about is of a group without a model: none of them is read.
    newestFirst: true, meant: ({ model }: CountKey) => model !== null,
    ...(since === undefined ? {} : { since }),
    // A digest comes behind the analyses of its own moment.
    ...(from === null ? {} : 'behind' in from ? { behind: from.behind } : { until: from.until }),
  }
  for (const rows of inGroups(findObservations(view, filter))) {
    const stored = view.getMany(
      collections.artifacts, rows.map(({ payload }) => payload?.artifact_id ?? ''))
    for (const [n, { observation_id: id, captured_at: at }] of rows.entries()) {
      yield { kind: 'analysis', id, at, open: () => openRegistered(ctx, stored[n]) }
    }
  }
}

function* digests(
  { gov }: ShotsContext, view: View, from: From | null, since = '',
): Generator<Written, void, undefined> {
  const after = from !== null && 'episode' in from ? from.episode : undefined
  const until = from !== null && 'behind' in from ? from.behind.captured_at : null
  for (const episode of episodesByEnd(view, after)) {
    const { episode_id: id, window_end: at } = episode
    if (at < since) return
    if (until !== null && at > until) continue
    const open = () => ({ content: readDigest(gov, view, episode).content })
    yield { kind: 'digest', id, at, open }
  }
}

/** Looks between two moments in which a stop is heard. */
const looksATurn = 32

const turn = async ({ signal }: ShotsContext): Promise<void> => {
  const { setImmediate: nextTurn } = await import('node:timers/promises')
  await nextTurn()
  if (signal.aborted) throw fail.cancelled('interrupted', 'Stopped before all was looked at.')
}

/** Two lists, each newest first, as one. */
function* newestOf(
  one: Iterator<Written, void>, other: Iterator<Written, void>,
): Generator<Written, void, undefined> {
  let [a, b] = [one.next(), other.next()]
  for (;;) {
    if (a.done !== true && (b.done === true || a.value.at >= b.value.at)) {
      yield a.value
      a = one.next()
    } else if (b.done !== true) {
      yield b.value
      b = other.next()
    } else return
  }
}

/** What a text says of what is looked for; null where it says nothing of it. */
const foundIn = ({ kind, id, at }: Written, opened: unknown, needle: string): Found | null => {
  for (const { field, text } of textsIn(opened)) {
    const line = lineAround(text, needle)
    if (line !== null && field !== 'schema') return { kind, id, at, field, line }
  }
  return null
}

/** What is opened; undefined where its file is missing or untrue, which `state check` tells. */
const openedOf = ({ open }: Written): unknown => {
  try {
    return open()
  } catch (error) {
    if (error instanceof SallyportError) return undefined
    throw error
  }
}

/**
 * Analyses and digests that say a text, newest first; letter case, white space and compatibility
 * forms make no difference. Archived observations are left out. Throws `rejected`
 * `search_text_empty`, `not_found` for what it should go on behind, `cancelled` `interrupted` when
 * the context's signal says so.
 */
export const searchTexts = async (
  ctx: ShotsContext, view: View,
  { text, since, limit = shotLimits.listItemsDefault, after }: Search,
): Promise<SearchResult> => {
  const needle = needleOf(text)
  if (needle === '') {
    throw fail.rejected('search_text_empty', 'There is nothing to look for in an empty text.', {
      reason: 'rule', next: 'Give some letters: `sallyport shots list --search report`.',
    })
  }
  const from = after === undefined ? null : fromOf(view, after)
  const found: Found[] = []
  const looked = { analysis: 0, digest: 0 }
  let [unreadable, more] = [0, false]
  for (const one of newestOf(
    analyses(ctx, view, since, from), digests(ctx, view, from, since),
  )) {
    if (found.length === limit) {
      more = true
      break
    }
    looked[one.kind] += 1
    if ((looked.analysis + looked.digest) % looksATurn === 0) await turn(ctx)
    const opened = openedOf(one)
    if (opened === undefined) unreadable += 1
    const match = opened === undefined ? null : foundIn(one, opened, needle)
    if (match !== null) found.push(match)
  }
  return {
    found, unreadable, more, looked_at: { analyses: looked.analysis, digests: looked.digest },
  }
}
