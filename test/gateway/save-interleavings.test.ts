/** The gateway's save, thrown out of, killed and raced by an operator's revoke at s1 to s5. */
import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { alphaSetupCollection } from '../../src/alpha/setup.js'
import { gatewayCollection } from '../../src/gateway/setup.js'
import { ceilingOwner } from '../../src/governance/policy/ceiling.js'
import { latestConsent } from '../../src/governance/policy/consents.js'
import { policyHead } from '../../src/governance/policy/head.js'
import { presence } from '../../src/governance/vault.js'
import { checkLedger, recover } from '../support/ledger.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { World, type RoutesWorld } from '../world/world.js'
import { slotFlags } from '../world/gateway.js'

const steps = ['revoked', 'credential', 'accounting'] as const

/** Everything that a save which did not come through must leave as it was. */
const facts = (rig: RoutesWorld) => {
  const view = rig.view()
  return {
    kept: rig.kept(),
    alpha: view.get(alphaSetupCollection, 'the'),
    ceiling: view.get(gatewayCollection, 'the')?.spend_ceiling_microusd,
    owner: ceilingOwner(view),
  }
}

/** A save that changes key, ceiling and a slot at once. */
const bigSave = async (rig: RoutesWorld): Promise<string[]> => {
  writeFileSync(rig.place.path('new-key'), 'MARK-NEW-GATEWAY-KEY\n')
  return [
    'gateway', 'setup', '--json', '--slot', 'chat', '--timeout-seconds', '60',
    '--api-key-file', rig.place.path('new-key'), '--spend-ceiling-microusd', '2000000',
    '--acknowledge-cloud-egress', '--expected-policy-revision', String(await rig.revision()),
  ]
}

const checkRolledBack = async (
  t: Test, rig: RoutesWorld, before: ReturnType<typeof facts>, step: string,
): Promise<void> => {
  t.strictSame(facts(rig), before, `${step}: key, slots, mirrors and owner stand as before`)
  t.hasStrict(policyHead(rig.view()), { state: 'revoked', reason: 'save_interrupted' }, step)
  t.equal(checkLedger(t, rig)?.ceiling_microusd, 1_000_000, step)
  t.equal(presence(rig.view(), 'vault:gateway_api_key').staged, false, step)
  t.equal((await rig.prove('chat')).error().reason, 'save_interrupted', step)
  t.equal((await rig.ask()).status, 4, step)
  t.equal(rig.calls().length + rig.inferences().length, 0, `${step}: nobody was contacted`)
}

/** A save after an interrupted one is no regrant after a revocation: consents carry over. */
const checkMends = async (t: Test, rig: RoutesWorld, step: string): Promise<void> => {
  must(await rig.widen(['--slot', 'chat', '--timeout-seconds', '44']))
  must(await rig.widen(['--slot', 'chat', '--timeout-seconds', '45']))
  t.equal(latestConsent(rig.view(), 'alpha.text')?.bound_revision, await rig.revision(), step)
  t.strictSame((await rig.show()).gateway.consents.filter((one) => !one.current), [], step)
}

t.test('a save that is killed at s1 to s3 is rolled back and activates nothing', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  for (const step of steps) {
    const before = facts(rig)
    const ran = await rig.place.spawn(await bigSave(rig), {
      entry: 'test', env: { TEST_STOP_AT: `save.${step}` }, coverage: false,
    })
    t.equal(ran.status, 137)
    await recover(rig)
    await checkRolledBack(t, rig, before, step)
    await checkMends(t, rig, step)
  }
})

t.test('A-190 after an interrupted save one that only stops brings no route back', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  await rig.place.spawn(await bigSave(rig), {
    entry: 'test', env: { TEST_STOP_AT: 'save.credential' }, coverage: false,
  })
  must(await rig.run(['alpha', 'setup', '--disable', '--json']))
  t.hasStrict(policyHead(rig.view()), { state: 'revoked', reason: 'save_interrupted' })
  t.equal((await rig.prove('chat')).error().reason, 'save_interrupted')
  must(await rig.run(['gateway', 'setup', '--slot', 'chat', '--timeout-seconds', '9', '--json']))
  t.equal((await rig.prove('chat')).error().reason, 'save_interrupted')
  t.equal(rig.calls().length, 0, 'nobody was contacted')
  must(await rig.widen(['--slot', 'chat', '--timeout-seconds', '44']))
  t.strictSame((await rig.show()).gateway.consents.filter((one) => !one.current), [])
})

t.test('a save that fails at s1 to s3 compensates itself', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  for (const step of steps) {
    const before = facts(rig)
    const ran = await rig.run(await bigSave(rig), {
      at: (name) => { if (name === `save.${step}`) throw new Error('stopped') },
    })
    t.not(ran.status, 0)
    await checkRolledBack(t, rig, before, step)
    await checkMends(t, rig, step)
  }
})

t.test('an operator\'s revoke during a save wins, and the save is undone', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  for (const step of steps) {
    const before = facts(rig)
    const ran = await rig.run(await bigSave(rig), {
      at: async (name) => {
        if (name === `save.${step}`) must(await rig.run(['policy', 'revoke']))
      },
    })
    t.equal(ran.status, 5, step)
    t.equal(ran.error().code, 'policy_moved')
    t.strictSame(facts(rig), before, step)
    t.hasStrict(policyHead(rig.view()), { state: 'revoked', reason: 'operator_revoke' })
    t.equal(checkLedger(t, rig)?.ceiling_microusd, 1_000_000)
    must(await rig.widen(['--consent', 'chat', 'report', 'digest', 'vision']))
  }
  t.equal((await rig.run(['alpha', 'show', '--json'])).json().alpha_text.consent_current, false)
})

t.test('a save that is killed after r+2 has happened, and its repetition is stale', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const argv = await bigSave(rig)
  const ran = await rig.place.spawn(argv, {
    entry: 'test', env: { TEST_STOP_AT: 'save.published' }, coverage: false,
  })
  t.equal(ran.status, 137)
  const { gateway } = await rig.show()
  t.hasStrict(gateway, { status: 'configured', spend_ceiling_microusd: 2_000_000 })
  t.equal(rig.view().get(alphaSetupCollection, 'the')?.spend_ceiling_microusd, 2_000_000)
  t.equal((await rig.run(argv)).error().code, 'stale_policy_revision')
})

t.test('A-085 a first gateway save that did not come through leaves the ceiling to alpha', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway({ slots: [] })
  const flags = [
    ...slotFlags('chat', 'gateway.chat'), '--api-key-file', rig.place.path('gateway-key'),
    '--spend-ceiling-microusd', '2000000',
  ]
  const ran = await rig.widen(flags, {
    at: (name) => { if (name === 'save.accounting') throw new Error('stopped') },
  })
  t.not(ran.status, 0)
  t.equal(rig.view().get(gatewayCollection, 'the'), undefined)
  t.equal(checkLedger(t, rig)?.ceiling_microusd, 1_000_000)
  t.equal(ceilingOwner(rig.view()), 'alpha')
  const alpha = await rig.run([
    'alpha', 'setup', '--json', '--enable', '--spend-ceiling-microusd', '700000',
    '--acknowledge-plaintext-egress', '--expected-policy-revision', String(await rig.revision()),
  ])
  t.equal(alpha.status, 0, alpha.stderr)
})

t.test('A-190 of two saves at once one wins, and the other changes nothing', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  let second: { status: number; code: string } | undefined
  const first = await rig.run(await bigSave(rig), {
    at: async (name) => {
      if (name !== 'save.credential') return
      const ran = await rig.widen(['--slot', 'report', '--timeout-seconds', '99'])
      second = { status: ran.status, code: ran.error().code }
    },
  })
  t.equal(first.status, 0, first.stderr)
  t.strictSame(second, { status: 5, code: 'save_in_progress' })
  t.equal(rig.view().get(gatewayCollection, 'the')?.slots.report?.timeout_seconds, 45)
})

t.test('a save ahead of its session, or with a stale revision, is refused unpublished', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const revision = await rig.revision()
  for (const flags of [[], ['--expected-policy-revision', String(revision - 1)],
    ['--expected-policy-revision', String(revision + 1)]]) {
    const ran = await rig.run([
      'gateway', 'setup', '--json', '--slot', 'chat', '--timeout-seconds', '77',
      '--acknowledge-cloud-egress', ...flags,
    ])
    t.ok([3, 5].includes(ran.status), ran.stderr)
  }
  const bare = await rig.run([
    'gateway', 'setup', '--json', '--slot', 'chat', '--timeout-seconds', '77',
    '--expected-policy-revision', String(revision),
  ])
  t.equal(bare.error().code, 'acknowledgment_required')
  t.equal(await rig.revision(), revision)
})

t.test('on a terminal the statements are shown and the answer starts at no', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const revision = await rig.revision()
  const terminal = { stdin: true, stdout: true, stderr: true }
  const argv = [
    'gateway', 'setup', '--slot', 'chat', '--model', 'gateway/acme/chat-2', '--consent', 'chat',
  ]
  const no = await rig.run(argv, { terminal, answers: [false] })
  t.equal(no.status, 130)
  t.match(no.stderr, /Consent to gateway\.chat[\s\S]*gateway\/acme\/chat-2/)
  t.equal(await rig.revision(), revision)
  const yes = await rig.run(argv, { terminal, answers: [true], env: { NO_COLOR: '1' } })
  t.equal(yes.status, 0, yes.stderr)
  t.match(yes.stdout, /slot chat\s+configured/)
})

t.test('a yes counts for the text that was shown, not for another that was saved meanwhile', async (t) => {
  const rig = await World.in(t).sandbox().state().session()
    .alpha().gateway({ slots: ['screenshot'] })
  must(await rig.run(['policy', 'revoke', '--json']))
  const before = await rig.revision()
  const ran = await rig.run(['gateway', 'setup', '--consent', 'gateway.vision', '--json'], {
    terminal: { stdin: true, stdout: true, stderr: true },
    answers: [async () => {
      must(await rig.widen([
        '--slot', 'screenshot', '--model', 'gateway/other/vision-2',
        '--upstream-allow', 'elsewhere-host',
      ]))
      return true
    }],
  })
  t.match(ran.stderr, 'gateway/acme/screenshot-1')
  t.equal(ran.status, 5)
  t.equal(ran.error().code, 'stale_policy_revision')
  t.ok(await rig.revision() > before, 'the other save stands')
  const vision = (await rig.show()).gateway.consents.find((one) => one.purpose === 'gateway.vision')
  t.equal(vision?.current, false, 'what nobody saw is not consented to')
})
