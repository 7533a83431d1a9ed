import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { bodyOf, gatewayKey, slotFlags } from '../world/gateway.js'
import { World } from '../world/world.js'

const filesUnder = (dir: string): string[] => readdirSync(dir).flatMap((name) => {
  const path = join(dir, name)
  return statSync(path).isDirectory() ? filesUnder(path) : [path]
})

t.test('nothing set up: the read is null and says how to begin', async (t) => {
  const rig = await World.in(t).sandbox().state().session()
    .alpha({ setUp: false }).gateway({ slots: [] })
  t.strictSame(await rig.show(), {
    schema: 'sallyport.gateway.v1', gateway: null, policy_revision: 1,
  })
  const text = must(await rig.run(['gateway', 'show'])).stdout
  t.match(text, /not set up \(disabled\)[\s\S]*sallyport gateway setup/)
  const both = must(await rig.run(['config', 'show'])).stdout
  t.match(both, /alpha_text[\s\S]*gateway\n/)
  t.equal((await rig.prove('chat')).error().reason, 'slot_not_set')
  t.strictSame((await rig.run(['gateway', 'prove', '--all', '--json'])).json(), [])
})

t.test('status follows key, slots, switch and consents, each with a reason', async (t) => {
  const rig = await World.in(t).sandbox().state().session()
    .alpha({ setUp: false }).gateway({ slots: [] })
  const statusOf = async () => {
    const { status, reason_code: reason } = (await rig.show()).gateway
    return [status, reason]
  }
  must(await rig.widen([...slotFlags('chat'), '--spend-ceiling-microusd', '1000000']))
  t.strictSame(await statusOf(), ['configuration_required', 'key_missing'])
  must(await rig.widen(['--api-key-file', rig.place.path('gateway-key')]))
  t.strictSame(await statusOf(), ['configured', null])
  t.equal((await rig.show()).gateway.slots.chat.reason_code, 'consent_not_current')
  t.equal((await rig.show()).gateway.slots.report.reason_code, 'slot_not_set')
  must(await rig.widen(['--consent', 'chat']))
  t.equal((await rig.show()).gateway.slots.chat.status, 'configured')
  const consentLines = async (): Promise<string[]> =>
    (await rig.run(['gateway', 'show'])).stdout.match(/^ *consent .*/gm) ?? []
  t.matchStrict(
    await consentLines(), [/gateway\.chat: current$/], 'only a slot that is set has consents'
  )
  must(await rig.widen(slotFlags('report')))
  t.matchStrict(await consentLines(), [
    /gateway\.chat: current$/, /gateway\.report: not current$/, /gateway\.digest: not current$/,
  ])
  must(await rig.run(['gateway', 'setup', '--remove-slot', 'report', '--json']))
  must(await rig.run(['gateway', 'setup', '--disable', '--json']))
  t.strictSame(await statusOf(), ['disabled', 'route_disabled'])
  must(await rig.widen(['--enable']))
  must(await rig.run(['gateway', 'setup', '--remove-slot', 'chat', '--json']))
  t.strictSame(await statusOf(), ['configuration_required', 'slot_not_set'])
})

t.test('all that a first save lacks is told at once, and what is wrong, by the flags that say it', async (t) => {
  const rig = await World.in(t).sandbox().state().session()
    .alpha({ setUp: false }).gateway({ slots: [] })
  const refused = async (...flags: string[]) => {
    const ran = await rig.run(['gateway', 'setup', ...flags, '--json'])
    t.equal(ran.status, flags.length > 2 ? 3 : 2)
    return ran.error()
  }
  t.hasStrict(await refused('--slot', 'report', '--timeout-seconds', '20'), {
    code: 'gateway_field_required',
    message: 'The first save must name --spend-ceiling, --model, --upstream-allow.',
    details: { fields: 'spend_ceiling_microusd,slots.report.model,slots.report.upstream_allow' },
  })
  const good = ['--slot', 'chat', '--model', 'gateway/acme/text-1', '--spend-ceiling', '1usd']
  t.match((await refused(...good, '--upstream-allow', 'a b')).message,
    /^Flag --upstream-allow must be an upstream slug/)
  t.match((await refused(...good, '--consent', 'screenshot')).message, /^Flag --consent must be/)
  const key = rig.place.write('odd', 'two words\n')
  t.match((await refused(...good, '--api-key-file', key)).message, /^Flag --api-key-file must be/)
  t.match((await refused(...good, '--upstream-allow', 'acme-host')).hint,
    'Repeat with --acknowledge and --expected-revision, as `sallyport gateway show` prints it.')
  t.match((await refused('--slot', 'report')).message, '--model and --upstream-allow where')
  const alpha = await rig.run(['alpha', 'setup', '--timeout-seconds', '20', '--json'])
  t.equal(alpha.error().message,
    'The first save must name --max-output-tokens, --request-cost-bound, --spend-ceiling.')
})

t.test('a slot that is named by its purpose is told by its name', async (t) => {
  const rig = await World.in(t).sandbox().state().session()
    .alpha({ setUp: false }).gateway({ slots: [] })
  const hint = async (...words: string[]) => {
    const ran = await rig.run(['gateway', ...words, '--json'])
    return [ran.status, ran.error().hint]
  }
  for (const named of ['vision', 'gateway.vision', 'screenshots']) {
    t.strictSame(await hint('setup', '--slot', named, '--timeout-seconds', '20'),
      [3, 'Did you mean --slot screenshot?'])
  }
  t.strictSame(await hint('prove', 'digest'), [3, 'Did you mean `sallyport gateway prove report`?'])
  t.strictSame(await hint('prove', 'constructor'), [3, null])
  t.strictSame(await hint('setup', '--slot', 'sidecar', '--timeout-seconds', '20'), [3, null])
})

t.test('the gateway alone bootstraps the one ledger', async (t) => {
  const rig = await World.in(t).sandbox().state().session()
    .alpha({ setUp: false }).gateway({ slots: [] })
  const ran = await rig.widen([...slotFlags('chat'), '--spend-ceiling-microusd', '12345'])
  t.equal(ran.status, 0, ran.stderr)
  t.hasStrict(
    ran.json().gateway, { shared_ceiling_microusd: 12_345, spend_ceiling_microusd: 12_345 }
  )
  t.equal(ran.json().gateway.slots.chat.request_cost_bound_microusd, 12_345, 'never above it')
})

t.test('a blank key keeps the stored one, and the same key goes out', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const before = (await rig.show()).gateway.credential_fingerprint
  writeFileSync(rig.place.path('blank'), '\n')
  must(await rig.widen([
    '--api-key-file', rig.place.path('blank'), '--slot', 'chat', '--timeout-seconds', '20',
  ]))
  t.equal((await rig.show()).gateway.credential_fingerprint, before)
  must(await rig.prove('chat'))
  t.strictSame(rig.calls()[0]?.headers.get('authorization'), [`Bearer ${gatewayKey}`])
})

t.test('misuse of the flags is told and nothing is saved', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const revision = await rig.revision()
  const lines: [string[], number][] = [
    [['setup'], 2], [['setup', '--model', 'gateway/a/b'], 2], [['setup', '--slot', 'chat'], 2],
    [['setup', '--slot', 'nothing', '--model', 'gateway/a/b'], 3],
    [['setup', '--enable', '--disable'], 2],
    [['setup', '--slot', 'chat', '--timeout-seconds', '1', '--remove-slot', 'chat'], 2],
    [['setup', '--slot', 'chat', '--timeout-seconds', '0x10'], 3],
    [['setup', '--slot', 'chat', '--timeout-seconds', '121'], 3],
    [['setup', '--from', 'x', '--disable'], 2], [['setup', '--from', 'missing'], 3],
    [['setup', '--consent', 'alpha.text'], 3], [['setup', '--consent', 'cloud_egress'], 3],
    [['prove'], 2], [['prove', 'chat', '--all'], 2], [['prove', 'chats'], 3],
  ]
  for (const [words, status] of lines) {
    const ran = await rig.run(['gateway', ...words, '--json'])
    t.equal(ran.status, status, `${words.join(' ')}: ${ran.stderr}`)
  }
  t.equal((await rig.run(['config', 'save', '--json'])).status, 2)
  t.equal(await rig.revision(), revision)
})

t.test('the reads need no network and say the same without it', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  must(await rig.prove('chat'))
  const reads = async () => [
    must(await rig.run(['gateway', 'show', '--json'])).stdout,
    must(await rig.run(['config', 'show', '--json'])).stdout,
    must(await rig.prove('chat', { args: ['--if-stale'] })).stdout.replace(/"made": .*/, ''),
  ]
  const before = await reads()
  await rig.sandbox.stop()
  t.strictSame(await reads(), before)
  t.equal(rig.calls().length, 1)
})

t.test('a document on stdin sets the gateway up as the flags do', async (t) => {
  const rig = await World.in(t).sandbox().state().session()
    .alpha({ setUp: false }).gateway({ slots: [] })
  const stdin = JSON.stringify({
    gateway: {
      api_key: gatewayKey, spend_ceiling_microusd: 1_000_000, cloud_egress_acknowledged: true,
      consents: ['gateway.chat'],
      slots: {
        chat: { model: 'gateway/acme/chat-1', upstream_allow: ['b', 'a'], timeout_seconds: 2.5 },
      },
    },
    expected_policy_revision: 1,
  })
  const ran = await rig.run(['gateway', 'setup', '--json', '--from', '-'], { stdin })
  t.equal(ran.status, 0, ran.stderr)
  t.hasStrict(ran.json().gateway.slots.chat, { upstream_allow: ['a', 'b'], timeout_seconds: 2.5 })
  must(await rig.prove('chat'))
  t.strictSame(bodyOf(rig.calls()[0]).provider.only, ['a', 'b'])
})

t.test('a canary that fails in one slot proves the others and says so', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  rig.sandbox.faults.set('status_500', { service: 'gateway', times: 1 })
  const ran = await rig.run(['gateway', 'prove', '--all', '--json'])
  t.equal(ran.status, 7)
  t.hasStrict(ran.json(), [
    { ok: false, slot: 'chat', code: 'proof_charge_unknown', reason: 'http_status_500' },
    { ok: true, slot: 'report' }, { ok: true, slot: 'screenshot' },
  ])
  const text = await rig.run(['gateway', 'prove', '--all', '--if-stale'])
  t.match(text.stdout, /chat: proof_not_repeated[\s\S]*report: already current/)
  const one = await rig.run(['gateway', 'prove', 'chat'])
  t.match(one.stdout,
    /^chat: proved, acme\/chat-1-2026-01-15 by Acme Host, \$[0-9.]+ \([0-9,]+ µUSD\)\n$/)
  t.match(one.stderr, /receipt op_.*: succeeded, \$[0-9.]+ \([0-9,]+ µUSD\), policy \d+/)
  t.match((await rig.run(['gateway', 'show'])).stdout, /proof\s+current/)
})

t.test('neither the key nor a reply\'s text lies in the state or comes out anywhere', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  rig.sandbox.faults.set('not_json', { service: 'gateway', times: 1 })
  const said = [
    await rig.prove('chat', { args: ['--verbose'] }), await rig.prove('report'),
    await rig.run(['gateway', 'show', '--json']), await rig.run(['config', 'show', '--json']),
  ].map(({ stdout, stderr }) => stdout + stderr)
  for (const text of said) t.notMatch(text, /MARK-GATEWAY-KEY|Bad gateway/)
  for (const path of filesUnder(rig.place.stateDir)) {
    const text = readFileSync(path, 'latin1')
    t.notMatch(text, /MARK-GATEWAY-KEY|Bad gateway|readiness/, path)
  }
})

t.test('replies of every kind of fault settle or stay unknown, and nothing is sent twice',
  async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  must(await rig.run(['gateway', 'setup', '--spend-ceiling-microusd', '1000000', '--json']))
  must(await rig.run([
    'gateway', 'setup', '--slot', 'chat', '--timeout-seconds', '1', '--json',
  ]))
  const faults = [
    'redirect_307', 'gzip', 'oversize', 'oversize_chunked', 'truncate', 'reset_mid_body',
    'close_before_headers', 'trailing', 'duplicate_key', 'bom', 'status_401', 'hang_mid_body',
    'first_line_http2', 'first_line_nul', 'switching',
  ]
  for (const [at, fault] of faults.entries()) {
    rig.sandbox.faults.set(fault, {
      service: 'gateway', times: 1,
      ...(fault.startsWith('oversize') ? { value: 1_048_577 } : {}),
    })
    const ran = await rig.prove('chat')
    t.equal(ran.error().code, 'proof_charge_unknown', `${fault}: ${ran.stderr}`)
    t.equal(rig.calls().length, at + 1, fault)
    must(await rig.run([
      'ledger', 'settle', ran.error().details.operation_id, '--amount-microusd', '0', '--yes',
      '--json',
    ]))
  }
})
