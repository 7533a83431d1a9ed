/** `sallyport state kept`: artifacts whose records were not replayed, and removing one by name. */
import { stateKept } from '../../../fabric/state-contract.js'
import { existsSync } from 'node:fs'
import { fail } from '../../../base/errors.js'
import { bytesText } from '../../text.js'
import { verb } from '../../verb.js'

/** Lists, or removes one. Throws `not_found` `artifact_not_kept`. */
export const kept = verb(stateKept, {
  summary: 'artifacts kept aside by a repair or a restore, and removing them',
  description:
    'After a repair that could not replay every record, or a restore, stored artifacts may be ' +
    'left that no record names: answers that were paid for may be among them. They lie sealed ' +
    'in aside/kept, no compaction removes them, and no backup holds them. This lists them by ' +
    'name; with --remove one of them is removed for good.',
  examples: [
    '$ sallyport state kept',
    '$ sallyport state kept --remove 5f2c… --yes',
  ],
  session: 'none',
  anchor: 'any',
  damage: 'unasked',
  exits: ['rejected', 'not_found', 'no_state'],
  flags: (command) =>
    command
      .option('--remove <name>', 'remove the kept artifact of this name for good')
      .option('--yes', 'do not ask'),
  text: ({ kept, removed }) => {
    const lines = kept.map(({ name, bytes }) => `${name}  ${bytesText(bytes)}\n`).join('')
    if (removed !== null) return `Removed ${removed}; ${kept.length} are left.\n`
    return kept.length === 0 ? 'Nothing is kept aside.\n' : lines
  },
  run: async ({ remove }, deps, line: { readonly yes?: boolean }) => {
    if (!existsSync(deps.places.stateDir)) {
      throw fail.noState('no_state', 'There is no state directory here.', {
        next: 'Run `sallyport init`, or name another one with --state-dir.',
      })
    }
    const { keptArtifacts, removeKept } = await import('../../../state/care/kept.js')
    const { stateDir } = deps.places
    if (remove !== undefined) {
      if (line.yes !== true) await deps.confirm('Remove this artifact for good?', '--yes')
      removeKept(stateDir, remove)
    }
    return { kept: keptArtifacts(stateDir), removed: remove ?? null }
  },
})
