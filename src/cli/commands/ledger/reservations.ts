import * as v from 'valibot'
import { ownReservations } from '../../../governance/ledger/own.js'
import { integerFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import {
  dueOf, reservationFacts, reservationFactsShape, type ReservationFacts,
} from './facts.js'

/** Flags of `ledger reservations`. */
export interface ReservationsOptions {
  readonly all?: boolean
  readonly limit: number
}

const definition: VerbDefinition<ReservationFacts[]> = {
  meta: {
    name: 'ledger reservations',
    summary: 'list your holds, unknown charges and overruns, newest first',
    description:
      'Lists your reservations that still hold money or wait for you: reserved, contacted, '
      + 'unknown, or charged above their bound and not reviewed. Those of disabled owners are '
      + 'among them, because nobody else could settle them. --all adds the finished ones.',
    examples: ['$ sallyport ledger reservations', '$ sallyport ledger reservations --all --json'],
    session: 'required',
    exits: ['unauthorized', 'no_state', 'damaged'],
    json: { version: 1, schema: v.array(reservationFactsShape) },
  },
  flags: (command) => command
    .option('--all', 'also the settled and released ones')
    .addOption(
      integerFlag('--limit <n>', 'most reservations', { min: 1, max: 10_000 }).default(50),
    ),
  text: (rows, view) => renderTable(
    view, ['operation', 'runtime', 'state', 'bound', 'charged', 'due'],
    rows.map((row) => [
      row.operation_id, row.runtime, row.state, String(row.bound_microusd),
      row.charged_microusd === null ? '-' : String(row.charged_microusd), dueOf(row),
    ]),
  ),
}

/** Lists. */
export const run: Run<ReservationsOptions, ReservationFacts[]> = async (options, deps) => {
  const { gov, session } = await deps.login('read')
  return ownReservations(gov.store.read(), session, { closed: options.all ?? false })
    .slice(0, options.limit)
    .map(reservationFacts)
}

/** Parses a line of `ledger reservations`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
