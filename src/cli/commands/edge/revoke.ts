/** `sallyport edge revoke`: ends the pairing of a device, at the next byte of what it sends. */
import { edgeRevoke } from '../../../edge/contract.js'
import { revokeDevice } from '../../../edge/pairing.js'
import { afterStop, loginToStop } from '../../mutate.js'
import { verb } from '../../verb.js'

export const revoke = verb(edgeRevoke, {
  summary: 'end the pairing of a device at once',
  description:
    'Nothing more is taken from the device once it has answered: an upload that is under way '
    + 'ends at its next byte and leaves none. What it had sent stays, for you to read.',
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
  flags: (command) => command.argument('<device>', 'id of the device'),
  text: ({ device, ended }, view) =>
    `${view.foreign(device.device_name)}: ${ended ? 'ended' : 'had ended already'}\n`,
  run: async ({ device }, deps) => {
    const { gov, session } = await loginToStop(deps)
    const done = await revokeDevice(gov, session, device)
    await afterStop(deps, gov, done.recorded)
    return done
  },
})
