/** `sallyport edge capture`: one picture into the spool of this device. */
import { edgeCapture } from '../../../edge/device/capture-contract.js'
import type { Eviction } from '../../../edge/device/spool/evictions.js'
import { verb } from '../../verb.js'
import { deviceContext } from './device.js'

/** One that left the spool, in a line. */
export const evictionLine = ({ request_id, reason, bytes }: Eviction): string => {
  const what = reason === 'may_be_sent' ? 'left, and may be sent' : `left unsent (${reason})`
  return `${what}: ${request_id}, ${bytes} bytes`
}

export const capture = verb(edgeCapture, {
  summary: 'put a screenshot into the spool of this device',
  description:
    'Reads a PNG or JPEG of at most 20 MiB and puts a copy into the private spool of this device. '
    + '`edge daemon` sends it to the paired service. The file itself stays as it is; a link is not '
    + 'followed. What the blocklist of settings.json names is refused before it is opened. A '
    + 'request id that waits already is taken once. It contacts nobody, and needs neither a state '
    + 'directory nor a login. Egress to clouds and models is off unless said, each by its own '
    + 'flag. Both are only told to the service, which takes such a capture where the device was '
    + 'paired with that egress (`edge pair --allow-cloud-egress`, `--allow-model-egress`). Else '
    + 'the daemon puts it aside.',
  examples: [
    '$ sallyport edge capture shot.png',
    '$ sallyport edge capture shot.png --source editor --purpose timesheet --json',
  ],
  damage: 'unasked',
  exits: ['rejected', 'conflict', 'blocked', 'locked'],
  flags: (command) => command
    .argument('<file>', 'the picture')
    .option('--request-id <uuid>', 'a UUID in lowercase that names this capture (made otherwise)')
    .option('--purpose <name>', 'what it is for (screenshot unless said)')
    .option('--source <text>', 'where it comes from: a program, a window')
    .option('--cloud-egress', 'say that it may go to a cloud; the pairing must allow it')
    .option('--model-egress', 'say that it may go to a model; the pairing must allow it'),
  text: ({ outcome, request_id, spool, evicted }) => ({
    out: `${request_id}\n`,
    notes: [
      outcome === 'known' ? 'It waits already.' : `${spool.items} waiting, ${spool.bytes} bytes.`,
      ...evicted.map(evictionLine),
    ],
  }),
  run: async (request, deps) => {
    const { captureFile } = await import('../../../edge/device/capture.js')
    return captureFile(deviceContext(deps), deps.cwd, request)
  },
})
