/** `sallyport state path`: where everything lies. Looks, and touches nothing. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { fieldLines } from '../../text.js'
import { defineVerb } from '../../verb.js'
import type { Build, Run, VerbMeta } from '../../verb.js'

const shape = v.strictObject({
  state_dir: v.string(),
  config_dir: v.string(),
  exists: v.boolean(),
})
/** The two folders, and whether there is a state directory. */
export type StatePath = v.InferOutput<typeof shape>

const meta: VerbMeta = {
  name: 'state path',
  summary: 'print where the state and its keys lie',
  description:
    'Prints the state directory; with --verbose or --json also the folder of the vault keys. ' +
    'It looks and touches nothing, and works where there is no state yet.',
  examples: ['$ sallyport state path', '$ cd "$(sallyport state path)"'],
  session: 'none',
  exits: ['rejected'],
  json: { version: 1, schema: shape },
}

/** Parses a line of `state path`. */
export const build: Build = (deps) =>
  defineVerb<object, StatePath>(
    deps,
    {
      meta,
      text: (found, view) =>
        deps.globals.verbose
          ? fieldLines([
              ['state', view.foreign(found.state_dir)],
              ['keys', view.foreign(join(found.config_dir, 'keys'))],
              ['exists', found.exists ? 'yes' : 'no'],
            ])
          : `${view.foreign(found.state_dir)}\n`,
    },
    statePath,
  )

/** Decides the folders. Throws `rejected` when the keys would lie inside the state. */
export const statePath: Run<object, StatePath> = async (_options, { places }) => ({
  state_dir: places.stateDir,
  config_dir: places.configDir,
  exists: existsSync(join(places.stateDir, 'STATE')),
})
