/** `sallyport state compact`: folds the log into snapshots and sweeps what no record names. */
import { stateCompact } from '../../../fabric/state-contract.js'
import { bytesText } from '../../text.js'
import { verb } from '../../verb.js'

export const compact = verb(stateCompact, {
  summary: 'fold the log into snapshots',
  description:
    'Folds the log into snapshots and removes stored artifacts that no record names. It happens ' +
    'by itself as the log grows; this does it now. Nothing that a record names is removed, and ' +
    'while an operation is under way no artifact is.',
  examples: ['$ sallyport state compact'],
  session: 'none',
  damage: 'refuses',
  exits: ['rejected', 'no_state', 'locked', 'damaged'],
  text: (report) =>
    `Folded ${bytesText(report.log_bytes_before)} of log up to record ${report.sequence}; ` +
    `${report.orphans_removed} artifacts without a record removed.\n`,
  run: async (_request, deps) => {
    const { compactWhole } = await import('../../../fabric/state-care.js')
    return compactWhole((await deps.gov('write')).store)
  },
})
