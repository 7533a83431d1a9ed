import { countText } from '../../../base/counted.js'
import { moneyText } from '../../../base/money.js'
import { ledgerShow } from '../../../governance/ledger/contract.js'
import { settleCommand } from '../../../governance/ledger/due.js'
import { ledgerStanding } from '../../../governance/ledger/read.js'
import { verb } from '../../verb.js'

export const show = verb(ledgerShow, {
  summary: 'show the ceiling and what is settled, held and unknown',
  description:
    'Shows the one ledger of this state directory. Settled, held and unknown together are '
    + 'compared with the ceiling before any contact. A hold is a local admission hold in this '
    + 'ledger, not a limit that a provider enforces. An unknown charge keeps its full bound '
    + 'until it is settled by hand.',
  examples: ['$ sallyport ledger show', '$ sallyport ledger show --json'],
  session: 'required',
  damage: 'refuses',
  exits: ['unauthorized', 'blocked', 'no_state', 'damaged'],
  text: ({ ledger, open }, view) => {
    if (ledger === null) return 'There is no ledger yet; the first set-up of a route makes it.\n'
    const line = (name: string, value: number): string =>
      `${name.padEnd(11)}${moneyText(value)}\n`
    const due = (count: number, what: string, next: string): string => count === 0 ? ''
      : `${view.paint('yellow', 'due')}        ${countText(count, what)}: ${next}\n`
    return [
      line('ceiling', ledger.ceiling_microusd),
      line('settled', ledger.settled_microusd),
      line('held', ledger.held_microusd),
      line('unknown', ledger.unknown_microusd),
      line('available', ledger.available_microusd),
      due(open.unknown, 'unknown charge', settleCommand('OPERATION')),
      due(open.overrun_review_required, 'overrun', 'sallyport ledger review OPERATION'),
    ].join('')
  },
  run: async (_request, deps) => {
    const { gov } = await deps.login('see')
    return ledgerStanding(gov.store.read())
  },
})
