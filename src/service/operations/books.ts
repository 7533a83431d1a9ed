/** What was spent and what was done, over HTTP: reading the ledger and the audit. */
import * as v from 'valibot'
import { iso } from '../../base/fields.js'
import { firstRows } from '../../base/page.js'
import { auditList, auditShow } from '../../governance/audit-contract.js'
import { auditLink, findAudit } from '../../governance/audit-read.js'
import { ledgerReservations, ledgerShow } from '../../governance/ledger/contract.js'
import { ownReservations } from '../../governance/ledger/own.js'
import { ledgerStanding } from '../../governance/ledger/read.js'
import { refusal } from '../http/refusal.js'
import { ListPart, type Call, type Operation, type QueryField } from '../operation.js'
import { pagedField, requestOfQuery } from '../query.js'

const limitField: QueryField =
  { name: 'limit', what: 'At most so many (default 50).', kind: 'integer' }
const afterField: QueryField =
  { name: 'after', what: 'Only those older than this one.', kind: 'text' }

const reservationFields: readonly QueryField[] = [
  limitField, afterField,
  { name: 'all', what: 'Also the settled and released ones.', kind: 'boolean' }, pagedField,
]

const reservations = async ({ gov, session, asked }: Call): Promise<unknown> => {
  const { all = false, limit, after } =
    ledgerReservations.request({ limit: 50, ...requestOfQuery(asked, reservationFields) })
  const view = gov.store.read()
  const { rows, last } = firstRows(
    ownReservations(view, session, { closed: all, limit: limit + 1, after }), limit)
  return new ListPart(ledgerReservations.answer({ view, rows }), last?.operation_id ?? null)
}

const auditFields: readonly QueryField[] = [
  limitField, afterField,
  { name: 'since', what: 'From this time on, in UTC: 2026-11-20T10:00:00.000Z.', kind: 'text' },
  { name: 'what', what: 'Only what has this name or begins with it.', kind: 'text' },
  { name: 'principal', what: 'Only what this owner did, by name or id.', kind: 'text' },
  pagedField,
]

const audit = async ({ gov, asked }: Call): Promise<unknown> => {
  const request = auditList.request({ limit: 50, ...requestOfQuery(asked, auditFields) })
  // A day or an age is of somebody's zone and clock: a terminal has one, a request has not.
  if (request.since !== undefined && !v.is(iso, request.since)) throw refusal.query('since')
  const { rows, last } = firstRows(
    findAudit(gov.store.read(), { ...request, limit: request.limit + 1 }), request.limit)
  return new ListPart(auditList.answer(rows), last?.row.audit_id ?? null)
}

const read = { method: 'GET', mode: 'read', body: null, status: 200, where: 'here' } as const
/** Money of a process that died is told as recovery will record it. */
const see = { ...read, mode: 'see' } as const

/** The operations. */
export const bookOperations: readonly Operation[] = [
  {
    ...see, contract: ledgerShow, path: '/api/ledger', verb: 'ledger show',
    summary: 'The ceiling, and what is settled, held and unknown.',
    run: async ({ gov }) => ledgerShow.answer(ledgerStanding(gov.store.read())),
  },
  {
    ...see, contract: ledgerReservations, path: '/api/ledger/reservations',
    verb: 'ledger reservations', query: reservationFields, paged: true,
    summary: 'Your holds, unknown charges and overruns, newest first.', run: reservations,
  },
  {
    ...read, contract: auditList, path: '/api/audit', verb: 'audit list', query: auditFields,
    paged: true, summary: 'What was done, by every owner, newest first.', run: audit,
  },
  {
    ...read, contract: auditShow, path: '/api/audit/{audit_id}', verb: 'audit show',
    summary: 'One row of the audit, and whether the chain holds round it.',
    run: async ({ gov, asked: { params } }) => {
      const { audit: id } = auditShow.request({ audit: params['audit_id'] })
      return auditShow.answer(auditLink(gov.store.read(), id))
    },
  },
]
