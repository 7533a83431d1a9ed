import { moneyText } from '../../../base/money.js'
import { egressPurpose, slotOfPurpose } from '../../../gateway/constants.js'
import type { GatewayShow, SlotProjection } from '../../../gateway/projection.js'
import type { View } from '../../output.js'
import { visibleLine } from '../../text.js'

const line = (name: string, value: string): string => `${name.padEnd(18)}${value}`

const statusText = (view: View, one: { status: string; reason_code: string | null }): string => {
  const good = one.status === 'configured'
  const reason = one.reason_code === null ? '' : ` (${one.reason_code})`
  return view.paint(good ? 'green' : 'yellow', one.status) + reason
}

const proofText = (view: View, { proof }: SlotProjection): string => {
  if (proof.state === 'missing') return 'none'
  const reason = proof.reason === null ? '' : ` (${proof.reason})`
  const made = proof.made_at === null ? '' : view.time(proof.made_at)
  const names = `${proof.reply_model ?? ''} by ${proof.reply_provider ?? ''}`
  return `${proof.state}${reason}, ${made}, ${visibleLine(names)}`
}

type Consents = NonNullable<GatewayShow['gateway']>['consents']

/** A slot may serve several purposes; each has a consent of its own. */
const consentLines = (slot: SlotProjection, consents: Consents): string[] =>
  consents.flatMap(({ purpose, current }) =>
    purpose === egressPurpose || slotOfPurpose[purpose] !== slot.slot
      ? [] : [line('  consent', `${purpose}: ${current ? 'current' : 'not current'}`)])

const slotLines = (view: View, slot: SlotProjection, consents: Consents): string[] => [
  line(`slot ${slot.slot}`, statusText(view, slot)),
  ...(slot.model === null ? [] : [
    line('  model', slot.model),
    line('  upstreams', slot.upstream_allow.join(', ')),
    line(
      '  bound, timeout',
      `${moneyText(slot.request_cost_bound_microusd ?? 0)}, ${slot.timeout_seconds ?? 0} s`,
    ),
    ...consentLines(slot, consents),
    line('  proof', proofText(view, slot)),
  ]),
]

/** The configuration read as text, for `show` and after a save. */
export const gatewayText = (show: GatewayShow, view: View): string => {
  const { gateway } = show
  if (gateway === null) {
    return [
      line('status', 'not set up (disabled)'),
      line('policy revision', String(show.policy_revision)),
      line('next', view.command('gateway setup')),
      '',
    ].join('\n')
  }
  const { slots, consents } = gateway
  return [
    line('status', statusText(view, gateway)),
    ...(gateway.reason === null ? [] : [line('reason', gateway.reason)]),
    line('gateway', gateway.api_base),
    line('grant', gateway.grant_id),
    line('spend ceiling', `${moneyText(gateway.spend_ceiling_microusd)} (shared)`),
    line('key', gateway.key_present ? `present, ${gateway.credential_fingerprint ?? ''}` : 'none'),
    line('cloud egress', gateway.cloud_egress_acknowledged ? 'acknowledged' : 'not acknowledged'),
    ...[slots.chat, slots.report, slots.screenshot]
      .flatMap((slot) => slotLines(view, slot, consents)),
    line('policy revision', String(show.policy_revision)),
    line('transport', 'TLS; gateway and upstream hosts see the content in plaintext'),
    '',
  ].join('\n')
}
