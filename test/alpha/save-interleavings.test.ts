/**
 * A save at each of its steps: killed, failed, raced by an operator's revoke and by another save.
 * What must hold: r+1 revoked is the first durable change; the old key and settings stand until
 * r+2; nothing activates by itself; the operator always wins.
 */
import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { presence } from '../../src/governance/vault.js'
import { policyHead } from '../../src/governance/policy/head.js'
import { collections } from '../../src/governance/rows.js'
import { alphaCredentialRef } from '../../src/alpha/constants.js'
import { alphaSetupCollection } from '../../src/alpha/setup.js'
import { recover } from '../support/ledger.js'
import { t } from '../support/tests-in-slices.js'
import { limits } from '../world/alpha.js'
import type { Ran } from '../world/place.js'
import { World, type AlphaWorld } from '../world/world.js'

const steps = ['save.revoked', 'save.credential', 'save.accounting'] as const

/** A change of everything that a save can change: key, ceiling, limits. */
const changeFlags = (rig: AlphaWorld, revision: number): string[] => {
  writeFileSync(rig.place.path('key2'), 'MARK-KEY-SECOND-987\n')
  return [
    'alpha', 'setup', '--json', '--enable', '--acknowledge-plaintext-egress',
    '--api-key-file', rig.place.path('key2'), '--max-output-tokens', '99',
    '--spend-ceiling-microusd', String(limits.ceilingMicrousd * 2),
    '--expected-policy-revision', String(revision),
  ]
}

interface Facts {
  readonly fingerprint: string | null
  readonly staged: boolean
  readonly maxOutputTokens: number | undefined
  readonly ceiling: number | undefined
  readonly policy: { readonly revision: number; readonly state: string; readonly reason: string }
}

const factsOf = (rig: AlphaWorld): Facts => {
  const view = rig.view()
  const { fingerprint, staged } = presence(view, alphaCredentialRef)
  const { revision, state, reason } = policyHead(view)
  return {
    fingerprint, staged,
    maxOutputTokens: view.get(alphaSetupCollection, 'the')?.max_output_tokens,
    ceiling: view.all(collections.ledgerAccounts)[0]?.doc.ceiling_microusd,
    policy: { revision, state, reason },
  }
}

const asBefore = (t: Test, now: Facts, old: Facts): void => {
  t.equal(now.fingerprint, old.fingerprint, 'the old key stands')
  t.equal(now.staged, false, 'no staged key is left')
  t.equal(now.maxOutputTokens, old.maxOutputTokens, 'the old settings stand')
  t.equal(now.ceiling, old.ceiling, 'the old ceiling stands')
}

const cannotAsk = async (t: Test, rig: AlphaWorld): Promise<void> => {
  const ran = await rig.ask()
  t.equal(ran.status, 4, 'an ask is refused')
  t.equal(rig.inferences().length, 0, 'and sends nothing')
}

for (const step of steps) {
  t.test(`A-074 A-075 A-190 A-191 killed at ${step}: rolled back, revoked, old key`, async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const old = factsOf(rig)
    const ran = await rig.place.spawn(changeFlags(rig, old.policy.revision), {
      entry: 'test', coverage: false, env: { TEST_STOP_AT: step },
    })
    t.equal(ran.status, 137)
    const crashed = factsOf(rig)
    t.strictSame(crashed.policy, {
      revision: old.policy.revision + 1, state: 'revoked', reason: 'save_begin',
    }, 'the first durable change is r+1 revoked')
    t.equal(crashed.fingerprint, old.fingerprint, 'the old key is in use until r+2')
    t.equal(crashed.staged, step !== 'save.revoked', 'the credential comes after r+1')
    t.equal(crashed.ceiling === old.ceiling, step !== 'save.accounting')
    const report = await recover(rig)
    t.equal(report.rolledBackSaves.length, 1)
    const now = factsOf(rig)
    asBefore(t, now, old)
    t.equal(now.policy.state, 'revoked')
    t.equal(now.policy.reason, 'save_interrupted')
    const show = (await rig.run(['alpha', 'show', '--json'])).json()
    t.equal(show.alpha_text.status, 'blocked')
    t.equal(show.alpha_text.reason_code, 'save_interrupted')
    await cannotAsk(t, rig)
  })

  t.test(`A-190 after a save killed at ${step} one that only stops activates nothing`, async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const flags = changeFlags(rig, await rig.revision())
    await rig.place.spawn(flags, { entry: 'test', coverage: false, env: { TEST_STOP_AT: step } })
    const off = await rig.run(['alpha', 'setup', '--disable', '--json'])
    t.equal(off.status, 0, off.stderr)
    t.hasStrict(factsOf(rig).policy, { state: 'revoked', reason: 'save_interrupted' })
    await cannotAsk(t, rig)
    const again = await rig.run(changeFlags(rig, await rig.revision()))
    t.equal(again.status, 0, again.stderr)
    t.hasStrict(factsOf(rig).policy, { state: 'active', reason: 'save' })
  })

  t.test(`A-191 failing at ${step}: undone by the save itself`, async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const old = factsOf(rig)
    const ran = await rig.run(changeFlags(rig, old.policy.revision), {
      at: (at) => { if (at === step) throw new Error('stopped by the test') },
    })
    t.equal(ran.status, 1)
    asBefore(t, factsOf(rig), old)
    t.equal(factsOf(rig).policy.state, 'revoked')
    await cannotAsk(t, rig)
  })

  t.test(`A-076 A-190 A-191 an operator's revoke at ${step} wins`, async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const old = factsOf(rig)
    const ran = await rig.run(changeFlags(rig, old.policy.revision), {
      at: async (at) => { if (at === step) await rig.run(['policy', 'revoke']) },
    })
    t.equal(ran.status, 5, 'the save loses its compare-and-set')
    asBefore(t, factsOf(rig), old)
    t.strictSame(factsOf(rig).policy, {
      revision: old.policy.revision + 2, state: 'revoked', reason: 'operator_revoke',
    })
    await cannotAsk(t, rig)
  })

  t.test(`A-074 an ask at ${step} sends nothing`, async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    let asked: Ran | null = null
    const ran = await rig.run(changeFlags(rig, await rig.revision()), {
      at: async (at) => { if (at === step) asked = await rig.ask() },
    })
    t.equal(ran.status, 0, ran.stderr)
    t.equal((asked as Ran | null)?.status, 4)
    t.equal(rig.inferences().length, 0)
  })

  t.test(`A-190 a second save at ${step} is refused, the first one stands`, async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const revision = await rig.revision()
    let second: Ran | null = null
    const ran = await rig.run(changeFlags(rig, revision), {
      at: async (at) => {
        if (at === step) second = await rig.run(changeFlags(rig, await rig.revision()))
      },
    })
    t.equal(ran.status, 0, ran.stderr)
    t.equal((second as Ran | null)?.status, 5)
    t.equal(factsOf(rig).policy.revision, revision + 2)
    t.equal(factsOf(rig).policy.state, 'active')
  })

  t.test(`A-050 disabling at ${step} of another save is never held up`, async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    let disabled: Ran | null = null
    const ran = await rig.run(changeFlags(rig, await rig.revision()), {
      at: async (at) => {
        if (at === step) disabled = await rig.run(['alpha', 'setup', '--disable'])
      },
    })
    t.equal((disabled as Ran | null)?.status, 0)
    t.equal(ran.status, 5)
    t.equal(rig.view().get(alphaSetupCollection, 'the')?.enabled, false)
    await cannotAsk(t, rig)
  })
}

t.test('A-076 killed after r+2: the save applies, its old revision is stale', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const old = factsOf(rig)
  await rig.place.spawn(changeFlags(rig, old.policy.revision), {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: 'save.published' },
  })
  const now = factsOf(rig)
  t.strictSame(now.policy, { revision: old.policy.revision + 2, state: 'active', reason: 'save' })
  t.not(now.fingerprint, old.fingerprint)
  t.equal(now.maxOutputTokens, 99)
  const again = await rig.run([
    'alpha', 'setup', '--json', '--max-output-tokens', '98', '--acknowledge-plaintext-egress',
    '--expected-policy-revision', String(old.policy.revision),
  ])
  t.equal(again.status, 5)
  t.equal(again.error().code, 'stale_policy_revision')
  t.equal((await rig.ask()).status, 0)
})

t.test('A-067 a save after an interrupted one is no regrant after revocation', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  await rig.place.spawn(changeFlags(rig, await rig.revision()), {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: 'save.accounting' },
  })
  await recover(rig)
  t.equal((await rig.run(['alpha', 'show', '--json'])).json().alpha_text.consent_current, false)
  const saved = await rig.run(changeFlags(rig, await rig.revision()))
  t.equal(saved.status, 0, saved.stderr)
  t.equal(saved.json().alpha_text.status, 'configured')
  t.equal((await rig.ask()).status, 0)
})
