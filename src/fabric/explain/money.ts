/** Ids of money and of what was decided about it: operations, rows of the ledger, decisions. */
import { moneyText } from '../../base/money.js'
import {
  eventsOf, idsOf, type Explained, type ExplainedKinds, type ExplainSite,
} from '../../governance/explained.js'
import { moneyDueOf, settleCommand } from '../../governance/ledger/due.js'
import { answersFor } from '../../governance/ledger/own.js'
import { findReservation, unknownReason } from '../../governance/ledger/find-reservation.js'
import { collections, type LedgerRow, type Reservation } from '../../governance/rows.js'
import { operationOfTask } from './board.js'

const stateTexts: Readonly<Record<Reservation['state'], string>> = {
  reserved: 'Its bound is held; nothing was sent yet.',
  contacted: 'Its request may have left, and its end is not recorded yet; its bound is held.',
  settled: 'Its charge is known.',
  released: 'Nothing was sent, and what was held for it was given back.',
  unknown: 'What it cost is not known; its full bound stays held until a person settles it.',
}

const overrunTexts: Readonly<Record<Reservation['overrun'], string>> = {
  none: '', review_required: ' It is above its bound and waits for a review.',
  accepted: ' It is above its bound, which was accepted.',
  rejected: ' It is above its bound, which was rejected.',
}

const kindTexts: Readonly<Record<LedgerRow['kind'], string>> = {
  reserve: 'held', contact: 'contact begun', recheck: 'checked again', settle: 'settled',
  release: 'released', unknown: 'charge unknown', manual_settle: 'settled by hand',
  overrun_review: 'overrun reviewed', ceiling: 'ceiling changed',
}

/** A reservation that whoever asks answers for; its own and that of a disabled owner. */
const ownMoney = ({ view, session }: ExplainSite, id: string): Reservation | undefined => {
  const found = findReservation(view, id)
  return found !== undefined && answersFor(view, session, found.principal) ? found : undefined
}

const moneySteps = (site: ExplainSite, id: string): readonly string[] => {
  const due = moneyDueOf(site.view, id)
  if (due === null) return []
  return [due.kind === 'settle' ? settleCommand(id) : `sallyport ledger review ${id}`]
}

const explainMoney = (site: ExplainSite, found: Reservation): Explained => {
  const { view } = site
  const { operation_id: id, state, overrun, charged_microusd: charged, row_ids: rows } = found
  const steps = view.getMany(collections.ledgerRows, rows).flatMap((row) =>
    (row === undefined ? [] : [[row.created_at, kindTexts[row.kind]] as const]))
  const cost = charged === null ? '' : ` It cost ${moneyText(charged)}.`
  return {
    state, text: `${stateTexts[state]}${cost}${overrunTexts[overrun]}`,
    facts: {
      runtime: found.runtime, profile: found.profile, bound_microusd: found.bound_microusd,
      charged_microusd: charged, overrun, reason: unknownReason(view, found),
    },
    related: idsOf(found.task_id, found.subject, ...rows),
    events: eventsOf(...steps, [found.updated_at, `last changed, ${state}`]),
    next: [
      ...moneySteps(site, id),
      ...(found.task_id === null ? [] : [`sallyport explain ${found.task_id}`]),
      ...(found.subject === undefined ? [] : [`sallyport explain ${found.subject}`]),
      'sallyport ledger reservations --all',
    ],
  }
}

/** Its kinds. */
export const moneyKinds: ExplainedKinds = {
  op: {
    kind: 'operation',
    short: async () => (await import('../../governance/own-ids.js')).operationIds,
    find: (site, id) => {
      const money = ownMoney(site, id)
      // Work that costs nothing has no reservation; where there is a foreign one nothing is told.
      if (money !== undefined) return explainMoney(site, money)
      return findReservation(site.view, id) === undefined ? operationOfTask(site, id) : undefined
    },
  },
  row: {
    kind: 'row of the ledger',
    find: (site, id) => {
      const row = site.view.get(collections.ledgerRows, id)
      if (row === undefined) return undefined
      const money = ownMoney(site, row.operation_id)
      if (money === undefined && row.kind !== 'ceiling') return undefined
      return {
        state: row.kind, text: `It is a step of the ledger: ${kindTexts[row.kind]}.`,
        facts: { amount_microusd: row.amount_microusd, runtime: row.runtime, profile: row.profile },
        related: idsOf(money?.operation_id, row.ledger_id),
        events: eventsOf([row.created_at, kindTexts[row.kind]]),
        next: money === undefined
          ? ['sallyport ledger show'] : [`sallyport explain ${row.operation_id}`],
      }
    },
  },
  led: {
    kind: 'ledger',
    find: ({ view }, id) => {
      const account = view.get(collections.ledgerAccounts, id)
      return account === undefined ? undefined : {
        state: null, text: 'It is the one ledger of this state: every charge is in it.',
        facts: {
          ceiling_microusd: account.ceiling_microusd, settled_microusd: account.settled_microusd,
          held_microusd: account.held_microusd, unknown_microusd: account.unknown_microusd,
          rows: account.rows,
        },
        related: [], events: eventsOf([account.created_at, 'opened']),
        next: ['sallyport ledger show', 'sallyport ledger reservations'],
      }
    },
  },
  dec: {
    kind: 'trust decision',
    find: (site, id) => {
      const made = site.view.get(collections.decisions, id)
      if (made === undefined) return undefined
      const { operation_id: op, outcome, reasons } = made
      const isSeen = ownMoney(site, op) !== undefined
        || made.request['principal'] === site.session.principal.principal_id
      return !isSeen ? undefined : {
        state: outcome,
        text: outcome === 'allow' ? 'It allowed one operation to contact its provider.'
          : `It refused one operation (${reasons.join(', ')}).`,
        facts: { request_digest: made.request_digest }, related: idsOf(op),
        events: eventsOf([made.made_at, outcome === 'allow' ? 'allowed' : 'refused']),
        next: [`sallyport explain ${op}`],
      }
    },
  },
}
