/** `sallyport edge pair`: the line by which one device pairs itself with the service. */
import { rmSync, writeFileSync } from 'node:fs'
import { edgeLimits } from '../../../edge/constants.js'
import { edgePair, type LimitWishes } from '../../../edge/edge-contract.js'
import { fullDisk } from '../../../base/errno.js'
import { fail } from '../../../base/errors.js'
import { pathFrom } from '../../../base/user-folders.js'
import { edge } from '../../../fabric/operations/edge.js'
import { integerFlag } from '../../flags.js'
import { requestOf } from '../../request.js'
import type { VerbRecord } from '../../verb.js'
import { workFor } from '../../work.js'

interface PairOptions {
  readonly name?: string
  readonly file?: string
  readonly allowCloudEgress?: boolean
  readonly allowModelEgress?: boolean
  readonly maxBytes?: number
  readonly maxItems?: number
  readonly here?: boolean
}

type Paired = ReturnType<typeof edgePair.answer>

/** The line itself, for a terminal; never in the document. */
const lines = new WeakMap<Paired, string>()

/**
 * Makes the file before the code is recorded, which nobody could use without it, and fills it by
 * what `offer` gives; where that fails the file goes again.
 */
const fillFile = async <T extends { readonly pairing: string }>(
  path: string, offer: () => Promise<T>,
): Promise<T> => {
  writing(() => writeFileSync(path, '', { flag: 'wx', mode: 0o600 }))
  try {
    const offered = await offer()
    writing(() => writeFileSync(path, `${offered.pairing}\n`))
    return offered
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  }
}

const writing = (write: () => void): void => {
  try {
    write()
  } catch (cause) {
    throw fullDisk(cause, 'writing the line')
      ?? fail.rejected('pairing_file', 'The line could not be written to that file.', {
        next: 'Name a file that is not there yet, in a folder of your own.', cause,
      })
  }
}

const wishesOf = (options: PairOptions): LimitWishes => ({
  cloud_egress: options.allowCloudEgress ?? false,
  model_egress: options.allowModelEgress ?? false,
  ...(options.maxBytes === undefined ? {} : { bytes_max: options.maxBytes }),
  ...(options.maxItems === undefined ? {} : { items_max: options.maxItems }),
})

export const pair: VerbRecord<PairOptions, Paired> = {
  summary: 'make the line by which one capture device pairs itself',
  description:
    'Makes a one-time line that holds where the service is, the key that it must show and a '
    + 'code of ten minutes. Give it to the device by a file (`edge daemon --pair-file F`): '
    + 'whoever has it can pair one device as you. The device may then send screenshots and '
    + 'read back what it sent, and nothing else. What devices of the default owner send is '
    + 'seen in `shots list`, `shots day` and reports. This path is partial: it knows no provider, '
    + 'an upload asks no model, and it does not replace the image folder. A capture that '
    + 'declares egress is taken only where the pairing allows it, each kind by its own flag. '
    + 'That alone sends nothing. A capture is analysed only where both allow both kinds, and '
    + 'where `shots setup --devices` named the device before the upload. The service must have '
    + 'been started once. Where it was started with --public, the line names that place, for a '
    + 'device of another machine. With --here it names this one.',
  examples: [
    '$ sallyport edge pair --file pairing.txt',
    '$ sallyport edge pair --name camera',
    '$ sallyport edge pair --here --file pairing.txt',
  ],
  exits: ['rejected', 'conflict', 'blocked', 'locked'],
  json: edgePair,
  flags: (command) => command
    .option('--name <name>', 'what the device is called here')
    .option('--file <file>', 'write the line to this new file (600) and not to stdout')
    .option('--here', 'for a device of this machine, though others find the service, too')
    .option('--allow-cloud-egress', 'take captures that declare egress to a cloud')
    .option('--allow-model-egress', 'take captures that declare egress to a model')
    .addOption(integerFlag('--max-bytes <n>', 'store at most so many bytes (5 GiB unless said)', {
      min: 1, max: edgeLimits.bytesMax,
    }))
    .addOption(integerFlag(
      '--max-items <n>', 'store at most so many captures (100000 unless said)',
      { min: 1, max: edgeLimits.itemsMax },
    )),
  text: (offered) => {
    const line = lines.get(offered)
    return {
      out: line === undefined ? `${String(offered.file)}\n` : `${line}\n`,
      notes: [
        `The code ends at ${offered.expires_at}; it pairs one device.`,
        `The device finds the service at ${offered.origin}`,
      ],
    }
  },
  run: async (options, deps) => {
    const request = requestOf(edgePair, {
      name: options.name, limits: wishesOf(options),
      ...(options.here === undefined ? {} : { here: options.here }),
    })
    if (deps.globals.json && options.file === undefined) {
      throw fail.usage('pairing_file_needed', 'The line is a secret: with --json, give --file F.')
    }
    const work = await workFor(deps, 'mutate')
    const file = options.file === undefined ? null : pathFrom(deps.cwd, options.file)
    const offer = async () => edge.pair.run(work, request)
    const { pairing, ...made } = await (file === null ? offer() : fillFile(file, offer))
    const offered = edgePair.answer({ ...made, file })
    if (file === null) lines.set(offered, pairing)
    return offered
  },
}
