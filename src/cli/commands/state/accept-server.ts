/** `sallyport state accept-server`: going on behind a promotion, as a person decides. */
import { countText } from '../../../base/counted.js'
import { stateAcceptServer } from '../../../fabric/machines/machines-contract.js'
import { requestOf } from '../../request.js'
import type { LineOf, VerbRecord } from '../../verb.js'
import { operatorFor, ownerFlags, type OwnerLine } from '../machine/operator.js'

type AcceptLine = LineOf<typeof stateAcceptServer> & OwnerLine & { readonly yes?: boolean }

type Answer = ReturnType<typeof stateAcceptServer.answer>

export const acceptServer: VerbRecord<AcceptLine, Answer> = {
  summary: 'go on at a server that took over from another one',
  description:
    'A server that was promoted, or put back from a copy, may lack the last records. Nothing is '
    + 'written or sent at it before every machine has said how far it had come: run this on each. '
    + 'The one that had come farthest gives the lost records back. --without names a machine that '
    + 'is gone for good. What it alone knew is lost, so everything is revoked and sessions end. '
    + 'The whole ceiling is held until you have seen the bill. Nobody can log in before: where no '
    + 'session is live, an owner proves himself here as at `login`.',
  examples: [
    '$ sallyport state accept-server',
    '$ sallyport state accept-server --without laptop --yes',
    '$ sallyport state accept-server --without laptop --without build-2 --owner maria',
  ],
  session: 'optional',
  anchor: 'any',
  decides: true,
  exits: [
    'rejected', 'unauthorized', 'conflict', 'no_state', 'damaged', 'locked', 'blocked', 'cancelled',
    'partial',
  ],
  json: stateAcceptServer,
  flags: (command) => ownerFlags(command)
    .option('--without <machine>', 'go on without a machine that is gone for good; may be repeated',
      (one: string, before: readonly string[] = []) => [...before, one])
    .option('--yes', 'do not ask'),
  text: (done) => (done.accepted
    ? `The server is known from now on, at record ${done.record}; `
      + `${countText(done.gave_back, 'record')} given back.`
      + `${done.without.length > 0 ? ' Everything is revoked: grant anew.' : ''}\n`
    : `The server is known already, at record ${done.record}.\n`),
  run: async (line, deps) => {
    const { without = [] } = requestOf(stateAcceptServer, line)
    const { gov, operator } = await operatorFor(deps, line)
    const { sharedOf } = await import('../../../fabric/machines/shared.js')
    const store = sharedOf(gov.store)
    if (line.yes !== true) {
      await deps.confirm(without.length === 0
        ? 'Say to this server how far this machine had come, and go on at it?'
        : 'Go on without what they alone knew: everything is revoked, and the ceiling held?',
      '--yes')
    }
    const { acceptMachineServer } = await import('../../../fabric/machines/accept.js')
    const accepted = await acceptMachineServer(gov, operator, without)
    return stateAcceptServer.answer({ accepted, record: store.replica.end.sequence })
  },
}
