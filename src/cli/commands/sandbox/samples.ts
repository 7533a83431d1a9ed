import { pathFrom } from '../../../base/user-folders.js'
import { sandboxSamples, type SamplesDocument } from '../../../sandbox/contract.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Argument of `sandbox samples`. */
export interface SamplesOptions {
  readonly folder: string
}

const definition: VerbDefinition<SamplesDocument> = {
  meta: {
    name: 'sandbox samples',
    summary: 'write sample screenshots into a folder',
    description:
      'Writes six made-up screenshots of real sizes, taken within the last hour, to try the '
      + 'screenshot source with: among them a repeat, one changed line and a plain copy. Existing '
      + 'files are never replaced.',
    examples: ['$ sallyport sandbox samples /tmp/screens'],
    session: 'none',
    damage: 'unasked',
    exits: ['conflict'],
    json: sandboxSamples,
  },
  flags: (command) => command.argument('<folder>', 'where to write them'),
  text: (files) => files.map(({ path, becomes }) => `${path}: ${becomes}\n`).join(''),
}

/** Writes them. */
export const run: Run<SamplesOptions, SamplesDocument> = async (options, deps) => {
  const { folder } = requestOf(sandboxSamples, options)
  const { writeSamples } = await import('../../../sandbox/samples/write.js')
  return sandboxSamples.answer(writeSamples(pathFrom(deps.cwd, folder), deps.clock.wallMs()))
}

/** Parses a line of `sandbox samples`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
