/** `sallyport machine invite`: a sealed file by which another machine joins. */
import { pathFrom } from '../../../base/user-folders.js'
import { machineInvite } from '../../../fabric/machines/machines-contract.js'
import { requestOf } from '../../request.js'
import type { LineOf, VerbRecord } from '../../verb.js'
import { workFor } from '../../work.js'

type InviteLine =
  Omit<LineOf<typeof machineInvite>, 'passphrase'> & { readonly passphraseFile?: string }

export const invite: VerbRecord<InviteLine, ReturnType<typeof machineInvite.answer>> = {
  summary: 'write a sealed invitation for another machine',
  description:
    'Writes a file of mode 600 with what a machine needs to join: key of the state, address, '
    + 'certificates and password of the server. A passphrase of 12 bytes or more seals it. Whoever '
    + 'has both can read the whole state: carry them by different ways, and remove the file once '
    + 'the machine has joined. A file that is there is never replaced. The server never gets the '
    + 'key.',
  examples: [
    '$ sallyport machine invite build-2 --to build-2.invite',
    '$ sallyport machine invite build-2 --to build-2.invite --passphrase-file ./passphrase',
  ],
  decides: true,
  exits: ['rejected', 'conflict', 'locked', 'blocked'],
  json: machineInvite,
  flags: (command) => command
    .argument('<name>', 'what the other machine will be called here')
    .requiredOption('--to <file>', 'the file to write; it must not be there')
    .option('--passphrase-file <file>', 'the passphrase; - for stdin (asked for on a terminal)'),
  text: ({ name, file, next }, view) =>
    `Wrote ${view.foreign(file)}. Carry it to ${view.foreign(name)}, and the passphrase by another `
    + `way; there, with the path of the file:\n  ${view.foreign(next)}\n`,
  run: async (line, deps) => {
    const { gov, session } = await workFor(deps, 'mutate')
    const { inviteMachine, requireInvitable } = await import('../../../fabric/machines/invite.js')
    const to = pathFrom(deps.cwd, line.to)
    await requireInvitable(gov, { name: line.name, to })
    const { newPassphrase } = await import('./secrets.js')
    const passphrase = await newPassphrase(deps, line.passphraseFile)
    const request = requestOf(machineInvite, { ...line, to, passphrase })
    return machineInvite.answer(await inviteMachine(gov, session, request))
  },
}
