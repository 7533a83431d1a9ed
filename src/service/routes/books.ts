/** What was spent and what was done, over HTTP: reading the ledger and the audit. */
import { isoOfTime } from '../../base/calendar.js'
import { audit, ledger } from '../../fabric/operations/books.js'
import { refusal } from '../http/refusal.js'
import { afterField, limitField } from '../query.js'
import type { Route } from '../route.js'
import { routeOf } from '../route-of.js'

/** The routes. */
export const bookRoutes: readonly Route[] = [
  routeOf(ledger.show, 'GET /api/ledger', 'The ceiling, and what is settled, held and unknown.'),
  routeOf(ledger.reservations, 'GET /api/ledger/reservations',
    'Your holds, unknown charges and overruns, newest first.', {
      paged: true, query: [
        limitField, afterField,
        { name: 'all', what: 'Also the settled and released ones.', kind: 'boolean' },
      ],
    }),
  routeOf(audit.list, 'GET /api/audit', 'What was done, by every owner, newest first.', {
    paged: true, query: [
      limitField, afterField,
      { name: 'since', what: 'From this time on, in UTC: 2026-11-20T10:00:00.000Z.', kind: 'text' },
      { name: 'what', what: 'Only what has this name or begins with it.', kind: 'text' },
      { name: 'principal', what: 'Only what this owner did, by name or id.', kind: 'text' },
    ],
    refine: (request) => {
      if (request.since === undefined) return request
      const since = isoOfTime(request.since)
      // A day or an age is of somebody's zone and clock: a terminal has one, a request has not.
      if (since === null) throw refusal.query('since')
      return { ...request, since }
    },
  }),
  routeOf(audit.show, 'GET /api/audit/{audit_id}',
    'One row of the audit, and whether the chain holds round it.'),
]
