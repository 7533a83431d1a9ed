/** `sallyport ledger`: the ceiling, holds and charges, and what a person says of an overrun. */
import { countText } from '../../../base/counted.js'
import { fail } from '../../../base/errors.js'
import { moneyText } from '../../../base/money.js'
import { operation } from '../../../fabric/operation.js'
import { ledger } from '../../../fabric/operations/books.js'
import {
  ledgerReview, type ReservationDocument,
} from '../../../governance/ledger/ledger-contract.js'
import { settleCommand } from '../../../governance/ledger/due.js'
import { amountCell } from '../../amount.js'
import { askVerdict } from '../../ask-verdict.js'
import { limitFlag } from '../../flags.js'
import type { View } from '../../output.js'
import { renderTable } from '../../table.js'
import type { VerbDeps } from '../../verb.js'
import { verbOf } from '../../verb-of.js'

/** What a person has to do about a reservation; empty when nothing. */
const dueOf = ({ state, overrun }: ReservationDocument): string => {
  if (state === 'unknown') return 'settle by hand'
  return overrun === 'review_required' ? 'review the overrun' : ''
}

export const reservationText = (one: ReservationDocument): string => {
  const line = (name: string, value: string): string => `${name.padEnd(11)}${value}\n`
  const due = dueOf(one)
  return [
    line('operation', one.operation_id),
    ...(one.task_id === null ? [] : [line('task', one.task_id)]),
    ...(one.subject === null ? [] : [line('for', one.subject)]),
    line('runtime', `${one.runtime} (${one.profile})`),
    line('state', one.state),
    line('bound', moneyText(one.bound_microusd)),
    line('charged', one.charged_microusd === null ? '-' : moneyText(one.charged_microusd)),
    ...(one.overrun === 'none' ? [] : [line('overrun', one.overrun)]),
    ...(due === '' ? [] : [line('due', due)]),
  ].join('')
}

/** Reservations as a list, newest first. */
export const reservationsTable = (
  view: View, rows: readonly ReservationDocument[],
): Promise<string> => renderTable(
  view, ['operation', 'runtime', 'state', 'bound', 'charged', 'due', 'reason', 'for'],
  rows.map((row) => [
    view.id(row.operation_id), row.runtime, row.state, amountCell(view, row.bound_microusd),
    amountCell(view, row.charged_microusd), dueOf(row), row.reason ?? '',
    row.subject === null ? '-' : view.id(row.subject),
  ]),
)

export const show = verbOf(ledger.show, {
  summary: 'show the ceiling and what is settled, held and unknown',
  description:
    'Shows the one ledger of this state directory. Settled, held and unknown together are '
    + 'compared with the ceiling before any contact. A hold is a local admission hold in this '
    + 'ledger, not a limit that a provider enforces. An unknown charge keeps its full bound '
    + 'until it is settled by hand.',
  examples: ['$ sallyport ledger show', '$ sallyport ledger show --json'],
  exits: ['blocked'],
  text: ({ ledger: sums, open }, view) => {
    if (sums === null) return 'There is no ledger yet; the first set-up of a route makes it.\n'
    const line = (name: string, value: number): string =>
      `${name.padEnd(11)}${moneyText(value)}\n`
    const due = (count: number, what: string, next: string): string => count === 0 ? ''
      : `${view.paint('yellow', 'due')}        ${countText(count, what)}: ${next}\n`
    return [
      line('ceiling', sums.ceiling_microusd),
      line('settled', sums.settled_microusd),
      line('held', sums.held_microusd),
      line('unknown', sums.unknown_microusd),
      line('available', sums.available_microusd),
      due(open.unknown, 'unknown charge', view.told(settleCommand('OPERATION'))),
      due(open.overrun_review_required, 'overrun', view.command('ledger review OPERATION')),
    ].join('')
  },
})

export const reservations = verbOf(ledger.reservations, {
  summary: 'list your holds, unknown charges and overruns, newest first',
  description:
    'Lists your reservations that still hold money or wait for you: reserved, contacted, '
    + 'unknown, or charged above their bound and not reviewed. Those of disabled owners are '
    + 'among them, because nobody else could settle them. --all adds the finished ones. An '
    + 'unknown charge has its reason: http_status_402 is the status that the request got. What '
    + 'was sent for one image names its observation.',
  examples: ['$ sallyport ledger reservations', '$ sallyport ledger reservations --all --json'],
  ids: { after: 'operation' },
  exits: ['rejected'],
  flags: (command) => command
    .option('--all', 'also the settled and released ones')
    .addOption(limitFlag('most reservations'))
    .option('--after <operation>', 'only those older than this one'),
  text: (rows, view) => reservationsTable(view, rows),
})

interface LedgerReviewOptions {
  readonly operation: string
  readonly accept?: boolean
  readonly reject?: boolean
}

const verdictOf = async (
  { accept, reject }: LedgerReviewOptions, deps: VerbDeps,
): Promise<'accept' | 'reject'> => {
  if (accept !== reject) return accept ? 'accept' : 'reject'
  if (accept === undefined && deps.interactive) return askVerdict(deps, ['accept', 'reject'])
  throw fail.usage('one_verdict', 'Give one of --accept and --reject.')
}

export const review = verbOf(operation(ledgerReview, 'mutate',
  async ({ gov, session }, { operation: id, verdict }) => {
    const { reviewAnyOverrun } = await import('../../../fabric/tasks.js')
    return reviewAnyOverrun(gov, session, id, verdict)
  }), {
  summary: 'accept or reject a charge above its bound',
  description:
    'The charge stands either way. Accepting releases the answer that waits for it, if the '
    + 'session, goal and consent that asked for it are still current; rejecting drops it. A '
    + 'verdict is never changed. What a disabled owner left may be rejected by any other.',
  examples: [
    '$ sallyport ledger review op_0190f… --accept',
    '$ sallyport ledger review op_0190f… --reject --json',
  ],
  ids: { operation: 'operation' },
  decides: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'locked'],
  flags: (command) => command
    .argument('<operation>', 'id of the operation, from ledger reservations')
    .option('--accept', 'the overrun is accepted')
    .option('--reject', 'it is not; the answer is dropped'),
  text: reservationText,
  complete: async (line: LedgerReviewOptions, deps) =>
    ({ ...line, verdict: await verdictOf(line, deps) }),
})
