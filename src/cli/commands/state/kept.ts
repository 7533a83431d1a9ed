/** `sallyport state kept`: artifacts whose records were not replayed, and removing one by name. */
import { stateKept, type StateKeptDocument } from '../../../fabric/state-contract.js'
import { existsSync } from 'node:fs'
import { fail } from '../../../base/errors.js'
import { bytesText } from '../../text.js'
import { requestOf } from '../../request.js'
import { defineVerb } from '../../verb.js'
import type { Build, Run, VerbMeta } from '../../verb.js'

/** Flags of `state kept`. */
export interface KeptOptions {
  readonly remove?: string
  readonly yes?: boolean
}

const meta: VerbMeta = {
  name: 'state kept',
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
  json: stateKept,
}

/** Parses a line of `state kept`. */
export const build: Build = (deps) =>
  defineVerb<KeptOptions, StateKeptDocument>(
    deps,
    {
      meta,
      flags: (command) =>
        command
          .option('--remove <name>', 'remove the kept artifact of this name for good')
          .option('--yes', 'do not ask'),
      text: ({ kept, removed }) => {
        const lines = kept.map(({ name, bytes }) => `${name}  ${bytesText(bytes)}\n`).join('')
        if (removed !== null) return `Removed ${removed}; ${kept.length} are left.\n`
        return kept.length === 0 ? 'Nothing is kept aside.\n' : lines
      },
    },
    kept,
  )

/** Lists, or removes one. Throws `not_found` `artifact_not_kept`. */
export const kept: Run<KeptOptions, StateKeptDocument> = async (options, deps) => {
  const { remove } = requestOf(stateKept, options)
  if (!existsSync(deps.places.stateDir)) {
    throw fail.noState('no_state', 'There is no state directory here.', {
      next: 'Run `sallyport init`, or name another one with --state-dir.',
    })
  }
  const { keptArtifacts, removeKept } = await import('../../../state/care/kept.js')
  const { stateDir } = deps.places
  if (remove !== undefined) {
    if (options.yes !== true) await deps.confirm('Remove this artifact for good?', '--yes')
    removeKept(stateDir, remove)
  }
  return stateKept.answer({ kept: keptArtifacts(stateDir), removed: remove ?? null })
}
