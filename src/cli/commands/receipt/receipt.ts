/** `sallyport receipt`: signed receipts that others can check, and checking one. */
import { moneyText } from '../../../base/money.js'
import { operation } from '../../../fabric/operation.js'
import {
  receiptExport, receiptKey, receiptVerify,
} from '../../../fabric/receipts/receipts-contract.js'
import { envelopeText } from '../../../fabric/receipts/envelope.js'
import {
  checkReceipt, makeReceipt, receiptKeyOf, receiptLimits,
} from '../../../fabric/receipts/receipts.js'
import { readInput } from '../../input.js'
import type { View } from '../../output.js'
import { fieldLines, visibleLine } from '../../text.js'
import { verb } from '../../verb.js'
import { verbOf } from '../../verb-of.js'

/** A fact in one line; what holds others is told by their names and values. */
const factText = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value))

const isAmount = (value: unknown): value is number => Number.isSafeInteger(value)

/** States of a charge that nobody has told yet: what was not told is not nothing. */
const openStates: ReadonlySet<unknown> = new Set(['unknown', 'contacted', 'reserved'])

/** For a person: what it comes to, and what else the receipt says of it. */
const costText = (cost: object): string => {
  const { amount_microusd: amount, ...others } = cost as Readonly<Record<string, unknown>>
  const told = Object.entries(others).filter(([, value]) => value !== null)
    .map(([name, value]) => (name.endsWith('_microusd') && isAmount(value)
      ? `${name.replace('_microusd', '')} ${moneyText(value)}` : `${name} ${factText(value)}`))
  const bare = openStates.has(others['state']) ? 'charge not known' : 'no charge'
  return [isAmount(amount) ? moneyText(amount) : bare, ...told].join(', ')
}

const factLines = (view: View, facts: Readonly<Record<string, unknown>>) =>
  Object.entries(facts).map(([name, value]) => {
    const isCost = view.terminal && name === 'cost' && typeof value === 'object' && value !== null
    return [visibleLine(name), visibleLine(isCost ? costText(value) : factText(value))] as const
  })

// The word is taken by the language: the table finds the record under it.
const exporting = verbOf(operation(receiptExport, 'read', ({ gov, session }, { id }) =>
  makeReceipt(gov, session, id)), {
  summary: 'write a signed receipt of something that was done, for others to check',
  description:
    'Writes a receipt of an ask, an analysis (by its observation), a job of the code host that has '
    + 'sent something, or a closure. It is an in-toto statement in a DSSE envelope, signed with an '
    + 'Ed25519 key of this state. It has ids, states, times and money, and no content. Digests of '
    + 'content are keyed, so nobody can try out what it was. It proves that a holder of this state '
    + 'and its key says so, and nothing of time, provider or host. The same facts give the same '
    + 'bytes. Nothing is changed and nobody is contacted.',
  examples: [
    '$ sallyport receipt export task_0190f… > receipt.json',
    '$ sallyport receipt export job_0190f… --json',
  ],
  ids: { id: ['task', 'observation', 'job', 'closure'] },
  exits: ['rejected', 'conflict', 'not_found', 'blocked'],
  flags: (command) => command
    .argument('<id>', 'a task, an observation, a job of the code host or a closure'),
  text: ({ envelope, key_id: key, sha256 }, view) => ({
    out: envelopeText(envelope), exact: true,
    notes: [
      `receipt sha256 ${sha256}, signed with ${key}`,
      `its key: ${view.command('receipt key')}`,
    ],
  }),
})
export { exporting as export }

export const key = verb(receiptKey, {
  summary: 'print the public key by which receipts of this state are checked',
  description:
    'Prints the public half of the key that receipts are signed with, as PEM, for whoever checks '
    + 'them. The private half is derived from the key file of the state and lies nowhere by '
    + 'itself. Backup, restore and repair keep it, and another state has another one.',
  examples: ['$ sallyport receipt key > sallyport.pem', '$ sallyport receipt key --json'],
  session: 'none',
  exits: ['blocked', 'no_state', 'damaged'],
  text: ({ public_key_pem: pem, key_id: id }) => ({ out: pem, exact: true, notes: [`key ${id}`] }),
  run: async (_request, deps) => receiptKeyOf((await deps.gov('read')).store),
})

export const verify = verb(receiptVerify, {
  summary: 'check a receipt by a public key; needs no state',
  description:
    'Checks that a receipt is signed with the private half of the key, and shows what it says. '
    + 'It needs no state, no session and no network. What it proves is printed with it: that a '
    + 'holder of the state and its key says so, and nothing of time, provider or host. The how-to '
    + '“show a receipt” has the same check with openssl and with Python.',
  examples: [
    '$ sallyport receipt verify receipt.json --key sallyport.pem',
    '$ sallyport receipt verify - --key sallyport.pem --json < receipt.json',
  ],
  damage: 'unasked',
  exits: ['rejected'],
  flags: (command) => command
    .argument('<receipt>', 'file that `receipt export` wrote; - for stdin')
    .requiredOption('--key <file>', 'public key as PEM, from whoever signed it'),
  text: ({ what, id, content, proves, facts, sha256, key_id: signer }, view) => fieldLines([
    ['signed', `${view.paint('green', 'yes')}, with ${signer}`],
    ['receipt', `sha256 ${sha256}`],
    [visibleLine(what), visibleLine(id)],
    ...factLines(view, facts),
    ...content.map((one) => [visibleLine(one.name), `keyed ${one.digest.hmacSha256}`] as const),
    ['proves', proves],
  ]),
  run: async (request, deps) => checkReceipt(
    await readInput(deps, {
      from: request.receipt, flag: 'the receipt', bytesMax: receiptLimits.bytesMax,
    }),
    await readInput(deps, {
      from: request.key, flag: '--key', bytesMax: receiptLimits.keyBytesMax,
    }),
  ),
})
