/** `sallyport state compact`: folds the log into snapshots and sweeps what no record names. */
import { stateCompact, type StateCompactDocument } from '../../../fabric/state-contract.js'
import { bytesText } from '../../text.js'
import { defineVerb } from '../../verb.js'
import type { Build, Run, VerbMeta } from '../../verb.js'

const meta: VerbMeta = {
  name: 'state compact',
  summary: 'fold the log into snapshots',
  description:
    'Folds the log into snapshots and removes stored artifacts that no record names. It happens ' +
    'by itself as the log grows; this does it now. Nothing that a record names is removed, and ' +
    'while an operation is under way no artifact is.',
  examples: ['$ sallyport state compact'],
  session: 'none',
  damage: 'refuses',
  exits: ['rejected', 'no_state', 'locked', 'damaged'],
  json: stateCompact,
}

/** Parses a line of `state compact`. */
export const build: Build = (deps) =>
  defineVerb<object, StateCompactDocument>(
    deps,
    {
      meta,
      text: (report) =>
        `Folded ${bytesText(report.log_bytes_before)} of log up to record ${report.sequence}; ` +
        `${report.orphans_removed} artifacts without a record removed.\n`,
    },
    compact,
  )

/** Compacts. */
export const compact: Run<object, StateCompactDocument> = async (_options, deps) => {
  const { compactWhole } = await import('../../../fabric/state-care.js')
  return stateCompact.answer(await compactWhole((await deps.gov('write')).store))
}
