import { ledgerReservations } from '../../../governance/ledger/contract.js'
import { ownReservations } from '../../../governance/ledger/own.js'
import { cutAt } from '../../cut.js'
import { integerFlag } from '../../flags.js'
import { verb } from '../../verb.js'
import { reservationsTable } from './text.js'

export const reservations = verb(ledgerReservations, {
  summary: 'list your holds, unknown charges and overruns, newest first',
  description:
    'Lists your reservations that still hold money or wait for you: reserved, contacted, '
    + 'unknown, or charged above their bound and not reviewed. Those of disabled owners are '
    + 'among them, because nobody else could settle them. --all adds the finished ones. An '
    + 'unknown charge has its reason: http_status_402 is the status that the request got.',
  examples: ['$ sallyport ledger reservations', '$ sallyport ledger reservations --all --json'],
  session: 'required',
  ids: { after: 'operation' },
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'no_state', 'damaged'],
  flags: (command) => command
    .option('--all', 'also the settled and released ones')
    .addOption(
      integerFlag('--limit <n>', 'most reservations', { min: 1, max: 10_000 }).default(50),
    )
    .option('--after <operation>', 'only those older than this one'),
  text: (rows, view) => reservationsTable(view, rows),
  run: async ({ all = false, limit, after }, deps) => {
    const { gov, session } = await deps.login('see')
    const view = gov.store.read()
    const found = ownReservations(view, session, { closed: all, limit: limit + 1, after })
    const rows = cutAt(deps, found, limit, ({ operation_id: id }) => id)
    return { view, rows }
  },
})
