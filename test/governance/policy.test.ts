/** Publication, witness and consents over a real store, where crashes and clocks get in the way. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  acknowledgeConsent, carryOver, currentConsent, grantConsent, hasAcknowledged, latestConsent,
} from '../../src/governance/policy/consents.js'
import { policyHead } from '../../src/governance/policy/head.js'
import { publishRevision } from '../../src/governance/policy/publish.js'
import { policyStatus } from '../../src/governance/policy/policy-status.js'
import { verifyPolicy } from '../../src/governance/policy/verify-policy.js'
import { recoverInterrupted } from '../../src/contact/recovery.js'
import { collections, type Consent, type SaveIntent } from '../../src/governance/rows.js'
import { sha256Hex } from '../../src/base/canonical.js'
import { isoFromMs } from '../../src/base/clock.js'
import { signIn } from '../support/tasks.js'
import { World, type StateWorld } from '../world/world.js'

const witnessOf = (bench: StateWorld): string => join(bench.gov.store.dir, 'witness.log')

/** What a crash between the record and its witness line leaves. */
const cutLastLine = (bench: StateWorld): void => {
  const lines = readFileSync(witnessOf(bench), 'utf8').trimEnd().split('\n')
  writeFileSync(witnessOf(bench), lines.slice(0, -1).map((line) => `${line}\n`).join(''))
}

const publish = (bench: StateWorld, state: 'active' | 'revoked' = 'active') =>
  bench.transact((tx, now) => publishRevision(tx, bench.gov.store, now, {
    state, reason: 'save', principal: null, carriesFrom: policyHead(tx).revision,
  }))

const block = (bench: StateWorld) => policyStatus(bench.gov.store, bench.view()).block

/** A save that died right after its r+1. */
const deadSave = async (bench: StateWorld): Promise<void> => {
  const { session } = await signIn(bench)
  await bench.transact((tx, now) => {
    const base = policyHead(tx)
    const intent: SaveIntent = {
      intent_id: 'int_dead', route: 'alpha', phase: 'revoked', base_revision: base.revision,
      revoked_revision: base.revision + 1, principal: session.principal.principal_id,
      root: session.root.root_id, ceiling_before_microusd: null, staged_credential: null,
      created_at: now, ended_at: null,
    }
    tx.put(collections.saveIntents, 'int_dead', intent)
    publishRevision(tx, bench.gov.store, now, {
      state: 'revoked', reason: 'save_begin', principal: null, carriesFrom: base.revision,
    })
  })
}

t.test('A-067 A-158 two crashes between record and witness do not block for ever', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  await deadSave(bench)
  cutLastLine(bench)
  t.equal(block(bench), 'witness_mismatch', 'a missing line blocks')
  const first = await recoverInterrupted(bench.gov, [])
  t.strictSame(first.rolledBackSaves, ['int_dead'])
  cutLastLine(bench)
  const second = await recoverInterrupted(bench.gov, [])
  t.equal(second.witnessCompleted, true)
  t.equal(block(bench), 'save_interrupted', 'nothing activates by itself')
  const revisions = readFileSync(witnessOf(bench), 'utf8').trimEnd().split('\n')
    .map((line) => JSON.parse(line).revision)
  t.strictSame(revisions, [1, 2, 3], 'every publication is witnessed')
})

t.test('A-158 a witness that was put back by two lines is not completed', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  for (let more = 0; more < 3; more += 1) await publish(bench)
  cutLastLine(bench)
  cutLastLine(bench)
  await recoverInterrupted(bench.gov, [])
  t.equal(block(bench), 'witness_mismatch')
  await publish(bench)
  t.equal(block(bench), null, 'a publication by the program itself is vouched for again')
})

const consent = (id: string, revision: number, state: Consent['state']): Consent => ({
  consent_id: id, route: 'alpha', purpose: 'alpha.text', state, granted_revision: revision,
  bound_revision: revision, principal: 'p', root: 'r', granted_at: '2026-01-01T00:00:00.000Z',
  expires_at: null, statement_sha256: sha256Hex('text'),
  acknowledgments: [],
})

t.test('A-054 a grant made after the clock stepped back is the newest all the same', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  await publish(bench)
  await bench.transact((tx, now) => {
    const revision = policyHead(tx).revision + 1
    // Ids follow the wall clock: the one granted later may sort before the other.
    const [giver] = tx.all(collections.principals)
    const principal = giver?.id ?? 'none'
    tx.put(collections.consents, 'con_9', consent('con_9', 1, 'withdrawn'))
    tx.put(collections.consents, 'con_1', { ...consent('con_1', revision, 'granted'), principal })
    publishRevision(tx, bench.gov.store, now, {
      state: 'active', reason: 'save', principal: null, carriesFrom: null,
    })
  })
  const standing = policyStatus(bench.gov.store, bench.view())
  t.equal(latestConsent(bench.view(), 'alpha.text')?.consent_id, 'con_1')
  t.equal(
    currentConsent(bench.view(), standing, 'alpha.text', bench.clock.wallMs())?.consent_id, 'con_1')
  t.strictSame(verifyPolicy(bench.view()), [])
})

t.test('a check of the policy finds what was forged', async (t) => {
  const forgeries: Readonly<Record<string, (bench: StateWorld) => Promise<unknown>>> = {
    policy_head_mismatch: (bench) => bench.transact((tx) =>
      tx.put(collections.policyHead, 'the', { revision: 1 })),
    policy_carry_mismatch: (bench) => bench.transact((tx) =>
      tx.put(collections.policy, '000000000002', { ...policyHead(tx), carries_from: 1 })),
    policy_epoch_broken: (bench) => bench.transact((tx) =>
      tx.put(collections.policy, '000000000002', { ...policyHead(tx), fence: 2 })),
    policy_id_mismatch: (bench) => bench.transact((tx) =>
      tx.put(collections.policy, '000000000001', { ...policyHead(tx), revision: 7, fence: 0 })),
    consent_doubled: (bench) => bench.transact((tx) => {
      tx.put(collections.consents, 'con_1', consent('con_1', 1, 'granted'))
      tx.put(collections.consents, 'con_2', consent('con_2', 1, 'granted'))
    }),
    consent_bound_ahead: (bench) => bench.transact((tx) =>
      tx.put(collections.consents, 'con_1', consent('con_1', 9, 'withdrawn'))),
    consent_id_mismatch: (bench) => bench.transact((tx) =>
      tx.put(collections.consents, 'con_1', consent('con_2', 1, 'withdrawn'))),
    policy_consents_mismatch: (bench) => bench.transact((tx) =>
      tx.put(collections.consents, 'con_1', consent('con_1', 2, 'granted'))),
  }
  for (const [code, forge] of Object.entries(forgeries)) {
    const bench = await World.still(t).state({ owner: 'ada' })
    await publish(bench)
    t.strictSame(verifyPolicy(bench.view()), [], 'sound before')
    await forge(bench)
    t.ok(verifyPolicy(bench.view()).some((one) => one.code === code), code)
  }
  const bench = await World.still(t).state({ owner: 'ada' })
  await publish(bench)
  await bench.transact((tx) => tx.put(collections.policy, '000000000002', {
    ...policyHead(tx), epoch: policyHead(tx).epoch + 2, fence: 2, carries_from: null,
  }))
  t.ok(verifyPolicy(bench.view()).some(({ code }) => code === 'policy_epoch_broken'),
    'an epoch that jumps')
})

t.test('A-158 each new view judges the witness file as it is then', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  await publish(bench)
  t.equal(block(bench), null)
  const whole = readFileSync(witnessOf(bench))
  const altered = Buffer.from(whole)
  const at = altered.lastIndexOf('digest') + 'digest":"'.length
  altered[at] = altered.toString('latin1', at, at + 1) === 'a' ? 0x62 : 0x61
  writeFileSync(witnessOf(bench), altered)
  t.equal(block(bench), 'witness_mismatch', 'one character altered, the length is the same')
  writeFileSync(witnessOf(bench), whole)
  t.equal(block(bench), null, 'put back')
  cutLastLine(bench)
  t.equal(block(bench), 'witness_mismatch', 'cut')
})

t.test('A-158 a publication is judged anew within its own transaction', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const [before, after] = await bench.transact((tx, now) => {
    const first = policyStatus(bench.gov.store, tx)
    publishRevision(tx, bench.gov.store, now, {
      state: 'revoked', reason: 'operator_revoke', principal: null, carriesFrom: null, global: true,
    })
    return [first, policyStatus(bench.gov.store, tx)]
  })
  t.equal(before.usable, true)
  t.equal(after.usable, false)
  t.equal(after.head.revision, before.head.revision + 1)
})

t.test('A-009 owners acknowledge a consent beside each other, and each again in other words', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session: { principal, root } } = await signIn(bench)
  const words = (text: string): string => sha256Hex(text)
  const given = await bench.transact((tx, now) => grantConsent(tx, now, {
    purpose: 'p', statementSha256: words('one'), expiresAt: null,
  }, { route: 'alpha', revision: 1, principal: principal.principal_id, root: root.root_id }))
  const acknowledge = (owner: string, text: string) => bench.transact((tx, now) =>
    acknowledgeConsent(tx, now, latestConsent(tx, 'p') ?? given,
      { owner, statementSha256: words(text) }))
  for (const owner of ['bob', 'cyd']) await acknowledge(owner, 'one')
  await acknowledge('bob', 'two')
  const row = latestConsent(bench.view(), 'p')
  t.strictSame(row?.acknowledgments.map(({ owner, statement_sha256: sha }) => [owner, sha]), [
    [principal.principal_id, words('one')], ['cyd', words('one')], ['bob', words('two')],
  ])
  t.ok(hasAcknowledged(row, 'cyd', words('one')))
  t.notOk(hasAcknowledged(row, 'bob', words('one')))
})

t.test('A-070 a publication carries over what was current at the one before, and nothing older', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session: { principal, root } } = await signIn(bench)
  const by = { route: 'alpha', principal: principal.principal_id, root: root.root_id } as const
  await bench.transact((tx, now) => {
    for (const [purpose, revision] of [['older', 2], ['current', 3], ['later', 4]] as const) {
      grantConsent(tx, now, { purpose, statementSha256: sha256Hex('x'), expiresAt: null },
        { ...by, revision })
    }
    carryOver(tx, bench.clock.wallMs(), 3, 5, new Set())
  })
  const bound = (purpose: string) => latestConsent(bench.view(), purpose)?.bound_revision
  t.strictSame(['older', 'current', 'later'].map(bound), [2, 5, 4])
})

t.test('A-070 a consent ends at the very moment that it names, and no save carries it beyond', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session: { principal, root } } = await signIn(bench)
  const { revision } = policyHead(bench.view())
  const by = { route: 'alpha', principal: principal.principal_id, root: root.root_id } as const
  const nowMs = bench.clock.wallMs()
  await bench.transact((tx, now) => {
    for (const [purpose, leftMs] of [['over', 0], ['not yet', 1]] as const) {
      const expiresAt = isoFromMs(nowMs + leftMs)
      grantConsent(tx, now, { purpose, statementSha256: sha256Hex('x'), expiresAt },
        { ...by, revision })
    }
  })
  const standing = policyStatus(bench.gov.store, bench.view())
  const isCurrent = (purpose: string) =>
    currentConsent(bench.view(), standing, purpose, nowMs) !== undefined
  t.strictSame(['over', 'not yet'].map(isCurrent), [false, true])
  await bench.transact((tx) => carryOver(tx, nowMs, revision, revision + 2, new Set()))
  const bound = (purpose: string) => latestConsent(bench.view(), purpose)?.bound_revision
  t.strictSame(['over', 'not yet'].map(bound), [revision, revision + 2])
})
