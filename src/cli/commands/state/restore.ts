/** `sallyport state restore DIR`: puts a backup in place, revoked. */
import { stateRestore, type StateRestoreDocument } from '../../../fabric/state-contract.js'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathFrom } from '../../../base/user-folders.js'
import type { View } from '../../output.js'
import { verb } from '../../verb.js'
import { keptText } from './kept-text.js'
import { siteOf } from './site.js'

const restoreText = (report: StateRestoreDocument, view: View): string => {
  const { sequence, copied_to: copied } = report
  return [
    `Restored up to record ${sequence}; the policy is revoked and every session has ended.\n`,
    keptText(report),
    copied === null
      ? 'There was no state here: what was spent since the backup is not in its ledger.\n'
      : `What was there before: ${view.foreign(copied)}\n`,
  ].join('')
}

/** Restores. Asks first where a state is there already. */
export const restore = verb(stateRestore, {
  summary: 'put a backup in place, with the policy revoked',
  description:
    'Checks the backup whole, copies what is there into the folder aside/, and puts the backup ' +
    'in its place. Every session ends, every unfinished contact counts as unknown, and the ' +
    'policy is revoked above everything that the anchor remembers: an old copy contacts nobody ' +
    'until you grant anew. What the replaced state owed and the backup does not know stays held ' +
    'as unknown, and its idempotency keys stay spent; where a part of it cannot be read, or the ' +
    'anchor remembers more than it shows, the whole ceiling is held until you settle it. What ' +
    'had been narrowed there stays narrow: ' +
    'disabled owners, withdrawn consents, closed gates, the lower ceiling. Where it cannot be ' +
    'read whole, or is not there, every owner but the one who restores waits for `principal ' +
    'enable`. It needs the key folder of the store.',
  examples: ['$ sallyport state restore /mnt/backup/sallyport-monday'],
  session: 'none',
  anchor: 'any',
  damage: 'unasked',
  exits: ['rejected', 'conflict', 'blocked', 'locked', 'damaged'],
  flags: (command) =>
    command
      .argument('<dir>', 'a folder that `state backup` made')
      .option('--owner <name>', 'who restores, if not the first owner')
      .option('--yes', 'replace the state that is there without asking'),
  text: restoreText,
  run: async ({ dir, owner }, deps, line: { readonly yes?: boolean }) => {
    const present = existsSync(join(deps.places.stateDir, 'STATE'))
    if (present && line.yes !== true) {
      await deps.confirm('Put the backup in place of the state that is there?', '--yes')
    }
    const { restoreWhole } = await import('../../../fabric/state-care.js')
    const from = pathFrom(deps.cwd, dir)
    return restoreWhole({ ...siteOf(deps), owner }, from)
  },
})
