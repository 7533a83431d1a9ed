/** `sallyport state repair`: back to the last moment that is provably whole; copies first. */
import { Option } from 'commander'
import { stateRepair, type StateRepairDocument } from '../../../fabric/state-contract.js'
import { existsSync } from 'node:fs'
import { fail } from '../../../base/errors.js'
import type { View } from '../../output.js'
import { verb } from '../../verb.js'
import { keptText } from './backup.js'
import { siteOf } from './site.js'

/** Given once for each file: a shell's pattern after it would take them all. */
const lostFlag = (): Option => {
  const text = 'count what cannot be read of this file as lost, as a refusal names it; repeatable'
  return new Option('--lost <file>', text)
    .argParser((file: string, before: readonly string[] = []): readonly string[] =>
      [...before, file])
}

/** What stays as it is: a repair makes no bytes that are in no log. */
const leftText = ({ left, left_in_all: all }: StateRepairDocument, view: View): string => {
  if (all === 0) return ''
  const lines = left.map(({ code, message, subject }) => {
    const where = subject === undefined ? '' : ` (${view.foreign(subject)})`
    return `Left as it is: ${code}: ${message}${where}\n`
  })
  const more = all > left.length ? `${all} in all, the first of them are listed.\n` : ''
  const way = left.every(({ code }) => code === 'spare_damaged') ? view.command('state compact')
    : `A backup may have it whole: ${view.command('state restore DIR')}`
  return `${lines.join('')}${more}${way}\n`
}

const doneText = ({ done }: StateRepairDocument): string =>
  done.map(({ message }) => `${message}\n`).join('')

const unchangedText = (report: StateRepairDocument, view: View): string =>
  (report.left_in_all + report.done.length === 0 ? 'Nothing had to be repaired.\n'
    : `Nothing was repaired.\n${doneText(report)}${leftText(report, view)}`)

/** Notes that say themselves what is known of records that somebody was answered for. */
const ofRecords = new Set(['earlier_loss_settled', 'torn_tail_cut', 'log_cut', 'anchor_behind'])

const lossText = ({ loss, done }: StateRepairDocument): string => {
  const lost = loss.records_after !== null || loss.documents > 0
  const isTold = done.some(({ code }) => ofRecords.has(code))
  if (!lost) return isTold ? '' : 'Nothing acknowledged was lost.\n'
  const after = loss.records_after === null ? '' : ` after record ${loss.records_after}`
  return (
    `Lost: at least ${loss.records_seen} records${after}, ${loss.bytes} bytes of the log, ` +
    `${loss.documents} documents.\nThe policy is revoked and every session has ended.\n`
  )
}

/** Repairs. Throws `damaged` `beyond_repair` where nothing is whole. */
export const repair = verb(stateRepair, {
  summary: 'bring a damaged state back to the last whole moment',
  description:
    'Copies what is damaged into the folder aside/ first. A sound state of an earlier format is '
    + 'brought to that of today without a copy. It puts single flipped bits right, rebuilds '
    + 'the rest from what is provably true and says what was lost. Where records may '
    + 'be lost, every session ends, every unfinished contact counts as unknown, and the policy is '
    + 'left revoked: grant anew after it. Records behind an untrue one are not replayed, but what '
    + 'they show stays owed and their idempotency keys stay spent. And the whole ceiling is held '
    + 'for what nobody can read, until you have looked at the bill and settle it with `ledger '
    + 'settle`. Every owner but the one who repairs waits for `principal enable` then. It changes '
    + 'nothing where nothing is damaged, and names the damage that it leaves. An error of the disk '
    + 'is no damage: it ends the repair, which names the file. Where that stays so, --lost keeps '
    + 'what can be read of this file and counts the rest as lost; the file itself goes into '
    + 'aside/.',
  examples: ['$ sallyport state repair', '$ sallyport state repair --lost wal/000000000004.log'],
  anchor: 'any',
  damage: 'unasked',
  exits: ['rejected', 'not_found', 'no_state', 'locked', 'damaged'],
  flags: (command) =>
    command
      .option('--owner <name>', 'who repairs, if not the first owner')
      .addOption(lostFlag()),
  text: (report, view) => {
    const { changed, copied_to: copied } = report
    if (!changed) return unchangedText(report, view) + keptText(report, view)
    const before = copied === null ? '' : `What was there before: ${view.foreign(copied)}\n`
    return doneText(report) + before + lossText(report) + leftText(report, view)
      + keptText(report, view)
  },
  run: async ({ owner, lost }, deps) => {
    if (!existsSync(deps.places.stateDir)) {
      throw fail.noState('no_state', 'There is no state directory here.', {
        next: 'Run `sallyport init`, or name another one with --state-dir.',
      })
    }
    const { repairWhole } = await import('../../../fabric/state-care.js')
    return repairWhole({ ...siteOf(deps), owner }, lost)
  },
})
