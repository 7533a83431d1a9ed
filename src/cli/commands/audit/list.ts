import { auditList, type AuditDocument } from '../../../governance/audit-contract.js'
import { findAudit } from '../../../governance/audit-read.js'
import { cutAt } from '../../cut.js'
import { integerFlag } from '../../flags.js'
import { requestOf } from '../../request.js'
import { renderTable } from '../../table.js'
import type { LineOf, VerbRecord } from '../../verb.js'
import { timeZoneOf } from '../../../observations/zone.js'
import { pointInTime } from '../../since.js'
import { factsText } from './text.js'

/** Flags of `audit list`. */
export type AuditListOptions = LineOf<typeof auditList>

export const list: VerbRecord<AuditListOptions, AuditDocument[]> = {
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
  session: 'required',
  ids: { after: 'audit' },
  damage: 'shows',
  exits: ['rejected', 'unauthorized', 'not_found', 'no_state', 'damaged'],
  json: auditList,
  flags: (command) => command
    .addOption(integerFlag('--limit <n>', 'most rows', { min: 1, max: 10_000 }).default(50))
    .option('--since <time>', 'from a day, a time or an age on: 2026-11-20, 2026-11-20T10:00Z, 8h')
    .option('--what <name>', 'only what has this name or begins with it: session, session.login')
    .option('--principal <owner>', 'only what this owner did, by name or id')
    .option('--after <row>', 'only those older than this one'),
  text: (rows, view) => renderTable(
    view, ['row', 'at', 'what', 'owner', 'subject', 'facts'],
    rows.map((row) => [
      view.id(row.id), row.at, row.what, row.principal_name ?? row.principal ?? '-',
      view.id(row.subject ?? '-'), factsText(row),
    ]),
  ),
  run: async (options, deps) => {
    const { since, ...given } = options
    const from = since === undefined
      ? undefined : pointInTime('--since', since, deps.clock, timeZoneOf(deps.env))
    const request = requestOf(auditList, { ...given, since: from })
    const { gov } = await deps.login('read')
    const found = findAudit(gov.store.read(), { ...request, limit: request.limit + 1 })
    return auditList.answer(cutAt(deps, found, request.limit, ({ row }) => row.audit_id))
  },
}
