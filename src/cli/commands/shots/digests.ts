/** Digests: making what is due, and listing them. */
import { fail } from '../../../base/errors.js'
import { moneyText } from '../../../base/money.js'
import { shotLimits } from '../../../shots/constants.js'
import { shotsDigests, shotsDigest } from '../../../shots/digest/digest-contract.js'
import type { DigestReceipt, WindowResult } from '../../../shots/digest/types.js'
import { pageOf } from '../../../shots/observations/page.js'
import { integerFlag } from '../../flags.js'
import { pointInTime } from '../../since.js'
import { renderTable } from '../../table.js'
import { verb, type VerbFace, type LineOf, type VerbRecord } from '../../verb.js'
import { noteNextPage } from './next-page-note.js'
import { withJobs } from './open.js'

export const digests = verb(shotsDigests, {
  summary: 'list the digests, newest window first, or print one',
  description:
    'Lists the digest of each window with its metadata. With the id of one it prints the text '
    + 'that the model wrote. Nobody is contacted.',
  examples: [
    '$ sallyport shots list --digests --limit 10',
    '$ sallyport shots show epi_01890000-0000-7000-8000-000000000000',
  ],
  session: 'none',
  ids: { episode: 'digest', after: 'digest' },
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
          String(one.observation_count), String(one.content_chars),
          view.time(one.written_at),
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
      const { episodesBehind } = await import('../../../shots/digest/read-digest.js')
      const page = pageOf(episodesBehind(view, after), limit ?? shotLimits.listItemsDefault)
      noteNextPage(deps, page, ({ episode_id: id }) => id, ' or --limit N')
      return page.rows
    }
    const { openDigest } = await import('../../../shots/digest/read-digest.js')
    return openDigest(gov, view, episode)
  },
})

type DigestOptions = LineOf<typeof shotsDigest>

const line = ({ window_start, window_end, outcome, ...one }: WindowResult): string => {
  const { reason, episode, observation_count: count, cost_microusd: cost } = one
  const { held_microusd: held } = one
  const parts = [
    `${window_start} to ${window_end}: ${outcome.replaceAll('_', ' ')}`,
    ...(reason === null ? [] : [reason]),
    `${count} analysed screenshot${count === 1 ? '' : 's'}`,
    ...(episode === null ? [] : [`${episode.content_chars} characters`, episode.episode_id]),
    ...(cost === null ? [] : [moneyText(cost)]),
    ...(held === null ? [] : [`${moneyText(held)} stay held`]),
  ]
  return `${parts.join(', ')}\n`
}

const text: VerbFace<DigestReceipt>['text'] = (receipt) => {
  if (receipt.status === 'disabled') return 'The digest job is switched off.\n'
  const lines = receipt.windows.map(line).join('')
  const none = 'No window holds an analysed screenshot that waits for a digest.\n'
  return {
    out: lines === '' ? none : lines,
    notes: receipt.receipt_id === null ? [] : [`receipt ${receipt.receipt_id}`],
  }
}

export const digest: VerbRecord<DigestOptions, DigestReceipt> = {
  summary: 'let the model write digests of windows from stored analyses',
  description:
    'Looks at the windows of the last 24 hours that hold analysed screenshots, then at older '
    + 'ones in which something changed. A window whose analyses did not change keeps its '
    + 'digest and costs nothing. At most four others are written anew by the model of the '
    + 'report slot, under the purpose gateway.digest. Text goes out, never a picture. The same '
    + 'inputs are never bought twice. With --window-end one window of any age is digested.',
  examples: [
    '$ sallyport shots digest',
    '$ sallyport shots digest --window-end 2026-11-20T14:30Z --json',
  ],
  session: 'none',
  contacts: true,
  exits: [
    'rejected', 'unauthorized', 'conflict', 'blocked', 'budget', 'remote', 'no_state', 'locked',
    'damaged',
    'partial',
  ],
  json: shotsDigest,
  flags: (command) => command
    .option(
      '--window-end <time>', 'only the window that ends there (a time, a day of UTC, or an age)',
    )
    .option(
      '--retry', 'with --window-end: one more paid call after one that was refused or is uncertain',
    ),
  text,
  run: async ({ windowEnd, retry }, deps) => {
    if (retry === true && windowEnd === undefined) {
      throw fail.usage('window_needed', 'Give --retry together with --window-end.')
    }
    const end = windowEnd === undefined
      // Windows are aligned to UTC, so a day is one of UTC here.
      ? undefined : pointInTime('--window-end', windowEnd, deps.clock, 'UTC')
    const { digestTick, digestWindow } = await import('../../../shots/digest/tick.js')
    const request = shotsDigest.request({
      ...(end === undefined ? {} : { window_end: end }), ...(retry === undefined ? {} : { retry }),
    })
    const receipt = await withJobs(deps, (ctx) => (request.window_end === undefined
      ? digestTick(ctx)
      : digestWindow(ctx, { windowEnd: request.window_end, retry: request.retry === true })))
    return shotsDigest.answer(receipt)
  },
}
