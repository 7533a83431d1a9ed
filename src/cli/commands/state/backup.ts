/** `sallyport state backup DIR`: a consistent copy, without the key. */
import { stateBackup, type StateBackupDocument } from '../../../fabric/state-contract.js'
import { resolve } from 'node:path'
import { bytesText } from '../../text.js'
import { requestOf } from '../../request.js'
import { defineVerb } from '../../verb.js'
import type { Build, Run, VerbMeta } from '../../verb.js'

/** Where to. */
export interface BackupOptions {
  readonly dir: string
}

const meta: VerbMeta = {
  name: 'state backup',
  summary: 'copy the state into a new folder',
  description:
    'Makes a consistent copy while others go on working. The vault key is not in it: a backup ' +
    'alone opens nothing, and a restore needs the key folder. Copy that one apart from it.',
  examples: ['$ sallyport state backup /mnt/backup/sallyport-monday'],
  session: 'none',
  anchor: 'any',
  damage: 'decides',
  exits: ['rejected', 'conflict', 'no_state', 'locked', 'damaged'],
  json: stateBackup,
}

/** Parses a line of `state backup`. */
export const build: Build = (deps) =>
  defineVerb<BackupOptions, StateBackupDocument>(
    deps,
    {
      meta,
      flags: (command) => command.argument('<dir>', 'a folder that does not exist yet'),
      text: ({ to, files, bytes, sequence }, view) =>
        `${view.foreign(to)}\n` +
        `${files} files, ${bytesText(bytes)}, up to record ${sequence}; the key is not in it.\n`,
    },
    backup,
  )

/** Copies. Throws `conflict` where something is there already. */
export const backup: Run<BackupOptions, StateBackupDocument> = async (options, deps) => {
  const { dir } = requestOf(stateBackup, options)
  const { backupState } = await import('../../../state/care/backup.js')
  const store = await deps.openStore('write')
  return stateBackup.answer(await backupState(store, resolve(deps.cwd, dir)))
}
