import { moneyText } from '../../../base/money.js'
import type { AlphaShow } from '../../../alpha/projection.js'
import { plaintextStatement } from '../../../alpha/consent-text.js'
import type { View } from '../../output.js'

const line = (name: string, value: string): string => `${name.padEnd(18)}${value}`

type GiverFact = NonNullable<NonNullable<AlphaShow['alpha_text']>['consent_giver']>

const giver = ({ name, principal_id, disabled }: GiverFact): string =>
  `${name ?? principal_id}${disabled ? ' (disabled)' : ''}`

const absent = (revision: number, view: View): string => [
  line('status', 'not set up (disabled)'),
  line('policy revision', String(revision)),
  line('next', view.command('alpha setup')),
  '',
].join('\n')

/** The configuration read as text, for `show` and after a save. */
export const alphaText = (show: AlphaShow, view: View): string => {
  const alpha = show.alpha_text
  if (alpha === null) return absent(show.policy_revision, view)
  const good = alpha.status === 'configured'
  return [
    line('status', view.paint(good ? 'green' : 'yellow', alpha.status)),
    ...(alpha.reason_code === null ? [] : [
      line('reason', `${alpha.reason_code}: ${alpha.reason ?? ''}`),
    ]),
    line('provider', alpha.api_base),
    line('model', alpha.model_id),
    line('profile', alpha.profile_id),
    line('max output', `${alpha.max_output_tokens} tokens`),
    line('timeout', `${alpha.timeout_seconds} s`),
    line('request bound', moneyText(alpha.request_cost_bound_microusd)),
    line('spend ceiling', `${moneyText(alpha.spend_ceiling_microusd)} (shared)`),
    line('key', alpha.key_present ? `present, ${alpha.credential_fingerprint ?? ''}` : 'none'),
    line('consent current', alpha.consent_current ? 'yes' : 'no'),
    ...(alpha.consent_giver === null ? [] : [line('consent given by', giver(alpha.consent_giver))]),
    ...(alpha.acknowledged === null ? [] : [
      line('acknowledged', alpha.acknowledged ? 'by you' : 'not by you'),
    ]),
    line('policy revision', String(show.policy_revision)),
    line('transport', 'TLS; no attestation (tee_verified=false), no end-to-end encryption'),
    line('plaintext', plaintextStatement),
    '',
  ].join('\n')
}
