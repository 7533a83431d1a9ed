/** The rules that tie the two routes: one epoch, one fence, one ceiling, nothing comes back. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alphaSetupCollection } from '../../src/alpha/setup.js'
import { gatewayCollection } from '../../src/gateway/setup.js'
import { ceilingOwner } from '../../src/governance/policy/ceiling.js'
import { latestConsent } from '../../src/governance/policy/consents.js'
import { policyHead } from '../../src/governance/policy/head.js'
import { collections } from '../../src/governance/rows.js'
import { checkLedger, recover } from '../support/ledger.js'
import { failure, must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { setupFlags } from '../world/alpha.js'
import { bodyOf, slotFlags } from '../world/gateway.js'
import { World, type RoutesWorld } from '../world/world.js'

const purposes = [
  'gateway.cloud_egress', 'gateway.chat', 'gateway.report', 'gateway.digest', 'gateway.vision',
]

const alphaShow = async (rig: RoutesWorld) =>
  must(await rig.run(['alpha', 'show', '--json'])).json().alpha_text

const revoke = async (rig: RoutesWorld) => must(await rig.run(['policy', 'revoke', '--json']))

const regrantAlpha = async (rig: RoutesWorld) =>
  must(await rig.run(setupFlags(rig.place, await rig.revision())))

const stateOf = (rig: RoutesWorld, purpose: string) => latestConsent(rig.view(), purpose)?.state

const regrantGateway = async (rig: RoutesWorld) => must(await rig.widen([
  '--consent', 'gateway.chat', 'gateway.report', 'gateway.digest', 'gateway.vision',
]))

t.test('A-010 A-192 alpha set-up, asks and disabling leave gateway objects and routing alone', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha({ setUp: false }).gateway()
  must(await rig.prove('chat'))
  const kept = rig.kept()
  const [before] = rig.calls().map(bodyOf)
  const slots = (await rig.show()).gateway.slots
  must(await rig.run(setupFlags(rig.place, await rig.revision())))
  t.equal((await rig.ask()).status, 0)
  must(await rig.run(['alpha', 'setup', '--json', '--disable']))
  t.strictSame(rig.kept(), kept)
  t.strictSame(
    (await rig.show()).gateway.slots, slots, 'consents and proofs are as current as before'
  )
  must(await rig.prove('chat'))
  t.strictSame(bodyOf(rig.calls().at(-1)), before, 'the same request goes out')
  t.equal(rig.calls().length, 2, 'and nothing of alpha ever went to the gateway')
  checkLedger(t, rig)
})

t.test('A-192 gateway accounting is the same with and without alpha', async (t) => {
  const rowsWith = async (bare: boolean) => {
    const rig = await World.in(t).sandbox().state().session().alpha({ setUp: !bare }).gateway()
    if (!bare) t.equal((await rig.ask()).status, 0)
    const { receipt } = must(await rig.prove('report')).json()
    const all = rig.view().all(collections.ledgerRows).map(({ doc }) => doc)
    checkLedger(t, rig)
    return all
      .filter((row) => row.operation_id === receipt.operation_id)
      .map(({ kind, runtime, profile, amount_microusd: amount }) =>
        ({ kind, runtime, profile, amount }))
      .sort((a, b) => a.kind.localeCompare(b.kind))
  }
  const alone = await rowsWith(true)
  t.equal(alone.length, 4)
  t.strictSame(await rowsWith(false), alone)
})

t.test('A-065 a gateway save that advances the policy carries the alpha consent over', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway({ slots: [] })
  const revision = await rig.revision()
  const granted = latestConsent(rig.view(), 'alpha.text')
  must(await rig.widen([
    ...slotFlags('chat', 'gateway.chat'), '--api-key-file', rig.place.path('gateway-key'),
  ]))
  t.equal(await rig.revision(), revision + 2)
  t.equal((await alphaShow(rig)).consent_current, true)
  const carried = latestConsent(rig.view(), 'alpha.text')
  t.equal(carried?.consent_id, granted?.consent_id, 'the same grant')
  t.equal(carried?.bound_revision, revision + 2)
  t.equal((await rig.ask()).status, 0)
})

t.test('A-065 an alpha save carries the gateway consents over', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  must(await rig.run([
    'alpha', 'setup', '--json', '--enable', '--max-output-tokens', '99',
    '--acknowledge-plaintext-egress', '--expected-policy-revision', String(await rig.revision()),
  ]))
  const { consents } = (await rig.show()).gateway
  t.strictSame(consents.filter(({ current }) => !current), [])
  t.equal((await rig.prove('chat')).status, 0)
})

t.test('A-066 an alpha consent that is not current does not carry over a gateway save', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  must(await rig.run(['alpha', 'setup', '--json', '--disable']))
  must(await rig.widen(['--slot', 'chat', '--timeout-seconds', '50']))
  t.equal((await alphaShow(rig)).consent_current, false)
  t.equal((await rig.ask()).status, 4)
  t.equal(rig.inferences().length, 0)
})

t.test('A-067 A-081 a gateway regrant, restarts and recovery never resurrect alpha', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  await revoke(rig)
  await regrantGateway(rig)
  t.equal((await rig.show()).gateway.status, 'configured', 'the gateway is granted again')
  t.hasStrict(await alphaShow(rig), { consent_current: false, status: 'blocked' })
  t.equal(stateOf(rig, 'alpha.text'), 'cleared')
  t.equal((await rig.ask()).status, 4)
  must(await rig.widen(['--slot', 'chat', '--timeout-seconds', '50']))
  must(await rig.run(['gateway', 'setup', '--json', '--spend-ceiling-microusd', '900000']))
  await recover(rig)
  t.equal((await alphaShow(rig)).consent_current, false, 'after further saves and a restart')
  t.equal((await rig.ask()).status, 4)
  t.equal(rig.inferences().length, 0)
  must(await rig.run([
    'alpha', 'setup', '--json', '--enable', '--acknowledge-plaintext-egress',
    '--expected-policy-revision', String(await rig.revision()),
  ]))
  t.equal((await rig.ask()).status, 0, 'only an explicit alpha regrant does')
})

t.test('A-067 a blank key is no regrant', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  await revoke(rig)
  const stdin = JSON.stringify({
    alpha_text: { enabled: true, api_key: '' }, expected_policy_revision: await rig.revision(),
  })
  t.equal((await rig.run(['config', 'save', '--json', '--from', '-'], { stdin })).status, 0)
  t.equal((await alphaShow(rig)).consent_current, false)
  t.equal((await rig.ask()).status, 4)
  t.equal(rig.inferences().length, 0)
})

t.test('A-085 A-090 an alpha save of the ceiling that stands takes it from no gateway', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  t.equal(ceilingOwner(rig.view()), 'gateway')
  const save = async (...flags: string[]) => rig.run([
    'alpha', 'setup', '--json', '--enable', '--acknowledge-plaintext-egress', ...flags,
    '--expected-policy-revision', String(await rig.revision()),
  ])
  must(await save('--timeout-seconds', '9'))
  t.equal(ceilingOwner(rig.view()), 'gateway')
  const other = await save('--spend-ceiling-microusd', '700000')
  t.equal(other.error().code, 'ceiling_differs')
  t.match(other.error().hint, /gateway setup --spend-ceiling 0\.70usd`/)
  t.equal(checkLedger(t, rig)?.ceiling_microusd, 1_000_000)
})

t.test('A-158 no route is saved while the witness of the policy is gone, and either is once it is put back', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const witness = join(rig.place.stateDir, 'witness.log')
  const saves = [
    async () => rig.run([
      'alpha', 'setup', '--json', '--enable', '--acknowledge-plaintext-egress',
      '--timeout-seconds', '9', '--expected-policy-revision', String(await rig.revision()),
    ]),
    () => rig.widen(['--spend-ceiling-microusd', '3000000']),
  ]
  for (const save of saves) {
    const whole = readFileSync(witness)
    const { revision } = policyHead(rig.view())
    rmSync(witness)
    t.hasStrict(failure(await save()), { status: 7, code: 'witness_mismatch' })
    t.equal(policyHead(rig.view()).revision, revision, 'nothing was published')
    writeFileSync(witness, whole)
    must(await save())
  }
})

t.test('A-085 the form of questions does not ask for a ceiling that the gateway has, and tells what moves it', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  must(await rig.widen(['--spend-ceiling-microusd', '3000000']))
  const asked: string[] = []
  const ran = await rig.run(['alpha', 'setup'], {
    terminal: { stdin: true, stdout: true, stderr: true },
    answers: ['128 tokens', '', ''].map((text) => async (question: string) => {
      asked.push(question)
      return text
    }),
  })
  t.notOk(asked.some((question) => /Ceiling/.test(question)), asked.join('\n'))
  t.ok(asked.some((question) => /Bound for one question/.test(question)))
  t.match(ran.stderr, 'ceiling of all routes together is $3.00')
  t.match(ran.stderr, /sallyport gateway setup\s+--spend-ceiling USD/)
})

t.test('A-068 the ceiling mirror follows while the consent is not current, and grants nothing', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  await revoke(rig)
  await regrantGateway(rig)
  const before = latestConsent(rig.view(), 'alpha.text')
  must(await rig.widen(['--spend-ceiling-microusd', '3000000']))
  t.hasStrict(await alphaShow(rig), {
    consent_current: false, spend_ceiling_microusd: 3_000_000, shared_ceiling_microusd: 3_000_000,
  })
  t.strictSame(latestConsent(rig.view(), 'alpha.text'), before, 'the grant was not issued again')
  t.equal((await rig.ask()).status, 4)
  t.equal(rig.inferences().length, 0)
})

t.test('A-071 one revoke stops both routes and advances the one epoch and fence', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const before = policyHead(rig.view())
  await revoke(rig)
  const after = policyHead(rig.view())
  t.equal(after.epoch, before.epoch + 1)
  t.equal(after.fence, after.revision)
  t.equal((await rig.ask()).status, 4)
  const proof = await rig.prove('chat')
  t.equal(proof.status, 4)
  t.equal(proof.error().reason, 'policy_revoked')
  t.equal(rig.inferences().length + rig.calls().length, 0)
  for (const purpose of ['alpha.text', ...purposes]) {
    t.equal(stateOf(rig, purpose), 'revoked', purpose)
  }
})

t.test('A-072 what an operator acknowledges says that a revoke stops both routes', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway({ slots: [] })
  const ran = await rig.widen([
    ...slotFlags('chat', 'gateway.chat'), '--api-key-file', rig.place.path('gateway-key'),
  ])
  t.match(ran.stderr, /global revoke[\s\S]*stops both this route and the text capability/)
  t.match(ran.stderr, /Model: gateway\/acme\/chat-1/)
  t.match(ran.stderr, /Upstream hosts: acme-host, other-host/)
})

t.test('A-073 A-082 alpha saves keep the gateway grant, slots, proofs and key', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  for (const slot of ['chat', 'report', 'screenshot']) must(await rig.prove(slot))
  const kept = rig.kept()
  const grant = rig.view().get(gatewayCollection, 'the')?.grant_id
  t.match(grant, /^grt_/)
  await regrantAlpha(rig)
  must(await rig.run(['alpha', 'setup', '--json', '--disable']))
  await regrantAlpha(rig)
  await revoke(rig)
  await regrantAlpha(rig)
  t.strictSame(rig.kept(), kept)
  t.equal((await rig.show()).gateway.grant_id, grant)
})

t.test('A-077 A-078 A-079 an alpha regrant after a revoke keeps objects and clears consents', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  must(await rig.prove('chat'))
  const kept = rig.kept()
  await revoke(rig)
  await regrantAlpha(rig)
  t.equal((await rig.ask()).status, 0, 'alpha works again')
  t.strictSame(rig.kept(), kept, 'route objects, key and proofs are retained')
  const { gateway } = await rig.show()
  t.equal(gateway.cloud_egress_acknowledged, false)
  t.strictSame(gateway.consents.map(({ state }) => state), purposes.map(() => 'cleared'))
  t.hasStrict(
    gateway, { status: 'blocked', reason_code: 'egress_not_acknowledged', key_present: true }
  )
  const proof = await rig.prove('chat')
  t.equal(proof.status, 4)
  t.equal(proof.error().reason, 'egress_not_acknowledged')
  t.equal(rig.calls().length, 1, 'no byte since the revoke')
  must(await rig.widen(['--consent', 'gateway.chat']))
  t.equal((await rig.prove('chat')).status, 0, 'its own consent brings it back')
  const report = await rig.prove('report')
  t.equal(report.error().reason, 'consent_not_current', 'and only what was consented to')
})

t.test('A-079 the acknowledgment alone brings no purpose back', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  await revoke(rig)
  await regrantAlpha(rig)
  must(await rig.widen(['--enable']))
  t.equal((await rig.show()).gateway.cloud_egress_acknowledged, true)
  for (const slot of ['chat', 'report', 'screenshot']) {
    t.equal((await rig.prove(slot)).error().reason, 'consent_not_current', slot)
  }
  t.equal(rig.calls().length, 0)
})

t.test('A-080 a disabled save from a revoked state leaves the publication revoked', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  await revoke(rig)
  must(await rig.run(['alpha', 'setup', '--json', '--disable']))
  t.hasStrict(policyHead(rig.view()), { state: 'revoked', reason: 'save' })
  must(await rig.run(['gateway', 'setup', '--json', '--disable']))
  t.hasStrict(policyHead(rig.view()), { state: 'revoked', reason: 'save' })
  t.equal((await rig.prove('chat')).status, 4)
  t.equal((await rig.ask()).status, 4)
  t.equal(rig.calls().length + rig.inferences().length, 0)
  await regrantGateway({
    ...rig, widen: (flags, more) => rig.widen(['--enable', ...flags], more),
  })
  t.equal(policyHead(rig.view()).state, 'active')
})

t.test('A-082 the three slots outlive a revoke and a gateway regrant unchanged', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  must(await rig.prove('report'))
  const kept = rig.kept()
  await revoke(rig)
  await regrantGateway(rig)
  t.strictSame(rig.kept(), kept)
  t.equal((await rig.show()).gateway.slots.report.proof.state, 'current')
})

t.test('A-160 a current gateway proof grants alpha nothing', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha({ setUp: false }).gateway()
  must(await rig.prove('chat'))
  t.equal((await rig.show()).gateway.slots.chat.proof.state, 'current')
  t.equal((await rig.ask()).status, 4, 'alpha is not set up')
  must(await rig.run(setupFlags(rig.place, await rig.revision())))
  must(await rig.run(['alpha', 'setup', '--json', '--disable']))
  must(await rig.prove('report'))
  t.equal((await rig.ask()).status, 4, 'alpha is disabled')
  t.equal(rig.inferences().length, 0)
})

t.test('A-012 the canary over every capability knows the gateway\'s slots and not alpha', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const ran = await rig.run(['gateway', 'prove', '--all', '--json'])
  t.equal(ran.status, 0, ran.stderr)
  t.strictSame(
    ran.json().map(({ slot }: { slot: string }) => slot), ['chat', 'report', 'screenshot']
  )
  t.notMatch(ran.stdout, /alpha/)
  t.equal(rig.calls().length, 3)
  t.strictSame(rig.sandbox.log.all({ service: 'provider' }), [])
})

t.test('A-011 A-161 an allow-list or selector that names alpha is refused and grants nothing', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const model = rig.view().get(alphaSetupCollection, 'the')?.model_id ?? ''
  const kept = rig.kept()
  for (const flags of [
    ['--model', 'alpha.text'], ['--model', `gateway/${model}`], ['--model', model],
    ['--upstream-allow', 'acme-host,alpha.text'], ['--upstream-allow', 'vault:alpha_text_api_key'],
  ]) {
    const ran = await rig.widen(['--slot', 'chat', ...flags])
    t.equal(ran.status, 3, flags.join(' '))
    t.match(ran.error().code, /^(selector_refused|upstream_refused|gateway_invalid)$/)
  }
  t.strictSame(rig.kept(), kept)
  t.equal((await rig.run(['gateway', 'prove', 'alpha.text', '--json'])).status, 3)
  t.strictSame(rig.sandbox.log.all({ service: 'provider' }), [])
})

t.test('A-043 the gateway key is no key for alpha', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha({ setUp: false }).gateway()
  const flags = setupFlags(rig.place, await rig.revision())
  const at = flags.indexOf('--api-key-file')
  must(await rig.run([...flags.slice(0, at), ...flags.slice(at + 2)]))
  t.hasStrict(
    await alphaShow(rig), { status: 'configuration_required', reason_code: 'key_missing' }
  )
  t.not((await rig.ask()).status, 0)
  t.equal(rig.inferences().length, 0)
})
