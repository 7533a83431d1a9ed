import * as v from 'valibot'
import { msFromIso } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import { closedObject, parseClosed, count, text } from '../../base/schema.js'
import { parseStrictJson } from '../../base/strict-json.js'
import { readArtifact } from '../../governance/artifacts.js'
import type { Gov } from '../../governance/context.js'
import type { View } from '../../state/types.js'
import { digestSchemaVersion, digestSourceTool, shotLabels, shotLimits } from '../constants.js'
import { episodesNewestFirst, findEpisode } from './episode-store.js'
import type { Episode } from './digest-rows.js'

const payloadShape = closedObject({
  schema: v.literal(digestSchemaVersion),
  source_tool: v.literal(digestSourceTool),
  digest_key: text,
  window_start: text,
  window_end: text,
  source_observation_ids: v.array(text),
  observation_count: count,
  content_chars: count,
  content: text,
})
/** The sealed payload of an episode. */
type DigestPayload = v.InferOutput<typeof payloadShape>

/** Opens an episode's text. Throws what the store throws; `rejected` for another shape. */
export const readDigest = (gov: Pick<Gov, 'store'>, view: View, row: Episode): DigestPayload => {
  const bytes = readArtifact(gov, view, row.artifact_id, shotLabels.digest)
  const value = parseStrictJson(bytes, { bytesMax: 4_194_304, depthMax: 4 })
  return parseClosed(payloadShape, value, { code: 'digest_invalid', what: 'the stored digest' })
}

/** An episode with the text that the model wrote. */
export interface OpenedDigest {
  readonly episode: Episode
  readonly content: string
}

/** The episode of an id. Throws `not_found` `digest_not_found`. */
export const requireEpisode = (view: View, id: string): Episode => {
  const episode = findEpisode(view, id)
  if (episode === undefined) throw fail.notFound('digest_not_found', 'There is no such digest.')
  return episode
}

/**
 * Those of a list of all episodes that come behind one of them; without an id the whole list.
 * Throws `not_found` `digest_not_found`.
 */
function* behind(
  view: View, episodes: Iterable<Episode>, after: string | undefined,
): Generator<Episode, void, undefined> {
  if (after !== undefined) requireEpisode(view, after)
  let isBehind = after === undefined
  for (const episode of episodes) {
    if (isBehind) yield episode
    isBehind ||= episode.episode_id === after
  }
}

/** Episodes, newest window first; with an id as `behind` has it. */
export const episodesBehind = (
  view: View, after: string | undefined,
): Generator<Episode, void, undefined> => behind(view, episodesNewestFirst(view), after)

/** No window is longer, so none that begins a day before another ends behind that one's begin. */
const windowMsMax = shotLimits.digestWindowMinutesMax * 60_000

const byEnd = (a: Episode, b: Episode): number => {
  if (a.window_end !== b.window_end) return a.window_end < b.window_end ? 1 : -1
  if (a.window_start !== b.window_start) return a.window_start < b.window_start ? 1 : -1
  return a.episode_id < b.episode_id ? 1 : -1
}

/** Windows of several lengths may begin together. */
function* lastEndedFirst(view: View): Generator<Episode, void, undefined> {
  const held: Episode[] = []
  for (const episode of episodesNewestFirst(view)) {
    const latest = msFromIso(episode.window_start) + windowMsMax
    while (held[0] !== undefined && msFromIso(held[0].window_end) > latest) {
      yield held[0]
      held.shift()
    }
    held.push(episode)
    held.sort(byEnd)
  }
  yield* held
}

/** Episodes, that which ended last first; with an id as `behind` has it. */
export const episodesByEnd = (
  view: View, after: string | undefined,
): Generator<Episode, void, undefined> => behind(view, lastEndedFirst(view), after)

/** Opens the digest of an id. Throws `not_found` `digest_not_found`, and as `readDigest`. */
export const openDigest = (gov: Pick<Gov, 'store'>, view: View, id: string): OpenedDigest => {
  const episode = requireEpisode(view, id)
  return { episode, content: readDigest(gov, view, episode).content }
}
