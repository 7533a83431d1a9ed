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

const requireAmount = ({ amountMicrousd }: SettleOptions): void => {
  if (amountMicrousd !== undefined) return
  throw fail.usage('amount_required', 'The billed amount is missing.', {
    next: 'Give it with --amount-microusd N; 0 says that nothing was billed.',
  })
}

const noteDigest = async (options: SettleOptions, deps: VerbDeps): Promise<string | undefined> => {
  if (options.noteFile === undefined) return undefined
  const source = { from: options.noteFile, flag: '--note-file', bytesMax: noteBytesMax }
  return sha256Hex(await readInput(deps, source))
}

/** Settles. */
export const run: Run<SettleOptions, ReservationDocument> = async (options, deps) => {
  requireAmount(options)
  const request = requestOf(ledgerSettle, {
    ...options, noteDigest: await noteDigest(options, deps),
  })
  const { operation: operationId, amount_microusd: amount, note_digest: note } = request
  const { gov, session } = await loginToMutate(deps)
  requireUnknownCharge(gov.store.read(), session, operationId)
  if (options.yes !== true) {
    await deps.confirm(`Record ${amount} micro-USD as the charge of this operation?`, '--yes')
  }
  return ledgerSettle.answer(await settleAnyCharge(gov, session, {
    operationId, amount, ...(note === undefined ? {} : { note_digest: note }),
  }))
}

/** Parses a line of `ledger settle`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
