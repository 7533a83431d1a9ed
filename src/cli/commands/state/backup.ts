/** `sallyport state backup DIR`: a consistent copy, without the key. */
import { pathFrom } from '../../../base/user-folders.js'
import { stateBackup } from '../../../fabric/state-contract.js'
import { bytesText } from '../../text.js'
import { verb } from '../../verb.js'

/** Copies. Throws `conflict` where something is there already. */
export const backup = verb(stateBackup, {
  summary: 'copy the state into a new folder',
  description:
    'Makes a consistent copy while others go on working. The vault key is not in it: a backup ' +
    'alone opens nothing, and a restore needs the key folder. Copy that one apart from it. A ' +
    'damaged state or artifact is refused, since its copy would look whole; with --salvage what ' +
    'is left is copied and the backup says what it lacks: a restore of it holds the whole ' +
    'ceiling for what nobody can read.',
  examples: [
    '$ sallyport state backup /mnt/backup/sallyport-monday',
    '$ sallyport state backup /mnt/backup/what-is-left --salvage',
  ],
  session: 'none',
  anchor: 'any',
  damage: 'decides',
  exits: ['rejected', 'conflict', 'no_state', 'locked', 'damaged'],
  flags: (command) =>
    command
      .argument('<dir>', 'a folder that does not exist yet')
      .option('--salvage', 'copy what is left of a damaged state, and say what is lost'),
  text: ({ to, files, bytes, sequence, loss }, view) =>
    `${view.foreign(to)}\n` +
    `${files} files, ${bytesText(bytes)}, up to record ${sequence}; the key is not in it.\n` +
    (loss === null
      ? '' : `It is not whole: ${loss.damage.join(', ')}; ${loss.artifacts.length} artifacts ` +
        'are not in it.\n'),
  run: async ({ dir, salvage = false }, deps) => {
    const { backupWhole } = await import('../../../fabric/state-care.js')
    const store = await deps.openStore('write')
    return backupWhole(store, pathFrom(deps.cwd, dir), salvage)
  },
})
