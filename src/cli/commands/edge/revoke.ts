/** `sallyport edge revoke`: ends the pairing of a device, at the next byte of what it sends. */
import { edgeRevoke } from '../../../edge/contract.js'
import { revokeDevice } from '../../../edge/pairing.js'
import { afterStop, loginToStop } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Argument of `edge revoke`. */
export interface EdgeRevokeOptions {
  readonly device: string
}

type Revoked = ReturnType<typeof edgeRevoke.answer>

const definition: VerbDefinition<Revoked> = {
  meta: {
    name: 'edge revoke',
    summary: 'end the pairing of a device at once',
    description:
      'Nothing more is taken from the device once it has answered: an upload that is under way '
      + 'ends at its next byte and leaves none. What it had sent stays, for its owner to read. It '
      + 'may be another owner\'s device, by its whole id; what that one sent is not told then.',
    examples: [
      '$ sallyport edge revoke edge_dev_01890000-0000-7000-8000-000000000000',
      '$ sallyport edge revoke edge_dev_01890000-0000-7000-8000-000000000000 --json',
    ],
    session: 'required',
    ids: { device: 'device' },
    decides: true,
    damage: 'refuses',
    exits: [
      'rejected', 'unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged',
    ],
    json: edgeRevoke,
  },
  flags: (command) => command.argument('<device>', 'id of the device'),
  text: ({ device, ended }, view) =>
    `${view.foreign(device.device_name)}: ${ended ? 'ended' : 'had ended already'}\n`,
}

/** Ends it. */
export const run: Run<EdgeRevokeOptions, Revoked> = async (options, deps) => {
  const { device } = requestOf(edgeRevoke, options)
  const { gov, session } = await loginToStop(deps)
  const done = await revokeDevice(gov, session, device)
  await afterStop(deps, gov, done.recorded)
  return edgeRevoke.answer(done)
}

/** Parses a line of `edge revoke`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
