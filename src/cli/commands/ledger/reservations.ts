import {
  ledgerReservations, type ReservationDocument,
} from '../../../governance/ledger/contract.js'
import { ownReservations } from '../../../governance/ledger/own.js'
import { cutAt } from '../../cut.js'
import { integerFlag } from '../../flags.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { reservationsTable } from './text.js'

/** Flags of `ledger reservations`. */
export interface ReservationsOptions {
  readonly all?: boolean
  readonly limit: number
  readonly after?: string
}

const definition: VerbDefinition<ReservationDocument[]> = {
  meta: {
    name: 'ledger reservations',
    summary: 'list your holds, unknown charges and overruns, newest first',
    description:
      'Lists your reservations that still hold money or wait for you: reserved, contacted, '
      + 'unknown, or charged above their bound and not reviewed. Those of disabled owners are '
      + 'among them, because nobody else could settle them. --all adds the finished ones. An '
      + 'unknown charge has its reason: http_status_402 is the status that the request got. What '
      + 'was sent for one image names its observation.',
    examples: ['$ sallyport ledger reservations', '$ sallyport ledger reservations --all --json'],
    session: 'required',
    ids: { after: 'operation' },
    damage: 'refuses',
    exits: ['rejected', 'unauthorized', 'no_state', 'damaged'],
    json: ledgerReservations,
  },
  flags: (command) => command
    .option('--all', 'also the settled and released ones')
    .addOption(
      integerFlag('--limit <n>', 'most reservations', { min: 1, max: 10_000 }).default(50),
    )
    .option('--after <operation>', 'only those older than this one'),
  text: (rows, view) => reservationsTable(view, rows),
}

/** Lists. */
export const run: Run<ReservationsOptions, ReservationDocument[]> = async (options, deps) => {
  const { all = false, limit, after } = requestOf(ledgerReservations, options)
  const { gov, session } = await deps.login('see')
  const view = gov.store.read()
  const found = ownReservations(view, session, { closed: all, limit: limit + 1, after })
  const rows = cutAt(deps, found, limit, ({ operation_id: id }) => id)
  return ledgerReservations.answer({ view, rows })
}

/** Parses a line of `ledger reservations`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
