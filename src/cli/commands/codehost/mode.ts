import { Argument } from 'commander'
import { fail } from '../../../base/errors.js'
import { codehostMode, type ConnectionDocument } from '../../../codehost/contract.js'
import { setMode } from '../../../codehost/narrow.js'
import { offered } from '../../flags.js'
import { afterStop, loginToStop } from '../../mutate.js'
import { requestOf } from '../../request.js'
import type { VerbRecord } from '../../verb.js'
import { connectionText } from './text.js'

/** Arguments of `codehost mode`. */
export interface ModeOptions {
  readonly connection: string
  readonly mode: string
}

export const mode: VerbRecord<ModeOptions, ConnectionDocument> = {
  summary: 'disable a connection, or leave it for reads alone',
  description:
    '`disabled` and `reconcile_only` both end what may be written, at once; the second says '
    + 'that reads which settle earlier work are what it is kept for. `active` is never set '
    + 'here: a consent makes a connection active, and returning to it takes a new one.',
  examples: [
    '$ sallyport codehost mode ID disabled', '$ sallyport codehost mode ID reconcile_only',
  ],
  session: 'required',
  ids: { connection: 'connection' },
  decides: true,
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
  json: codehostMode,
  flags: (command) => command
    .argument('<connection>', 'id of the connection')
    .addArgument(offered(
      new Argument('<mode>', 'disabled or reconcile_only'), ['disabled', 'reconcile_only'],
    )),
  text: connectionText,
  run: async (options, deps) => {
    if (options.mode === 'active') {
      throw fail.rejected('mode_by_consent', 'Only a consent makes a connection active.', {
        next: 'See `sallyport codehost consent --help`.',
      })
    }
    const { connection, mode } = requestOf(codehostMode, options)
    const { gov, session } = await loginToStop(deps)
    const narrowed = await setMode(gov, session, { connectionId: connection, mode })
    await afterStop(deps, gov, narrowed.recorded)
    return codehostMode.answer(narrowed)
  },
}
