import { Option } from 'commander'
import { sha256Hex } from '../../../base/canonical.js'
import { countText } from '../../../base/counted.js'
import { fail } from '../../../base/errors.js'
import { microusdOf, moneyText } from '../../../base/money.js'
import type { Work } from '../../../fabric/operation.js'
import { settleCharges } from '../../../fabric/tasks.js'
import { chargeRange, type ChargeRange, type Unbounded } from '../../../gateway/usage/range.js'
import { requireUnknownCharge, type FoundAmount } from '../../../governance/ledger/by-hand.js'
import {
  ledgerReservations, ledgerSettle, reasonOfWhere, whereForm, type SettledDocument,
  type SettleDocument,
} from '../../../governance/ledger/ledger-contract.js'
import { amountMicrousdMax } from '../../../governance/ledger/ledger-limits.js'
import { ownUnknownFor, settledAtOnceMax } from '../../../governance/ledger/own.js'
import type { Reservation } from '../../../governance/rows.js'
import { moneyFlag } from '../../flags.js'
import { readInput } from '../../input.js'
import { tell } from '../../output.js'
import { requestOf } from '../../request.js'
import type { VerbDeps, VerbRecord } from '../../verb.js'
import { workFor } from '../../work.js'
import { reservationsTable, reservationText } from './ledger.js'

const why: Readonly<Record<Unbounded, string>> = {
  no_reading_before: 'none was taken before it under the same count',
  no_reading_after: 'none was taken after it yet',
  another_key: 'the key was changed between them',
  went_down: 'the gateway told less than before',
  billed_elsewhere: 'some of it is billed by an upstream itself',
  late_or_shared: 'they contradict the replies: the key counts late, or others use it',
  not_confirmed: 'none shows yet that all is counted',
  too_coarse: 'they are too coarse for it',
  more_than_held: 'they tell more than was held for it',
}

const time = (iso: string): string => iso.replace(/\.\d+Z$/, 'Z')

/** What a person reads of a range before an amount is typed. */
const rangeText = (range: ChargeRange): string => {
  if (!range.bounding) return `Readings of the key's usage give no range: ${why[range.reason]}.`
  const { lowMicrousd, highMicrousd, of, before, after, confirmed } = range
  const whose = of === 1 ? 'this charge' : `${countText(of, 'unknown charge')} together`
  return `Readings of the key's usage put ${whose} between ${moneyText(lowMicrousd)} and `
    + `${moneyText(highMicrousd)}\n(read ${time(before)} and ${time(after)}, the same at `
    + `${time(confirmed)}).\nThey show what was counted by then; the bill decides.`
}

interface SettleOptions {
  readonly operation?: string
  readonly where?: string
  readonly amountMicrousd?: number
  readonly noteFile?: string
  readonly yes?: boolean
}

const noteBytesMax = 65_536

/** Judged as it is read, so that nothing else is asked before. */
const whereFlag = (): Option =>
  new Option(`--where <${whereForm}>`, 'all unknown charges with that status').argParser((text) => {
    if (reasonOfWhere(text) !== null) return text
    throw fail.rejected('flag_invalid', `Flag --where must be ${whereForm}, as status=402.`, {
      details: { field: '--where', rule: 'format' },
    })
  })

const settledText = ({ settled, more }: SettledDocument): string => {
  const amount = moneyText(settled[0]?.charged_microusd ?? 0)
  return `${countText(settled.length, 'charge')} settled at ${amount} each, in one record.\n`
    + (more ? 'There are more of them: run it again.\n' : '')
}

const amountOf = (text: string): number | null =>
  microusdOf(text) ?? (/^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : null)

const amountProblem = (text: string): string | null =>
  (amountOf(text) === null ? 'Write it as 0.0138usd, or as an integer of micro-USD.' : null)

const amountMissing = (): Error =>
  fail.usage('amount_required', 'The billed amount is missing.', {
    next: 'Give it as in --amount 0.0138usd; 0usd says that it was free.',
  })

/** What readings of the key's usage say of a charge; nothing where none was taken around it. */
const showRange = async (
  deps: VerbDeps, { gov, session }: Work, operationId: string,
): Promise<void> => {
  requireUnknownCharge(gov.store.read(), session, operationId)
  const range = chargeRange(gov.store.read(), operationId)
  if (range === null) return
  deps.progress.clear()
  tell(deps.io, rangeText(range))
}

/** The amount of the flag; on a terminal it is asked for where none was given. */
const askedAmount = async (
  { amountMicrousd, operation }: SettleOptions, deps: VerbDeps, by: Work,
): Promise<number> => {
  if (operation !== undefined) await showRange(deps, by, operation)
  if (amountMicrousd !== undefined) return amountMicrousd
  const prompter = await deps.ask('Give --amount USD.')
  const text = await prompter.text('Billed amount, as 0.0138usd:', undefined, amountProblem)
  const amount = amountOf(text)
  if (amount === null) throw amountMissing()
  return amount
}

const noteDigest = async (options: SettleOptions, deps: VerbDeps): Promise<string | undefined> => {
  if (options.noteFile === undefined) return undefined
  const source = { from: options.noteFile, flag: '--note-file', bytesMax: noteBytesMax }
  return sha256Hex(await readInput(deps, source))
}

const requireOneSelection = ({ operation, where }: SettleOptions): void => {
  if ((operation === undefined) !== (where === undefined)) return
  throw fail.usage('one_charge_or_where', `Name one operation, or give --where ${whereForm}.`, {
    next: 'Run `sallyport ledger reservations`.',
  })
}

/** What is recorded, and whether the line has said yes to it. */
interface Decided {
  readonly found: FoundAmount
  readonly yes: boolean
}

/** The charges that a status selects, shown before anything is asked. */
const shownFor = async (
  deps: VerbDeps, { gov, session }: Work, reason: string,
): Promise<ReturnType<typeof ownUnknownFor>> => {
  const view = gov.store.read()
  const found = ownUnknownFor(view, session, reason)
  if (found.rows.length === 0) {
    throw fail.notFound('no_charge_matches', `No unknown charge of yours has ${reason}.`, {
      next: 'Run `sallyport ledger reservations`.',
    })
  }
  deps.progress.clear()
  // Also with --quiet: nobody is asked about what was not shown.
  const table = await reservationsTable(deps.view, ledgerReservations.answer({ view, ...found }))
  tell(deps.io, table.trimEnd())
  if (found.more) {
    const most = settledAtOnceMax.toLocaleString('en')
    tell(deps.io, `The newest ${most} are taken; run it again for the rest.`)
  }
  return found
}

const settleAll = async (
  deps: VerbDeps, by: Work, reason: string, { found, yes }: Decided,
): Promise<SettleDocument> => {
  const { rows, more } = await shownFor(deps, by, reason)
  if (!yes) {
    const held = rows.reduce((sum, row) => sum + row.bound_microusd, 0)
    await deps.confirm(
      `Record ${moneyText(found.amount)} as the charge of each of these `
        + `${countText(rows.length, 'operation')} (${moneyText(held)} held)?`, '--yes')
  }
  const ids = rows.map(({ operation_id: id }) => id)
  return ledgerSettle.answer({ settled: await settleCharges(by.gov, by.session, ids, found), more })
}

const settleOne = async (
  deps: VerbDeps, { gov, session }: Work, operationId: string, { found, yes }: Decided,
): Promise<SettleDocument> => {
  if (!yes) {
    const amount = moneyText(found.amount)
    await deps.confirm(`Record ${amount} as the charge of this operation?`, '--yes')
  }
  const [settled] = await settleCharges(gov, session, [operationId], found)
  return ledgerSettle.answer(settled as Reservation)
}

export const settle: VerbRecord<SettleOptions, SettleDocument> = {
  summary: 'settle an unknown charge by hand, or all of one status',
  description:
    'Records what the bill of the provider says for an operation whose charge is not known, in '
    + 'place of its full bound. The task of the operation stays blocked until `task close`: no '
    + 'answer comes back and nothing is sent again. The row names you and the session; of a note '
    + 'only the SHA-256 is kept. An amount above the bound waits for a review like any overrun. '
    + 'The daily screenshot budget then counts the amount instead of the bound. With '
    + `--where ${whereForm} you settle all your unknown charges whose request was answered with `
    + 'that status (reason http_status_NNN in ledger reservations). They are shown first, then '
    + 'settled at that amount each, in one record. It is all or none, the newest '
    + `${settledAtOnceMax.toLocaleString('en')} at a time.`,
  examples: [
    '$ sallyport ledger settle op_0190f… --amount 0.00184usd',
    '$ sallyport ledger settle --where status=402 --amount 0usd',
    '$ sallyport ledger settle op_0190f… --amount 0usd --note-file bill.txt --yes --json',
  ],
  ids: { operation: 'operation' },
  decides: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'locked'],
  json: ledgerSettle,
  flags: (command) => command
    .argument('[operation]', 'id of the operation, from ledger reservations')
    .addOption(whereFlag())
    .addOption(moneyFlag('--amount-microusd <n>', 'what was billed', {
      min: 0, max: amountMicrousdMax,
    }))
    .option('--note-file <file>', 'a note whose SHA-256 goes into the row; - for stdin')
    .option('--yes', 'do not ask'),
  text: (found) => 'settled' in found ? settledText(found) : reservationText(found),
  run: async (options, deps) => {
    requireOneSelection(options)
    if (options.amountMicrousd === undefined && !deps.interactive) throw amountMissing()
    const noted = await noteDigest(options, deps)
    // What the request says besides is judged before anything is opened.
    requestOf(ledgerSettle, {
      ...options, amountMicrousd: options.amountMicrousd ?? 0, noteDigest: noted,
    })
    const by = await workFor(deps, 'mutate')
    const {
      operation, where, amount_microusd: amount, note_digest: note,
    } = requestOf(ledgerSettle, {
      ...options, amountMicrousd: await askedAmount(options, deps, by), noteDigest: noted,
    })
    const decided: Decided = {
      found: { amount, ...(note === undefined ? {} : { note_digest: note }) },
      yes: options.yes === true,
    }
    const reason = where === undefined ? null : reasonOfWhere(where)
    if (reason !== null) return settleAll(deps, by, reason, decided)
    return settleOne(deps, by, operation ?? '', decided)
  },
}
