/** `sallyport edge show`: the facts of one capture, or its bytes into a file. */
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { fail } from '../../../base/errors.js'
import { pathFrom } from '../../../base/user-folders.js'
import { edgeShow } from '../../../edge/contract.js'
import { edgeArtifact, openEdgeBytes } from '../../../edge/read.js'
import type { Gov } from '../../../governance/context.js'
import type { Session } from '../../../governance/session/types.js'
import { ioFailure } from '../../../state/files.js'
import { bytesText, fieldLines } from '../../text.js'
import { verb } from '../../verb.js'

/** A new file, whole; what was begun and could not be ended is removed. Throws as reading does. */
const writeBytes = (gov: Gov, session: Session, id: string, path: string): void => {
  const { reader } = openEdgeBytes(gov, gov.store.read(), session, id)
  let fd: number
  try {
    fd = openSync(path, 'wx', 0o600)
  } catch (cause) {
    reader.close()
    throw fail.rejected('out_file', 'That file cannot be made, or is there already.', {
      next: 'Name a file that is not there yet.', cause,
    })
  }
  try {
    // Goes on where the disk takes only a part: what it refuses then is an error.
    for (const piece of reader.pieces()) writeFileSync(fd, piece)
  } catch (error) {
    rmSync(path, { force: true })
    throw ioFailure(error, 'writing the capture')
  } finally {
    closeSync(fd)
    reader.close()
  }
}

export const show = verb(edgeShow, {
  summary: 'the facts of one capture, and its bytes into a file',
  description:
    'Prints what is known of a capture that one of your devices sent. With --out its bytes go '
    + 'into a new file of mode 600, each piece verified before it is written.',
  examples: [
    '$ sallyport edge show edge_art_01890000-0000-7000-8000-000000000000',
    '$ sallyport edge show edge_art_01890000-0000-7000-8000-000000000000 --out shot.png',
  ],
  session: 'required',
  ids: { artifact: 'capture' },
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'not_found', 'blocked', 'no_state', 'damaged'],
  flags: (command) => command
    .argument('<artifact>', 'id of the capture')
    .option('--out <file>', 'write its bytes to this new file'),
  text: (one, view) => fieldLines([
    ['capture', one.artifact_id], ['device', one.device_id], ['sequence', String(one.sequence)],
    ['captured', one.captured_at], ['received', one.received_at],
    ['kind', `${one.mime}, ${bytesText(one.bytes)}`], ['sha256', one.sha256],
    ['purpose', one.purpose],
    ...(one.source === null ? [] : [['source', view.foreign(one.source)] as const]),
  ]),
  run: async ({ artifact: id }, deps, line: { readonly out?: string }) => {
    const { gov, session } = await deps.login('read')
    const artifact = edgeArtifact(gov.store.read(), session, id)
    if (line.out !== undefined) writeBytes(gov, session, id, pathFrom(deps.cwd, line.out))
    return artifact
  },
})
