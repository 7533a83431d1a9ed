import { Argument } from 'commander'
import { moneyText } from '../../../base/money.js'
import { fail } from '../../../base/errors.js'
import { operation } from '../../../fabric/operation.js'
import { gatewayContext } from '../../../fabric/places.js'
import {
  gatewayProve, type ProofEntry, type ProvedDocument,
} from '../../../gateway/gateway-contract.js'
import { slotMeant, slotNames, type SlotName } from '../../../gateway/constants.js'
import { gatewayReceiptLine } from '../../../gateway/receipt.js'
import { deploymentProfile } from '../../../governance/profile.js'
import { clientOf } from '../../../fabric/client.js'
import { offered } from '../../flags.js'
import { visibleLine } from '../../text.js'
import type { LineOf, VerbFace } from '../../verb.js'
import { verbOf } from '../../verb-of.js'

type ProveOptions = LineOf<typeof gatewayProve> & { readonly all?: boolean }

type ProveDocument = ProvedDocument | ProofEntry[]

const provedLine = (one: ProvedDocument): string => {
  const names = visibleLine(`${one.reply_model} by ${one.reply_provider}`)
  const how = one.made ? 'proved' : 'already current'
  return `${one.slot}: ${how}, ${names}, ${moneyText(one.cost_microusd)}`
}

const entryLine = (entry: ProofEntry): string =>
  entry.ok ? provedLine(entry) : `${entry.slot}: ${entry.code}: ${entry.message}`

const text: VerbFace<ProveDocument>['text'] = (result) => {
  const lines = Array.isArray(result)
    ? result.map((entry) => entryLine(entry)) : [provedLine(result)]
  const receipts = Array.isArray(result)
    ? result.flatMap((entry) => (entry.ok && entry.made ? [entry.receipt] : []))
    : result.made ? [result.receipt] : []
  return { out: lines.map((line) => `${line}\n`).join(''), notes: receipts.map(gatewayReceiptLine) }
}

const slotOf = (text: string): SlotName => {
  const slot = slotNames.find((name) => name === text)
  if (slot !== undefined) return slot
  const meant = new Map(Object.entries(slotMeant)).get(text)
  throw fail.rejected('slot_unknown', `A slot is one of ${slotNames.join(', ')}.`, {
    ...(meant === undefined ? {} : { next: `Did you mean \`sallyport gateway prove ${meant}\`?` }),
    details: { field: 'slot' },
  })
}

export const prove = verbOf(operation(gatewayProve, 'mutate',
  async ({ gov, session, world }, { slot, if_stale: ifStale = false }) => {
    const { proveAll, proveSlot } = await import('../../../gateway/prove.js')
    const context = gatewayContext(gov, {
      client: clientOf(world, deploymentProfile(gov.store)), signal: world.stop,
    })
    return slot === undefined
      ? proveAll(context, session, { ifStale })
      : proveSlot(context, session, { slot, ifStale })
  }), {
  summary: 'prove a slot with one small paid request',
  description:
    'Sends one synthetic request through the exact route of a slot, reads its charge from the '
    + 'reply and keeps what model and provider called themselves. A proof is bound to model, '
    + 'upstream list, key and prompt, and is stale after 24 hours. With --if-stale nobody is '
    + 'contacted while the proof is current, and an attempt that failed or is uncertain is not '
    + 'repeated.',
  examples: [
    '$ sallyport gateway prove chat',
    '$ sallyport gateway prove report --if-stale --json',
    '$ sallyport gateway prove --all --if-stale',
  ],
  contacts: true,
  exits: ['rejected', 'conflict', 'blocked', 'budget', 'remote', 'locked', 'partial'],
  flags: (command) => command
    .addArgument(offered(new Argument('[slot]', 'chat, report or screenshot'), slotNames))
    .option('--all', 'every slot that is set; one failure does not stop the others')
    .option('--if-stale', 'only when there is no current proof'),
  text,
  complete: ({ slot, all = false, ifStale = false }: ProveOptions) => {
    if (all === (slot !== undefined)) {
      throw fail.usage('one_slot', 'Name one slot, or give --all.')
    }
    return { slot: slot === undefined ? undefined : slotOf(slot), ifStale }
  },
})
