import { writeFileSync } from 'node:fs'
import { collections } from '../../src/governance/rows.js'
import { alphaSetupCollection } from '../../src/alpha/setup.js'
import { gatewayCollection } from '../../src/gateway/setup.js'
import { checkLedger } from '../support/ledger.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { limits } from '../world/alpha.js'
import { gatewayKey, saveConfig, slotFlags } from '../world/gateway.js'
import { World, type RoutesWorld } from '../world/world.js'

const alphaDoc = (rig: RoutesWorld) => rig.view().get(alphaSetupCollection, 'the')
const gatewayDoc = (rig: RoutesWorld) => rig.view().get(gatewayCollection, 'the')

/** The write form of what is saved, so that a save of it changes nothing. */
const alphaBlock = (change: object = {}) => ({
  enabled: true, max_output_tokens: limits.maxOutputTokens, timeout_seconds: limits.timeoutSeconds,
  request_cost_bound_microusd: limits.boundMicrousd,
  spend_ceiling_microusd: limits.ceilingMicrousd,
  plaintext_provider_egress_acknowledged: true, ...change,
})

const gatewayBlock = (change: object = {}) => ({
  enabled: true, spend_ceiling_microusd: 1_000_000, cloud_egress_acknowledged: true,
  slots: { chat: { model: 'gateway/acme/chat-1', upstream_allow: ['acme-host', 'other-host'] } },
  ...change,
})

const headOf = (rig: RoutesWorld) => rig.view().get(collections.policyHead, 'the')?.revision

t.test('A-047 A-061 a configuration without alpha_text reads, loads and saves', async (t) => {
  const rig = await World.in(t).sandbox().state().session()
    .alpha({ setUp: false }).gateway({ slots: [] })
  const fresh = must(await rig.run(['config', 'show', '--json'])).json()
  t.strictSame(fresh, {
    schema: 'sallyport.configuration.v1', alpha_text: null, gateway: null, policy_revision: 1,
  })
  const ran = await saveConfig(rig, {
    gateway: gatewayBlock({ api_key: gatewayKey }), expected_policy_revision: 1,
  })
  t.equal(ran.status, 0, ran.stderr)
  t.equal(ran.json().alpha_text, null)
  t.equal(ran.json().gateway.status, 'configured')
  t.equal(alphaDoc(rig), undefined)
})

t.test('A-048 a save that omits a block preserves it', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const [alpha, gateway] = [alphaDoc(rig), gatewayDoc(rig)]
  must(await saveConfig(rig, {
    gateway: { slots: { chat: { timeout_seconds: 30 } } }, expected_policy_revision: headOf(rig),
  }))
  t.strictSame(alphaDoc(rig), alpha, 'alpha_text was omitted')
  t.not(gatewayDoc(rig)?.slots.chat?.timeout_seconds, gateway?.slots.chat?.timeout_seconds)
  t.strictSame(
    gatewayDoc(rig)?.slots.report, gateway?.slots.report, 'a slot that is not named stays'
  )
  const before = gatewayDoc(rig)
  must(await saveConfig(rig, {
    alpha_text: alphaBlock({ max_output_tokens: 100 }), expected_policy_revision: headOf(rig),
  }))
  t.strictSame(gatewayDoc(rig), before, 'the gateway was omitted')
  t.equal(alphaDoc(rig)?.max_output_tokens, 100)
})

t.test('A-049 an explicit null is refused for either block, and nothing changes', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const before = [alphaDoc(rig), gatewayDoc(rig), headOf(rig)]
  const alpha = await saveConfig(rig, { alpha_text: null, expected_policy_revision: headOf(rig) })
  t.equal(alpha.status, 3)
  t.equal(alpha.error().code, 'alpha_text_null')
  const gateway = await saveConfig(rig, { gateway: null, expected_policy_revision: headOf(rig) })
  t.equal(gateway.error().code, 'gateway_null')
  const beside = await saveConfig(rig, {
    alpha_text: null, gateway: { enabled: false }, expected_policy_revision: headOf(rig),
  })
  t.equal(beside.error().code, 'alpha_text_null', 'also beside a block that is good')
  t.strictSame([alphaDoc(rig), gatewayDoc(rig), headOf(rig)], before)
})

t.test('A-050 disabling is enabled=false; setup, key and limits remain', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const { enabled: was, ...before } = alphaDoc(rig) ?? { enabled: false }
  t.equal(was, true)
  const ran = await saveConfig(rig, { alpha_text: { enabled: false } })
  t.equal(ran.status, 0, 'neither acknowledgment nor revision')
  t.hasStrict(ran.json().alpha_text, { status: 'disabled', key_present: true })
  const { enabled, plaintext_egress_consent_revision: revision, ...after } =
    alphaDoc(rig) ?? { enabled: true, plaintext_egress_consent_revision: 0 }
  t.equal(enabled, false)
  t.equal(revision, null, 'the consent is withdrawn')
  t.hasStrict(before, after)
  const off = await saveConfig(rig, { gateway: { enabled: false } })
  t.matchStrict(
    off.json().gateway,
    { status: 'disabled', key_present: true, slots: { chat: { model: String } } },
  )
})

t.test('A-051 a save that changes both routes is refused and changes neither', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const before = [alphaDoc(rig), gatewayDoc(rig), headOf(rig)]
  const ran = await saveConfig(rig, {
    alpha_text: alphaBlock({ max_output_tokens: 10 }),
    gateway: gatewayBlock({ slots: { chat: { timeout_seconds: 10 } } }),
    expected_policy_revision: headOf(rig),
  })
  t.equal(ran.status, 3)
  t.equal(ran.error().code, 'both_routes_changed')
  const keys = await saveConfig(rig, {
    alpha_text: alphaBlock({ api_key: 'another-alpha-key' }),
    gateway: gatewayBlock({ api_key: 'another-gateway-key' }),
    expected_policy_revision: headOf(rig),
  })
  t.equal(keys.error().code, 'both_routes_changed', 'a new key alone is a change')
  const off = await saveConfig(rig, { alpha_text: { enabled: false }, gateway: { enabled: false } })
  t.equal(off.error().code, 'both_routes_changed', 'disabling both at once too')
  t.strictSame([alphaDoc(rig), gatewayDoc(rig), headOf(rig)], before)
})

t.test('A-051 an unchanged resubmitted block is no change beside the other one', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const gateway = gatewayDoc(rig)
  const one = await saveConfig(rig, {
    alpha_text: alphaBlock({ max_output_tokens: 10 }), gateway: gatewayBlock(),
    expected_policy_revision: headOf(rig),
  })
  t.equal(one.status, 0, one.stderr)
  t.equal(alphaDoc(rig)?.max_output_tokens, 10)
  t.strictSame(gatewayDoc(rig), gateway)
  const alpha = alphaDoc(rig)
  const two = await saveConfig(rig, {
    alpha_text: alphaBlock({ max_output_tokens: 10 }), gateway: { enabled: false },
  })
  t.equal(two.status, 0, two.stderr)
  t.equal(gatewayDoc(rig)?.enabled, false)
  t.strictSame(alphaDoc(rig), alpha)
  const revision = headOf(rig)
  const none = await saveConfig(rig, {
    alpha_text: alphaBlock({ max_output_tokens: 10 }), gateway: { enabled: false },
    expected_policy_revision: revision,
  })
  t.equal(none.status, 0)
  t.equal(headOf(rig), revision, 'no change publishes nothing')
})

t.test('a document is strict: unknown fields, doubled keys, stale and odd revisions', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const revision = headOf(rig)
  const save = (stdin: string) => rig.run(['config', 'save', '--json', '--from', '-'], { stdin })
  const refusals: [string, string][] = [
    ['{"alpha":{}}', 'configuration_invalid'], ['[]', 'configuration_invalid'],
    ['{"gateway":{},"gateway":{}}', 'json_duplicate_key'], ['{', 'not_json'],
    [`{"expected_policy_revision":${revision}.0}`, 'configuration_invalid'],
    ['{"expected_policy_revision":null}', 'configuration_invalid'],
    ['{"gateway":{"enabled":1}}', 'gateway_invalid'], ['{"alpha_text":[]}', 'setup_invalid'],
  ]
  for (const [text, code] of refusals) {
    const ran = await save(text)
    t.equal(ran.status, 3, text)
    t.equal(ran.error().code, code, text)
  }
  const stale = await save('{"expected_policy_revision":1}')
  t.equal(stale.status, 5)
  t.equal(stale.error().code, 'stale_policy_revision', 'a revision that is sent is compared')
  t.equal((await save('{}')).status, 0, 'nothing named, nothing changed')
  t.equal(headOf(rig), revision)
})

t.test('a verb of one route refuses a document that names the other', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const stdin = JSON.stringify({ alpha_text: { enabled: false }, gateway: { enabled: false } })
  const alpha = await rig.run(['alpha', 'setup', '--json', '--from', '-'], { stdin })
  t.equal(alpha.error().code, 'block_not_of_this_verb')
  const gateway = await rig.run(['gateway', 'setup', '--json', '--from', '-'], { stdin })
  t.equal(gateway.error().code, 'block_not_of_this_verb')
})

t.test('A-166 configuration read and save need a session, and change nothing without', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  await rig.run(['logout'])
  const before = rig.kept()
  for (const argv of [
    ['config', 'show'], ['gateway', 'show'], ['gateway', 'setup', '--disable'],
    ['gateway', 'prove', 'chat'],
  ]) {
    const ran = await rig.run([...argv, '--json'])
    t.equal(ran.status, 4, argv.join(' '))
    t.equal(ran.stdout, '')
  }
  t.equal((await saveConfig(rig, { gateway: { enabled: false } })).status, 4)
  t.strictSame(rig.kept(), before)
  t.equal(rig.calls().length, 0)
})

t.test('A-085 an alpha save with another ceiling than the gateway\'s is a 409', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const before = [alphaDoc(rig), gatewayDoc(rig), headOf(rig)]
  const ran = await saveConfig(rig, {
    alpha_text: alphaBlock({ spend_ceiling_microusd: 900_000 }),
    expected_policy_revision: headOf(rig),
  })
  t.equal(ran.status, 5)
  t.hasStrict(ran.error(), { code: 'ceiling_differs', status: 409 })
  t.strictSame([alphaDoc(rig), gatewayDoc(rig), headOf(rig)], before)
  t.equal(checkLedger(t, rig)?.ceiling_microusd, 1_000_000)
})

t.test('A-085 before a gateway exists the text capability edits its own ceiling', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const ran = await saveConfig(rig, {
    alpha_text: alphaBlock({ spend_ceiling_microusd: 900_000 }),
    expected_policy_revision: await rig.revision(),
  })
  t.equal(ran.status, 0, ran.stderr)
  t.equal(ran.json().alpha_text.shared_ceiling_microusd, 900_000)
})

t.test('A-088 A-090 a gateway edit of the ceiling carries the alpha mirror along', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  must(await rig.widen(['--spend-ceiling-microusd', '2000000']))
  t.equal(alphaDoc(rig)?.spend_ceiling_microusd, 2_000_000)
  t.equal(gatewayDoc(rig)?.spend_ceiling_microusd, 2_000_000)
  t.equal(checkLedger(t, rig)?.ceiling_microusd, 2_000_000)
  t.equal(rig.view().all(collections.ledgerAccounts).length, 1, 'still the one ledger')
  const shown = (await rig.run(['alpha', 'show', '--json'])).json().alpha_text
  t.hasStrict(
    shown, { status: 'configured', consent_current: true, shared_ceiling_microusd: 2_000_000 }
  )
})

t.test('a ceiling below the request bounds is accepted and blocks what it no longer covers', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  must(await rig.run(['gateway', 'setup', '--json', '--spend-ceiling-microusd', '40000']))
  const shown = must(await rig.run(['config', 'show', '--json'])).json()
  t.hasStrict(shown.alpha_text, { status: 'blocked', reason_code: 'request_bound_above_ceiling' })
  t.hasStrict(shown.gateway, {
    status: 'configured',
    slots: { chat: { status: 'blocked', reason_code: 'request_bound_above_ceiling' } },
  })
  t.equal((await rig.prove('chat')).status, 7)
  t.equal(rig.calls().length, 0)
})

t.test('a gateway that the sealed profile does not name cannot be set up', async (t) => {
  const place = World.in(t).place
  writeFileSync(place.path('profile.json'), JSON.stringify({
    schema: 'sallyport.profile.v1', name: 'alone',
    provider: { name: 'p', base_url: 'https://127.0.0.1:1/v1', model_id: 'only' },
  }))
  must(await place.run(['init', '--json', '--profile', place.path('profile.json')]))
  must(await place.run(['login', '--json']))
  const ran = await place.run([
    'gateway', 'setup', '--json', ...slotFlags('chat'), '--spend-ceiling-microusd', '1000',
    '--acknowledge-cloud-egress', '--expected-policy-revision', '1',
  ])
  t.equal(ran.status, 3)
  t.equal(ran.error().code, 'gateway_not_in_profile')
  t.equal(must(await place.run(['gateway', 'show', '--json'])).json().gateway, null)
})
