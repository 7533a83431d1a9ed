import { auditShow } from '../../../governance/audit-contract.js'
import { auditLink } from '../../../governance/audit-read.js'
import { fieldLines } from '../../text.js'
import { verb } from '../../verb.js'
import { factsText } from './text.js'

export const show = verb(auditShow, {
  summary: 'show one row of the audit and whether the chain holds round it',
  description:
    'Shows a row, its digest, the rows before and after it, and whether each names the other '
    + 'as it is. Where they do not, a row was altered, lost or added there, and the status is '
    + '12. The whole chain is checked by `state check`.',
  examples: ['$ sallyport audit show aud_0190f…', '$ sallyport audit show aud_0190f… --json'],
  session: 'required',
  ids: { audit: 'audit' },
  damage: 'shows',
  exits: ['rejected', 'unauthorized', 'not_found', 'no_state', 'damaged'],
  flags: (command) => command.argument('<audit>', 'id of the row, from audit list'),
  text: ({ audit, chain }, view) => fieldLines([
    ['row', `${audit.id}, ${audit.number} of ${chain.rows}`],
    ['at', audit.at],
    ['what', audit.what],
    ['owner', audit.principal_name ?? audit.principal ?? '-'],
    ['session', audit.root ?? '-'],
    ['subject', audit.subject ?? '-'],
    ['facts', view.foreign(factsText(audit))],
    ['before it', chain.previous_id ?? 'none, it is the first'],
    ['after it', chain.next_id ?? 'none, it is the newest'],
    ['digest', chain.digest],
    ['chain', chain.verifies
      ? view.paint('green', 'holds here') : view.paint('red', 'broken here')],
  ]),
  run: async ({ audit }, deps) => {
    const { gov } = await deps.login('read')
    return auditLink(gov.store.read(), audit)
  },
})
