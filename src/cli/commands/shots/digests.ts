import { shotLimits } from '../../../shots/constants.js'
import { shotsDigests } from '../../../shots/digest/contract.js'
import { pageOf } from '../../../shots/observations/page.js'
import { integerFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { verb } from '../../verb.js'
import { noteCut } from './cut-note.js'

export const digests = verb(shotsDigests, {
  summary: 'list the digests, newest window first, or print one',
  description:
    'Lists the digest of each window with its metadata. With the id of one it prints the text '
    + 'that the model wrote. Nobody is contacted.',
  examples: [
    '$ sallyport shots digests --limit 10',
    '$ sallyport shots digests epi_01890000-0000-7000-8000-000000000000',
  ],
  session: 'none',
  ids: { episode: 'digest', after: 'digest' },
  damage: 'refuses',
  exits: ['rejected', 'not_found', 'no_state', 'damaged'],
  flags: (command) => command
    .argument('[episode]', 'id of one digest, to print its text')
    .addOption(integerFlag(
      '--limit <n>', `at most so many; ${shotLimits.listItemsDefault} unless given`,
      { min: 1, max: shotLimits.listItemsMax },
    ))
    .option('--after <digest>', 'only those of windows before that of this one'),
  text: (result, view) => {
    if (Array.isArray(result)) {
      return renderTable(
        view, ['digest', 'window start', 'window end', 'screenshots', 'characters', 'written'],
        result.map((one) => [
          view.id(one.episode_id), one.window_start, one.window_end,
          String(one.observation_count), String(one.content_chars), one.written_at,
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
  run: async ({ episode, limit, after }, deps) => {
    const gov = await deps.gov('read')
    const view = gov.store.read()
    if (episode === undefined) {
      const { episodesBehind } = await import('../../../shots/digest/read.js')
      const page = pageOf(episodesBehind(view, after), limit ?? shotLimits.listItemsDefault)
      noteCut(deps, page, ({ episode_id: id }) => id, ' or --limit N')
      return page.rows
    }
    const { openDigest } = await import('../../../shots/digest/read.js')
    return openDigest(gov, view, episode)
  },
})
