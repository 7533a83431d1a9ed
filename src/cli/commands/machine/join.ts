/** `sallyport machine join`: the state directory of this machine, out of an invitation. */
import { machineJoin } from '../../../fabric/machines/machines-contract.js'
import { readInput } from '../../input.js'
import { requestOf } from '../../request.js'
import type { LineOf, VerbRecord } from '../../verb.js'

interface JoinLine extends LineOf<typeof machineJoin> {
  readonly passphraseFile?: string
  readonly serverPasswordFile?: string
}

export const join: VerbRecord<JoinLine, ReturnType<typeof machineJoin.answer>> = {
  summary: 'join a shared state by an invitation',
  description:
    'Makes the state directory of this machine out of the file that `machine invite` wrote on '
    + 'another one. It reads what the state holds from its place. There must be no state at the '
    + 'directory. It opens no session: log in here, too. A place that shows less than the machine '
    + 'that invited had seen is not believed. The file can be removed afterwards.',
  examples: [
    '$ sallyport machine join build-2.invite',
    '$ sallyport machine join build-2.invite --passphrase-file ./passphrase --json',
  ],
  damage: 'unasked',
  exits: ['rejected', 'conflict', 'locked', 'blocked', 'damaged'],
  json: machineJoin,
  flags: (command) => command
    .argument('<file>', 'the invitation; - for stdin')
    .option('--passphrase-file <file>', 'its passphrase; - for stdin (asked for on a terminal)')
    .option('--server-password-file <file>', 'a password of its own for this machine'),
  text: (made, view) => [
    `state      ${view.foreign(made.state_dir)}`,
    `shared     ${view.foreign(made.place)}, record ${made.record}`,
    `machine    ${view.foreign(made.machine_name)}`,
    `next       ${view.command('login')}`,
    '',
  ].join('\n'),
  run: async (line, deps) => {
    const { file } = requestOf(machineJoin, line)
    const { invitationBytesMax, openInvitation, readInvitation }
      = await import('../../../state/place/invitation.js')
    const { joinMachine, requireNoState } = await import('../../../fabric/machines/join.js')
    const { stateDir: dir, configDir } = deps.places
    requireNoState(dir)
    const outer = readInvitation(
      await readInput(deps, { from: file, flag: 'FILE', bytesMax: invitationBytesMax }))
    const { knownPassphrase, serverPassword } = await import('./secrets.js')
    const passphrase = await knownPassphrase(deps, line.passphraseFile)
    const password = await serverPassword(deps, line.serverPasswordFile)
    const invitation = await openInvitation(outer, passphrase)
    const { clock, stop: signal, globals: { waitMs } } = deps
    return machineJoin.answer(await joinMachine({ dir, configDir, clock, signal, waitMs }, {
      ...invitation, password: password ?? invitation.password,
    }))
  },
}
