import {
  codehostVerify, type VerifiedDocument,
} from '../../../codehost/closure/offline/offline-contract.js'
import { givenLimits } from '../../../codehost/closure/offline/given.js'
import { verifyReceipt } from '../../../codehost/closure/offline/verify-receipt.js'
import { readInput } from '../../input.js'
import { fieldLines } from '../../text.js'
import { verb } from '../../verb.js'

type Readback = VerifiedDocument['readbacks'][number]

const readbackLine = ({ effect, action, path, object_id: id }: Readback): string =>
  `effect ${effect}, ${action}: GET ${path}${id === null ? '' : `, object ${id}`}`

export const verify = verb(codehostVerify, {
  summary: 'check a kept receipt of a closure or a readback, offline and without a session',
  description:
    'Checks a receipt byte for byte against the key, the rows and the sealed content of a state. '
    + 'It checks its seal, what it is bound to, and the journals and chained histories that bear '
    + 'it out. It checks ids of git objects by git’s own rule. It needs no session, takes no lock, '
    + 'changes nothing and contacts nobody, so a copy of a state will do (--state-dir). It proves '
    + 'our record and not the host.',
  examples: [
    '$ sallyport codehost recover closures CLOSURE --receipt > r.json',
    '$ sallyport codehost recover verify r.json',
    '$ sallyport --state-dir copy/state codehost recover verify r.json --json',
  ],
  session: 'none',
  anchor: 'any',
  exits: ['rejected', 'blocked', 'no_state', 'damaged'],
  flags: (command) => command.argument('<receipt>', 'file that holds the receipt; - for stdin'),
  text: ({ readbacks, ...of }) => fieldLines([
    ['receipt', `${of.receipt === 'closure' ? 'closure' : 'readback'} ${of.id}, ${of.at}`],
    ['job', `${of.job} (${of.kind})`],
    ['repository', of.repository],
    ['holds', of.checks.join(', ')],
    ...readbacks.map((one) => ['read', readbackLine(one)] as const),
    ['so', of.statement],
  ]),
  run: async ({ receipt }, deps) => {
    const gov = await deps.gov('read')
    const bytes = await readInput(deps, {
      from: receipt, flag: 'the receipt', bytesMax: givenLimits.bytesMax,
    })
    return verifyReceipt(gov, bytes)
  },
})
