/** `sallyport state path`: where everything lies. Looks, and touches nothing. */
import { statePath } from '../../../fabric/state-contract.js'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fieldLines } from '../../text.js'
import { verb } from '../../verb.js'

/** Decides the folders. Throws `rejected` when the keys would lie inside the state. */
export const path = verb(statePath, {
  summary: 'print where the state and its keys lie',
  description:
    'Prints the state directory; with --verbose or --json also the folder of the vault keys. ' +
    'It looks and touches nothing, and works where there is no state yet.',
  examples: ['$ sallyport state path', '$ cd "$(sallyport state path)"'],
  session: 'none',
  anchor: 'any',
  damage: 'unasked',
  exits: ['rejected'],
  text: (found, view, deps) =>
    deps.globals.verbose
      ? fieldLines([
          ['state', view.foreign(found.state_dir)],
          ['keys', view.foreign(join(found.config_dir, 'keys'))],
          ['exists', found.exists ? 'yes' : 'no'],
        ])
      : `${view.foreign(found.state_dir)}\n`,
  run: async (_request, { places }) =>
    ({
      state_dir: places.stateDir,
      config_dir: places.configDir,
      exists: existsSync(join(places.stateDir, 'STATE')),
    }),
})
