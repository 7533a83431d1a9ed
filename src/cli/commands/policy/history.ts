import { policyHistory } from '../../../governance/policy/contract.js'
import { listPolicy } from '../../../governance/policy/head.js'
import { cutAt } from '../../cut.js'
import { integerFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { verb } from '../../verb.js'

export const history = verb(policyHistory, {
  summary: 'list the published policy revisions, newest first',
  description: 'Lists the revisions with state, reason, epoch and fence, newest first.',
  examples: ['$ sallyport policy history --limit 5', '$ sallyport policy history --json'],
  session: 'required',
  damage: 'refuses',
  exits: ['unauthorized', 'no_state', 'damaged'],
  flags: (command) => command
    .addOption(integerFlag('--limit <n>', 'most revisions', { min: 1, max: 100_000 }).default(50))
    .addOption(integerFlag(
      '--after <revision>', 'only those below this one', { min: 1, max: Number.MAX_SAFE_INTEGER },
    )),
  text: (rows, view) => renderTable(
    view, ['revision', 'state', 'reason', 'epoch', 'fence', 'published'],
    rows.map((row) => [
      String(row.revision), row.state, row.reason, String(row.epoch), String(row.fence),
      row.published_at,
    ]),
  ),
  run: async ({ limit, after }, deps) => {
    const { gov } = await deps.login('read')
    const found = listPolicy(gov.store.read(), limit + 1, after)
    return cutAt(deps, found, limit, ({ revision }) => String(revision))
  },
})
