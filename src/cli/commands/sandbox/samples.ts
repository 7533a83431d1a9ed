import { resolve } from 'node:path'
import * as v from 'valibot'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Argument of `sandbox samples`. */
export interface SamplesOptions {
  readonly folder: string
}

const schema = v.array(v.strictObject({ path: v.string(), becomes: v.string() }))
/** The files that were written. */
export type SamplesResult = v.InferOutput<typeof schema>

const definition: VerbDefinition<SamplesResult> = {
  meta: {
    name: 'sandbox samples',
    summary: 'write sample screenshots into a folder',
    description:
      'Writes six made-up screenshots of real sizes, taken within the last hour, to try the '
      + 'screenshot source with: among them a repeat, one changed line and a plain copy. Existing '
      + 'files are never replaced.',
    examples: ['$ sallyport sandbox samples /tmp/screens'],
    session: 'none',
    exits: ['conflict'],
    json: { version: 1, schema },
  },
  flags: (command) => command.argument('<folder>', 'where to write them'),
  text: (files) => files.map(({ path, becomes }) => `${path}: ${becomes}\n`).join(''),
}

/** Writes them. */
export const run: Run<SamplesOptions, SamplesResult> = async ({ folder }, deps) => {
  const { writeSamples } = await import('../../../sandbox/samples/write.js')
  return [...writeSamples(resolve(deps.cwd, folder), deps.clock.wallMs())]
}

/** Parses a line of `sandbox samples`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
