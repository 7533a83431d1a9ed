/** `sallyport state backup DIR`: a consistent copy, without the key. */
import { resolve } from 'node:path'
import * as v from 'valibot'
import { bytesText } from '../../text.js'
import { defineVerb } from '../../verb.js'
import type { Build, Run, VerbMeta } from '../../verb.js'
import { countShape } from './shapes.js'

/** Where to. */
export interface BackupOptions {
  readonly dir: string
}

const shape = v.strictObject({
  to: v.string(),
  store_id: v.string(),
  sequence: countShape,
  files: countShape,
  bytes: countShape,
})
/** What a backup holds. */
export type StateBackup = v.InferOutput<typeof shape>

const meta: VerbMeta = {
  name: 'state backup',
  summary: 'copy the state into a new folder',
  description:
    'Makes a consistent copy while others go on working. The vault key is not in it: a backup ' +
    'alone opens nothing, and a restore needs the key folder. Copy that one apart from it.',
  examples: ['$ sallyport state backup /mnt/backup/sallyport-monday'],
  session: 'none',
  exits: ['rejected', 'conflict', 'no_state', 'locked', 'damaged'],
  json: { version: 1, schema: shape },
}

/** Parses a line of `state backup`. */
export const build: Build = (deps) =>
  defineVerb<BackupOptions, StateBackup>(
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
export const backup: Run<BackupOptions, StateBackup> = async ({ dir }, deps) => {
  const { backupState } = await import('../../../state/care/backup.js')
  return backupState(await deps.openStore('write'), resolve(deps.cwd, dir))
}
