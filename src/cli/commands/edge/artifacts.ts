/** `sallyport edge artifacts`: what the operator's devices sent. */
import { edgeArtifactList } from '../../../edge/contract.js'
import { edgeArtifacts } from '../../../edge/read.js'
import { nextPage } from '../../cut.js'
import { integerFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { bytesText } from '../../text.js'
import { verb } from '../../verb.js'

const pageMax = 1_000

export const artifacts = verb(edgeArtifactList, {
  summary: 'what your devices sent, newest first',
  description:
    'Lists what your devices sent: facts alone, never a picture. Where there is more, the last '
    + 'line says how to go on.',
  examples: ['$ sallyport edge artifacts', '$ sallyport edge artifacts --limit 10 --json'],
  session: 'required',
  ids: { device: 'device', before: 'capture' },
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'no_state', 'damaged'],
  flags: (command) => command
    .option('--device <id>', 'only what this device sent')
    .addOption(integerFlag('--limit <n>', 'at most so many', { min: 1, max: pageMax }))
    .option('--before <id>', 'only those that came before this one'),
  text: async ({ artifacts, next_page: next }, view) => ({
    out: artifacts.length === 0 ? 'Nothing was sent yet.\n' : await renderTable(view,
      ['artifact', 'sequence', 'captured', 'received', 'kind', 'size'],
      artifacts.map((one) => [
        view.id(one.artifact_id), String(one.sequence), one.captured_at, one.received_at, one.mime,
        bytesText(one.bytes),
      ])),
    notes: next === null ? [] : [`More: ${next}`],
  }),
  run: async (request, deps) => {
    const { gov, session } = await deps.login('read')
    const page = edgeArtifacts(gov.store.read(), session, request)
    if (page.next !== null) deps.cut = { flag: '--before', value: page.next }
    return { ...page, nextPage: nextPage(deps) }
  },
})
