/** `sallyport audit`: who did what. */
import { audit } from '../../../fabric/operations/books.js'
import type { AuditDocument } from '../../../governance/audit-contract.js'
import { limitFlag } from '../../flags.js'
import { withSince } from '../../since.js'
import { renderTable } from '../../table.js'
import { fieldLines } from '../../text.js'
import { verbOf } from '../../verb-of.js'

/** The facts of a row in one line: `name=value`, separated by spaces. */
const factsText = ({ facts }: AuditDocument): string =>
  Object.entries(facts).map(([name, value]) => `${name}=${String(value)}`).join(' ')

export const list = verbOf(audit.list, {
  summary: 'list what was done, newest first',
  description:
    'Lists rows of the audit, of every owner: logins, consents, tasks, money settled by hand, '
    + 'recoveries. Rows hold ids, names and numbers, never a question, an answer or a key. The '
    + 'audit is only ever appended to, and each row names the digest of the one before.',
  examples: [
    '$ sallyport audit list',
    '$ sallyport audit list --what session --since 8h',
    '$ sallyport audit list --principal maria --limit 500 --json',
  ],
  ids: { after: 'audit' },
  damage: 'shows',
  exits: ['rejected', 'not_found'],
  flags: (command) => command
    .addOption(limitFlag('most rows'))
    .option('--since <time>', 'from a day, a time or an age on: 2026-11-20, 2026-11-20T10:00Z, 8h')
    .option('--what <name>', 'only what has this name or begins with it: session, session.login')
    .option('--principal <owner>', 'only what this owner did, by name or id')
    .option('--after <row>', 'only those older than this one'),
  text: (rows, view) => renderTable(
    view, ['row', 'at', 'what', 'owner', 'subject', 'facts'],
    rows.map((row) => [
      view.id(row.id), view.time(row.at), row.what, row.principal_name ?? row.principal ?? '-',
      view.id(row.subject ?? '-'), factsText(row),
    ]),
  ),
  complete: withSince,
})

export const show = verbOf(audit.show, {
  summary: 'show one row of the audit and whether the chain holds round it',
  description:
    'Shows a row, its digest, the rows before and after it, and whether each names the other '
    + 'as it is. Where they do not, a row was altered, lost or added there, and the status is '
    + '12. The whole chain is checked by `state check`.',
  examples: ['$ sallyport audit show aud_0190f…', '$ sallyport audit show aud_0190f… --json'],
  ids: { audit: 'audit' },
  damage: 'shows',
  exits: ['rejected', 'not_found'],
  flags: (command) => command.argument('<audit>', 'id of the row, from audit list'),
  text: ({ audit: row, chain }, view) => fieldLines([
    ['row', `${row.id}, ${row.number} of ${chain.rows}`],
    ['at', row.at],
    ['what', row.what],
    ['owner', row.principal_name ?? row.principal ?? '-'],
    ['session', row.root ?? '-'],
    ['subject', row.subject ?? '-'],
    ['facts', view.foreign(factsText(row))],
    ['before it', chain.previous_id ?? 'none, it is the first'],
    ['after it', chain.next_id ?? 'none, it is the newest'],
    ['digest', chain.digest],
    ['chain', chain.verifies
      ? view.paint('green', 'holds here') : view.paint('red', 'broken here')],
  ]),
})
