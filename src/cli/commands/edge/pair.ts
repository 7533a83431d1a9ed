/** `sallyport edge pair`: the line by which one device pairs itself with the service. */
import { writeFileSync } from 'node:fs'
import { edgePair } from '../../../edge/contract.js'
import { offerPairing } from '../../../edge/pairing.js'
import { fail } from '../../../base/errors.js'
import { pathFrom } from '../../../base/user-folders.js'
import { serviceIdentity } from '../../../governance/service/identity.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Flags of `edge pair`. */
export interface PairOptions {
  readonly name?: string
  readonly file?: string
}

type Paired = ReturnType<typeof edgePair.answer>

/** The line itself, for a terminal; never in the document. */
const lines = new WeakMap<Paired, string>()

const definition: VerbDefinition<Paired> = {
  meta: {
    name: 'edge pair',
    summary: 'make the line by which one capture device pairs itself',
    description:
      'Makes a one-time line that holds where the service is, the key that it must show and a '
      + 'code of ten minutes. Give it to the device by a file (`edge daemon --pair-file F`): '
      + 'whoever has it can pair one device as you. The device may then send screenshots and read '
      + 'back what it sent, and nothing else. This path is partial: it knows no provider, nothing '
      + 'that a device sends is analysed, and it does not replace the image folder. The service '
      + 'must have been started once.',
    examples: [
      '$ sallyport edge pair --file pairing.txt',
      '$ sallyport edge pair --name camera',
    ],
    session: 'required',
    damage: 'refuses',
    exits: ['rejected', 'unauthorized', 'conflict', 'blocked', 'no_state', 'locked', 'damaged'],
    json: edgePair,
  },
  flags: (command) => command
    .option('--name <name>', 'what the device is called here')
    .option('--file <file>', 'write the line to this new file (600) and not to stdout'),
  text: (offered) => {
    const line = lines.get(offered)
    return {
      out: line === undefined ? `${String(offered.file)}\n` : `${line}\n`,
      notes: [`The code ends at ${offered.expires_at}; it pairs one device.`],
    }
  },
}

const writeLine = (path: string, line: string): void => {
  try {
    writeFileSync(path, `${line}\n`, { flag: 'wx', mode: 0o600 })
  } catch (cause) {
    throw fail.rejected('pairing_file', 'The line could not be written to that file.', {
      next: 'Name a file that is not there yet, in a folder of your own.', cause,
    })
  }
}

/** Offers a pairing. */
export const run: Run<PairOptions, Paired> = async (options, deps) => {
  const { name } = requestOf(edgePair, { name: options.name })
  if (deps.globals.json && options.file === undefined) {
    throw fail.usage('pairing_file_needed', 'The line is a secret: with --json, give --file F.')
  }
  const { gov, session } = await loginToMutate(deps)
  const { origin, pin } = serviceIdentity(gov)
  const { pairing, code } = await offerPairing(gov, session, {
    origin, pin, ...(name === undefined ? {} : { name }),
  })
  const file = options.file === undefined ? null : pathFrom(deps.cwd, options.file)
  if (file !== null) writeLine(file, pairing)
  const offered = edgePair.answer({ code, file })
  if (file === null) lines.set(offered, pairing)
  return offered
}

/** Parses a line of `edge pair`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
