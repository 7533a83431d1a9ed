/** `sallyport state prune`: removes what is old, as a person decides. */
import { countText } from '../../../base/counted.js'
import { fail } from '../../../base/errors.js'
import {
  pruneAge, statePrune, type StatePruneDocument,
} from '../../../fabric/prune/prune-contract.js'
import type { PruneRequest } from '../../../fabric/prune/prune.js'
import { durationFlag } from '../../flags.js'
import type { View } from '../../output.js'
import { requestOf } from '../../request.js'
import { bytesText } from '../../text.js'
import type { LineOf, VerbRecord, VerbDeps } from '../../verb.js'
import { workFor } from '../../work.js'

type PruneOptions = LineOf<typeof statePrune> & { readonly yes?: boolean }

const backups = 'Backups and copies elsewhere keep what they hold.\n'

const whatOf = (found: StatePruneDocument): string => {
  const { tasks: { succeeded, failed, cancelled }, idle_receipts: idle } = found
  const tasks = succeeded + failed + cancelled
  return `${countText(tasks, 'ended task')} (${succeeded} succeeded, ${failed} failed, `
    + `${cancelled} cancelled) with ${countText(found.artifacts, 'sealed file')}, `
    + `${countText(idle, 'receipt')} of nothing done, ${countText(found.sessions, 'session')}, `
    + `${countText(found.asides, 'finished copy', 'finished copies')} aside`
}

const pruneText = (found: StatePruneDocument, view: Pick<View, 'foreign'>): string => {
  const { bytes_before: before, bytes_after: after, swept } = found
  if (after === null) {
    return `Would remove ${whatOf(found)}.\n${bytesText(before)} now; nothing was changed.\n${
      backups}`
  }
  const more = swept === null || swept === 0
    ? '' : `${countText(swept, 'file')} without a record, of a run that was cut off, went too.\n`
  const sizes = `${bytesText(before)} before, ${bytesText(after)} after.\n`
  const behind = found.behind?.map((name) => view.foreign(name)).join(', ')
  const others = behind === '' ? '' : behind === undefined
    ? 'Which machines may still show it could not be asked.\n'
    : `Until their next command these may still show it: ${behind}. `
      + 'Their files of it go with `sallyport state compact` there.\n'
  return `Removed ${whatOf(found)}.\n${more}${sizes}${others}${backups}`
}

const requireSomething = ({ olderThan, aside }: PruneOptions): void => {
  if (olderThan !== undefined || aside !== undefined) return
  throw fail.usage('age_required', 'The age of what is removed is missing.', {
    next: 'Give it with --older-than, for example --older-than 90d.',
  })
}

const look = async (deps: VerbDeps, request: PruneRequest): Promise<StatePruneDocument> => {
  const { gov } = await deps.login('read')
  const { lookForOld } = await import('../../../fabric/prune/prune.js')
  return lookForOld(gov, request)
}

const loadKept = async () => (await import('./backup.js')).kept

export const prune: VerbRecord<PruneOptions, StatePruneDocument> = {
  summary: 'remove old ended tasks, and what else a person may let go',
  description:
    'Removes, for good and for every owner, what has not changed for as long as you say. It '
    + 'removes ended tasks of the text capability whose charge is known and that wait for no '
    + 'review. Their job, decision, route, question and answer go with them. Receipts of jobs that '
    + 'had nothing to do, ended sessions that nothing names any more, and copies aside of finished '
    + 'repairs and restores go, too. It never touches money, bills, the audit, consents, stops, '
    + 'observations or an idempotency key. The same request under a key whose task is gone is '
    + 'refused with `result_pruned`, and nothing is sent. Then every file is merged until none '
    + 'holds what was removed. Others may work beside it; cut off, it goes on when it is run '
    + 'again. A restore or a repair may have kept sealed artifacts aside that no record names. '
    + 'Answers that were paid for may be among them. --show lists them, --kept removes one.',
  examples: [
    '$ sallyport state prune --older-than 90d --dry-run',
    '$ sallyport state prune --older-than 365d --yes --json',
    '$ sallyport state prune --aside repair-20261120T101500000Z-5f2c1a',
    '$ sallyport state prune --show',
    '$ sallyport state prune --kept 5f2c…',
  ],
  exits: ['rejected', 'not_found', 'blocked', 'locked', 'partial', 'cancelled'],
  json: statePrune,
  flags: (command) => command
    .addOption(durationFlag('--older-than <age>', 'how long ago it last changed', pruneAge))
    .option('--dry-run', 'tell what would go, and change nothing')
    .option('--aside <name>', 'remove this finished copy below aside/, whatever it holds')
    .option('--show', 'list the artifacts kept aside by a repair or a restore')
    .option('--kept <name>', 'remove the kept artifact of this name for good')
    .option('--yes', 'do not ask'),
  joins: [{
    by: '--show', load: loadKept,
    line: ({ show, ...line }) => (show === undefined ? null : line),
  }, {
    by: '--kept NAME', load: loadKept,
    line: ({ kept: name, ...line }) => (name === undefined ? null : { ...line, remove: name }),
  }],
  text: pruneText,
  run: async (options, deps) => {
    requireSomething(options)
    const { older_than: olderThanMs, aside, dry_run: dryRun } = requestOf(statePrune, options)
    const request = { olderThanMs, aside, signal: deps.stop }
    if (dryRun === true) return statePrune.answer(await look(deps, request))
    if (options.yes !== true) {
      const found = await look(deps, request)
      await deps.confirm(`Remove ${whatOf(found)} for good?`, '--yes')
    }
    const { gov, session } = await workFor(deps, 'mutate')
    const { pruneState } = await import('../../../fabric/prune/prune.js')
    return statePrune.answer(await pruneState(gov, session, request))
  },
}
