/** `sallyport state share` and `unshare`: where the truth of a state lies, as a person decides. */
import { stateShare, stateUnshare } from '../../../fabric/machines/machines-contract.js'
import { requestOf } from '../../request.js'
import type { LineOf, VerbRecord } from '../../verb.js'
import { recoverFirst, workFor } from '../../work.js'
import { operatorFor, ownerFlags, type OwnerLine } from '../machine/operator.js'
import type { ServerLine } from '../machine/server.js'

type ShareLine = LineOf<typeof stateShare> & ServerLine & { readonly yes?: boolean }

export const share: VerbRecord<ShareLine, ReturnType<typeof stateShare.answer>> = {
  summary: 'give this state to a server, so that several machines share it',
  description:
    'Puts everything of this state on a PostgreSQL server, sealed, and makes this directory a '
    + 'replica of it. From then on each record is written there, and you can invite other '
    + 'machines. The server gets no key: it sees sizes, times and names of machines. The address '
    + 'is postgres://USER@HOST:PORT/DATABASE, without a password. TLS, verified by --server-ca, is '
    + 'asked for everywhere but on loopback. See `sallyport help shared`.',
  examples: [
    '$ sallyport state share postgres://ops@db.example/sallyport --server-ca ca.pem',
    '$ sallyport state share postgres://ops@127.0.0.1/sallyport --server-password-file pw --yes',
  ],
  decides: true,
  exits: ['rejected', 'conflict', 'locked', 'blocked', 'cancelled', 'partial'],
  json: stateShare,
  flags: (command) => command
    .argument('<address>', 'postgres://USER@HOST:PORT/DATABASE')
    .option('--server-ca <file>', 'certificates that the server is verified by, PEM')
    .option('--server-password-file <file>', 'the password at the server; - for stdin')
    .option('--machine-name <name>', 'what this machine is called there (default: host name)')
    .option('--yes', 'do not ask'),
  text: (made, view) => [
    `state      ${view.foreign(made.state_dir)}, a replica from now on`,
    `shared     ${view.foreign(made.place)}, record ${made.record}`,
    `machine    ${view.foreign(made.machine_name)}`,
    `next       ${view.command('machine invite NAME --to FILE')}`,
    '',
  ].join('\n'),
  run: async (line, deps) => {
    const { serverOf } = await import('../machine/server.js')
    const request = requestOf(stateShare, line)
    const server = await serverOf(deps, request.address, line)
    const { gov, session } = await workFor(deps, 'mutate')
    if (line.yes !== true) {
      await deps.confirm('Keep this state at that server, sealed, from now on?', '--yes')
    }
    const { shareState } = await import('../../../fabric/machines/sharing.js')
    return stateShare.answer(await shareState(gov, session, server))
  },
}

type UnshareLine = LineOf<typeof stateUnshare> & OwnerLine & { readonly yes?: boolean }

/** Takes it back. Throws `rejected` `not_shared`. */
export const unshare: VerbRecord<UnshareLine, ReturnType<typeof stateUnshare.answer>> = {
  summary: 'take a shared state back into this directory',
  description:
    'Fetches whatever is missing here and makes this directory the state again: nothing is written '
    + 'at the server from then on, by no machine. The other machines keep what they had read and '
    + 'write nothing any more. What lies at the server stays there, sealed, until its owner drops '
    + 'it. Cut off, run it again on this machine: nobody can log in then, so an owner proves '
    + 'himself here as at `login`.',
  examples: ['$ sallyport state unshare', '$ sallyport state unshare --yes'],
  session: 'optional',
  anchor: 'any',
  decides: true,
  exits: [
    'rejected', 'unauthorized', 'conflict', 'no_state', 'damaged', 'locked', 'blocked', 'cancelled',
    'partial',
  ],
  json: stateUnshare,
  flags: (command) => ownerFlags(command).option('--yes', 'do not ask'),
  text: (made, view) =>
    `The state is ${view.foreign(made.state_dir)} again, at record ${made.record}; nothing more is `
    + `written at ${view.foreign(made.place)}.\n`,
  run: async (line, deps) => {
    const { gov, operator } = await operatorFor(deps, line)
    const { isTakenBack, unshareState } = await import('../../../fabric/machines/sharing.js')
    if (!await isTakenBack(gov)) await recoverFirst(deps, gov)
    if (line.yes !== true) {
      await deps.confirm('Take this state back; the other machines write no more?', '--yes')
    }
    return stateUnshare.answer(await unshareState(gov, operator))
  },
}
