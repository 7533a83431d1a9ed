import { microusdOf, moneyText } from '../../../base/money.js'
import { fail } from '../../../base/errors.js'
import { sha256Hex } from '../../../base/canonical.js'
import { ledgerSettle, type ReservationDocument } from '../../../governance/ledger/contract.js'
import { amountMicrousdMax } from '../../../governance/ledger/limits.js'
import { settleAnyCharge } from '../../../fabric/tasks.js'
import { requireUnknownCharge } from '../../../governance/ledger/by-hand.js'
import type { VerbDeps } from '../../bound.js'
import { moneyFlag } from '../../flags.js'
import { readInput } from '../../input.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { reservationText } from './text.js'

/** Flags of `ledger settle`. */
export interface SettleOptions {
  readonly operation: string
  readonly amountMicrousd?: number
  readonly noteFile?: string
  readonly yes?: boolean
}

const noteBytesMax = 65_536

const definition: VerbDefinition<ReservationDocument> = {
  meta: {
    name: 'ledger settle',
    summary: 'settle an unknown charge by hand',
    description:
      'Records what the bill of the provider says for an operation whose charge is not known, in '
      + 'place of its full bound. The task of the operation stays blocked until `task close`: no '
      + 'answer comes back and nothing is sent again. The row names you and the session; of a note '
      + 'only the SHA-256 is kept. An amount above the bound waits for a review like any overrun. '
      + 'The day of the screenshot budget counts the amount from then on, no longer the bound.',
    examples: [
      '$ sallyport ledger settle op_0190f… --amount-microusd 1840',
      '$ sallyport ledger settle op_0190f… --amount-microusd 0 --note-file bill.txt --yes --json',
    ],
    session: 'required',
    ids: { operation: 'operation' },
    decides: true,
    damage: 'refuses',
    exits: [
      'rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'locked',
      'damaged',
    ],
    json: ledgerSettle,
  },
  flags: (command) => command
    .argument('<operation>', 'id of the operation, from ledger reservations')
    .addOption(moneyFlag('--amount-microusd <n>', 'what was billed', {
      min: 0, max: amountMicrousdMax,
    }))
    .option('--note-file <file>', 'a note whose SHA-256 goes into the row; - for stdin')
    .option('--yes', 'do not ask'),
  text: reservationText,
}

const amountOf = (text: string): number | null =>
  microusdOf(text) ?? (/^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : null)

const amountProblem = (text: string): string | null =>
  (amountOf(text) === null ? 'Write it as 0.0138usd, or as an integer of micro-USD.' : null)

/** The amount of the flag; on a terminal it is asked for where none was given. */
const askedAmount = async (
  { amountMicrousd }: SettleOptions, deps: VerbDeps,
): Promise<number> => {
  if (amountMicrousd !== undefined) return amountMicrousd
  if (deps.interactive) {
    const prompter = await deps.ask('Give --amount-microusd N.')
    const text = await prompter.text('Billed amount, as 0.0138usd:', undefined, amountProblem)
    const amount = amountOf(text)
    if (amount !== null) return amount
  }
  throw fail.usage('amount_required', 'The billed amount is missing.', {
    next: 'Give it with --amount 0.0138usd or --amount-microusd N; 0 says that it was free.',
  })
}

const noteDigest = async (options: SettleOptions, deps: VerbDeps): Promise<string | undefined> => {
  if (options.noteFile === undefined) return undefined
  const source = { from: options.noteFile, flag: '--note-file', bytesMax: noteBytesMax }
  return sha256Hex(await readInput(deps, source))
}

/** Settles. */
export const run: Run<SettleOptions, ReservationDocument> = async (options, deps) => {
  const request = requestOf(ledgerSettle, {
    ...options, amountMicrousd: await askedAmount(options, deps),
    noteDigest: await noteDigest(options, deps),
  })
  const { operation: operationId, amount_microusd: amount, note_digest: note } = request
  const { gov, session } = await loginToMutate(deps)
  requireUnknownCharge(gov.store.read(), session, operationId)
  if (options.yes !== true) {
    await deps.confirm(`Record ${moneyText(amount)} as the charge of this operation?`, '--yes')
  }
  return ledgerSettle.answer(await settleAnyCharge(gov, session, {
    operationId, amount, ...(note === undefined ? {} : { note_digest: note }),
  }))
}

/** Parses a line of `ledger settle`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
