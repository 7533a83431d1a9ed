import { auditList, auditShow } from '../../governance/audit-contract.js'
import { auditLink, findAudit } from '../../governance/audit-read.js'
import { ledgerReservations, ledgerShow } from '../../governance/ledger/ledger-contract.js'
import { ownReservations } from '../../governance/ledger/own.js'
import { ledgerStatus } from '../../governance/ledger/find-reservation.js'
import { firstPart, operation } from '../operation.js'

/** What was spent. Money of a process that died is told as recovery will record it. */
export const ledger = {
  show: operation(ledgerShow, 'see', ({ gov }) => ledgerStatus(gov.store.read())),
  reservations: operation(ledgerReservations, 'see', (work, { all = false, limit, after }) => {
    const view = work.gov.store.read()
    const rows = firstPart(work, limit, (most) => ownReservations(view, work.session, {
      closed: all, limit: most, after,
    }), (row) => row.operation_id)
    return { view, rows }
  }),
}

/** What was done. */
export const audit = {
  list: operation(auditList, 'read', (work, request) => firstPart(
    work, request.limit, (limit) => findAudit(work.gov.store.read(), { ...request, limit }),
    ({ row }) => row.audit_id)),
  show: operation(auditShow, 'read', ({ gov }, request) =>
    auditLink(gov.store.read(), request.audit)),
}
