import * as v from 'valibot'
import { fail } from '../../../base/errors.js'
import { shotLimits } from '../../../shots/constants.js'
import { pageOf } from '../../../shots/observations/page.js'
import type { VerbDeps } from '../../bound.js'
import { integerFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { defineVerb, type Run, type Verb, type VerbDefinition } from '../../verb.js'
import { noteCut } from './cut-note.js'
import { episodeShape } from './digest-shapes.js'

/** Argument and flags of `shots digests`. */
export interface DigestsOptions {
  readonly episode?: string
  readonly limit?: number
}

const oneShape = v.strictObject({ ...episodeShape.entries, content: v.string() })
const schema = v.union([v.array(episodeShape), oneShape])
/** The list, or one episode with its content. */
export type DigestsResult = v.InferOutput<typeof schema>

const definition: VerbDefinition<DigestsResult> = {
  meta: {
    name: 'shots digests',
    summary: 'list the digests, newest window first, or print one',
    description:
      'Lists the digest of each window with its metadata. With the id of one it prints the text '
      + 'that the model wrote. Nobody is contacted.',
    examples: [
      '$ sallyport shots digests --limit 10',
      '$ sallyport shots digests epi_01890000-0000-7000-8000-000000000000',
    ],
    session: 'required',
    exits: ['rejected', 'unauthorized', 'not_found', 'no_state', 'damaged'],
    json: { version: 1, schema },
  },
  flags: (command) => command
    .argument('[episode]', 'id of one digest, to print its text')
    .addOption(integerFlag(
      '--limit <n>', `at most so many; ${shotLimits.listItemsDefault} unless given`,
      { min: 1, max: shotLimits.listItemsMax },
    )),
  text: (result, view) => {
    if (Array.isArray(result)) {
      return renderTable(
        view, ['digest', 'window start', 'window end', 'screenshots', 'characters', 'written'],
        result.map((one) => [
          one.episode_id, one.window_start, one.window_end, String(one.observation_count),
          String(one.content_chars), one.written_at,
        ]),
      )
    }
    const { content, model, reply_model: replyModel, written_at: at } = result
    return {
      out: `${view.foreign(content)}\n`,
      notes: [
        `digest ${result.episode_id} of ${result.window_start} to ${result.window_end}, `
          + `${result.observation_count} screenshots`,
        `written by ${model} (${replyModel}) at ${at}`,
      ],
    }
  },
}

/** Lists, or opens one. */
export const run: Run<DigestsOptions, DigestsResult> = async ({ episode, limit }, deps) => {
  const { gov } = await deps.login('read')
  const view = gov.store.read()
  const { episodesNewestFirst, findEpisode }
    = await import('../../../shots/digest/episode-store.js')
  if (episode === undefined) {
    const page = pageOf(episodesNewestFirst(view), limit ?? shotLimits.listItemsDefault)
    noteCut(deps, page)
    return [...page.rows]
  }
  const row = findEpisode(view, episode)
  if (row === undefined) throw fail.notFound('digest_not_found', 'There is no such digest.')
  const { readDigest } = await import('../../../shots/digest/read.js')
  return { ...row, content: readDigest(gov, view, row).content }
}

/** The verb. */
export const build = (deps: VerbDeps, doIt: Run<DigestsOptions, DigestsResult> = run): Verb =>
  defineVerb(deps, definition, doIt)
