/** `sallyport edge` of the owner: devices, and what they handed in. */
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { fullDisk } from '../../../base/errno.js'
import { fail } from '../../../base/errors.js'
import { pathFrom } from '../../../base/user-folders.js'
import { edgeShow } from '../../../edge/edge-contract.js'
import { edgeArtifact, openEdgeBytes } from '../../../edge/readback.js'
import { edge } from '../../../fabric/operations/edge.js'
import type { Gov, Session } from '../../../governance/context.js'
import { ioFailure } from '../../../state/files.js'
import { integerFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { bytesText, fieldLines } from '../../text.js'
import { verb } from '../../verb.js'
import { verbOf } from '../../verb-of.js'

export const list = verbOf(edge.list, {
  summary: 'your paired devices, newest first',
  description:
    'Lists the devices you paired: what they stored, the last sequence that was accepted, when '
    + 'they last sent and whether their pairing has ended. It counts the captures that left their '
    + 'spool unsent, as far as they told.',
  examples: ['$ sallyport edge list', '$ sallyport edge list --json'],
  text: (devices, view) => (devices.length === 0
    ? `No device is paired. Pair one: ${view.command('edge pair')}\n`
    : renderTable(view, ['device', 'name', 'last upload', 'last', 'stored', 'evicted', 'state'],
      devices.map((one) => [
        view.id(one.device_id), view.foreign(one.device_name),
        one.last_upload_at === null ? 'never' : view.time(one.last_upload_at),
        String(one.last_sequence), `${one.stored.items}, ${bytesText(one.stored.bytes)}`,
        one.spool_evictions === null ? 'none told' : String(one.spool_evictions),
        one.revoked ? `ended (${one.ended_reason ?? 'revoked'})` : 'paired',
      ]))),
})

export const revoke = verbOf(edge.revoke, {
  summary: 'end the pairing of a device at once',
  description:
    'Nothing more is taken from the device once it has answered: an upload that is under way '
    + 'ends at its next byte and leaves none. What it had sent stays, for its owner to read. It '
    + 'may be another owner\'s device, by its whole id; what that one sent is not told then.',
  examples: [
    '$ sallyport edge revoke edge_dev_01890000-0000-7000-8000-000000000000',
    '$ sallyport edge revoke edge_dev_01890000-0000-7000-8000-000000000000 --json',
  ],
  of: 'device',
  decides: true,
  exits: ['rejected', 'conflict', 'not_found', 'locked'],
  text: ({ device, ended }, view) =>
    `${view.foreign(device.device_name)}: ${ended ? 'ended' : 'had ended already'}\n`,
})

/** A new file, whole; what was begun and could not be ended is removed. Throws as reading does. */
const writeBytes = (gov: Gov, session: Session, id: string, path: string): void => {
  const { reader } = openEdgeBytes(gov, gov.store.read(), session, id)
  let fd: number
  try {
    fd = openSync(path, 'wx', 0o600)
  } catch (cause) {
    reader.close()
    throw fullDisk(cause, 'writing the capture')
      ?? fail.rejected('out_file', 'That file cannot be made, or is there already.', {
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
    '$ sallyport edge artifacts edge_art_01890000-0000-7000-8000-000000000000',
    '$ sallyport edge artifacts edge_art_01890000-0000-7000-8000-000000000000 --out shot.png',
  ],
  ids: { artifact: 'capture' },
  exits: ['rejected', 'not_found', 'blocked'],
  flags: (command) => command
    .argument('<artifact>', 'id of the capture')
    .option('--out <file>', 'write its bytes to this new file'),
  text: (one, view) => fieldLines([
    ['capture', one.artifact_id], ['device', one.device_id], ['sequence', String(one.sequence)],
    ['captured', view.time(one.captured_at)], ['received', view.time(one.received_at)],
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

const pageMax = 1_000

export const artifacts = verbOf(edge.artifacts, {
  summary: 'what your devices sent, newest first, or one capture and its bytes',
  description:
    'Lists what your devices sent: facts alone, never a picture. Where there is more, the last '
    + 'line says how to go on. With a capture it prints what is known of that. With --out its '
    + 'bytes go into a new file of mode 600, each piece verified before it is written.',
  examples: [
    '$ sallyport edge artifacts', '$ sallyport edge artifacts --limit 10 --json',
    '$ sallyport edge artifacts edge_art_01890000-0000-7000-8000-000000000000 --out shot.png',
  ],
  ids: { artifact: 'capture', device: 'device', before: 'capture' },
  exits: ['rejected'],
  flags: (command) => command
    .argument('[artifact]', 'id of the capture')
    .option('--out <file>', 'write its bytes to this new file')
    .option('--device <id>', 'only what this device sent')
    .addOption(integerFlag('--limit <n>', 'at most so many', { min: 1, max: pageMax }))
    .option('--before <id>', 'only those that came before this one'),
  joins: [{
    by: 'CAPTURE', load: () => show, line: (line) => (line['artifact'] === undefined ? null : line),
  }],
  complete: (line: { readonly out?: string }) => {
    if (line.out === undefined) return line
    throw fail.usage('capture_needed', '--out goes with a capture.', {
      next: 'See `sallyport edge artifacts`.',
    })
  },
  text: async ({ artifacts, next_page: next }, view) => ({
    out: artifacts.length === 0 ? 'Nothing was sent yet.\n' : await renderTable(view,
      ['artifact', 'sequence', 'captured', 'received', 'kind', 'size'],
      artifacts.map((one) => [
        view.id(one.artifact_id), String(one.sequence), view.time(one.captured_at),
        view.time(one.received_at), one.mime, bytesText(one.bytes),
      ])),
    notes: next === null ? [] : [`More: ${next}`],
  }),
})
