/**
 * Rows and files altered while no process runs, and old copies put back: the next ask is refused,
 * the configuration read says why, and nobody is contacted.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { alphaCredentialRef } from '../../src/alpha/constants.js'
import { alphaSetupCollection, type AlphaTextSetup } from '../../src/alpha/setup.js'
import { revisionId } from '../../src/governance/policy/head.js'
import { collections } from '../../src/governance/rows.js'
import type { Tx } from '../../src/state/types.js'
import { anchorFile, forgeAnchor } from '../support/anchor.js'
import { forgeRecord, forgeState } from '../support/state/forge.js'
import { change, tampering, type TamperBench } from '../support/alpha/tamper.js'
import { t } from '../support/tests-in-slices.js'
import { question, roomy } from '../world/alpha.js'
import type { Ran } from '../world/place.js'
import { World } from '../world/world.js'

let bench: TamperBench
t.before(async () => {
  const world = World.in(t).sandbox().state().session().alpha({ money: roomy })
  bench = (await world.with(tampering)).bench
})

const noTask = undefined as never
const stateFile = (...names: string[]): string => join(bench.rig.place.stateDir, ...names)
const witness = (): string => stateFile('witness.log')
const lines = (): string[] => readFileSync(witness(), 'utf8').trimEnd().split('\n')
const writeLines = (now: readonly (string | undefined)[]): void =>
  writeFileSync(witness(), `${now.join('\n')}\n`)
const setup = (): Promise<AlphaTextSetup> => bench.withStore((store) => {
  const doc = store.read().get(alphaSetupCollection, 'the')
  if (!doc) throw new Error('no setup')
  return doc
})
const setSetup = (with_: Partial<AlphaTextSetup>) => (): Promise<void> =>
  bench.forge((tx) => change(alphaSetupCollection, () => 'the', with_)(tx, noTask))

interface Case {
  readonly alter: () => void | Promise<void>
  /** Exit status of the ask. */
  readonly status: number
  /** `status` and `reason_code` of the configuration read; null where it cannot be read. */
  readonly shows: readonly [string, RegExp] | null
}

/** The ask is refused with its status and nothing is sent; the read is not `configured`. */
const check = async (t: Test, { alter, status, shows }: Case): Promise<void> => {
  bench.reset()
  await alter()
  const show = await bench.rig.run(['alpha', 'show', '--json'])
  if (shows === null) t.not(show.status, 0, 'the read is refused too')
  else {
    t.equal(show.json().alpha_text.status, shows[0])
    t.match(String(show.json().alpha_text.reason_code), shows[1])
  }
  const ran = await bench.rig.ask()
  t.equal(ran.status, status, ran.stderr)
  t.equal(ran.stdout, '')
  bench.sentNothing(t)
  t.equal(bench.rig.sandbox.log.connections('provider').opened, 0, 'not even a connection')
}

const refuses = (title: string, cases: Readonly<Record<string, Case>>): void => {
  t.test(title, async (t) => {
    for (const [name, one] of Object.entries(cases)) {
      await t.test(name, (t) => check(t, one))
    }
  })
}

/** A setup that breaks its closed shape: neither read nor used. */
const damaged = (with_: Record<string, unknown>): Case => ({
  alter: async () => {
    const doc = { ...await setup(), ...with_ }
    forgeRecord(bench.rig.place.stateDir, [{ collection: 'alpha_setup', id: 'the', doc }])
  },
  status: 12,
  shows: null,
})

refuses('A-028 A-030 a setup with another field or of another version is never used', {
  'an extra field': damaged({ allowed: true }),
  'another version': damaged({ schema_version: 'svc.alpha.text.v2' }),
  'no version': damaged({ schema_version: undefined }),
  'a fraction': damaged({ max_output_tokens: 1.5 }),
  'another profile': damaged({ profile_id: 'alpha.other' }),
  'another credential': damaged({ credential_ref: 'vault:other' }),
})

refuses('A-157 A-086 a setup that differs from the sealed route, the key or the ledger', {
  'another model': {
    alter: setSetup({ model_id: 'another/model' }), status: 7,
    shows: ['blocked', /^fixed_route_mismatch$/],
  },
  'another base': {
    alter: setSetup({ api_base: 'https://127.0.0.1:1/v1' }), status: 7,
    shows: ['blocked', /^fixed_route_mismatch$/],
  },
  'another ceiling': {
    alter: setSetup({ spend_ceiling_microusd: 999_999 }), status: 7,
    shows: ['blocked', /^ceiling_mismatch$/],
  },
  'another fingerprint': {
    alter: setSetup({ credential_fingerprint: 'another' }), status: 7,
    shows: ['blocked', /^credential_mismatch$/],
  },
})

const negative = async (): Promise<void> => {
  const account = await bench.withStore((store) =>
    store.read().all(collections.ledgerAccounts)[0])
  forgeRecord(bench.rig.place.stateDir, [{
    collection: 'ledger_accounts', id: account?.id ?? '',
    doc: { ...account?.doc, ceiling_microusd: -1 },
  }])
}

refuses('A-084 a ledger ceiling that is negative is none', {
  'a negative ceiling': { alter: negative, status: 7, shows: ['blocked', /^ledger_not_unique$/] },
})

const onConsent = (with_: (revision: number) => object) => (): Promise<void> =>
  bench.forge((tx) => {
    const { revision } = tx.get(collections.policyHead, 'the') ?? { revision: 0 }
    for (const { id, doc } of tx.all(collections.consents)) {
      tx.put(collections.consents, id, { ...doc, ...with_(revision) })
    }
  })

refuses('A-070 a consent that is bound to another revision authorizes nothing', {
  'the revision before': {
    alter: onConsent((revision) => ({ bound_revision: revision - 1 })), status: 4,
    shows: ['blocked', /^consent_not_current$/],
  },
  'a revision to come': {
    alter: onConsent((revision) => ({ bound_revision: revision + 2 })), status: 4,
    shows: ['blocked', /^consent_not_current$/],
  },
})

const revoked = async (): Promise<void> => {
  const ran = await bench.rig.run(['policy', 'revoke'])
  if (ran.status !== 0) throw new Error(ran.stderr)
}

const head = (tx: Tx): number => tx.get(collections.policyHead, 'the')?.revision ?? 0

const revive = (tx: Tx): void => {
  for (const { id, doc } of tx.all(collections.consents)) {
    tx.put(collections.consents, id, { ...doc, state: 'granted', bound_revision: head(tx) })
  }
}

refuses('A-067 A-168 A-071 a revoke is not undone by altering rows', {
  'the consent granted again': {
    alter: async () => { await revoked(); await bench.forge(revive) },
    status: 4, shows: ['blocked', /^policy_revoked$/],
  },
  'the policy active again': {
    alter: async () => {
      await revoked()
      await bench.forge((tx) => {
        revive(tx)
        change(collections.policy, () => revisionId(head(tx)), { state: 'active' })(tx, noTask)
      })
    },
    status: 7, shows: ['blocked', /^witness_mismatch$/],
  },
  'the head rolled back before it': {
    alter: async () => {
      await revoked()
      await bench.forge((tx) => {
        tx.put(collections.policyHead, 'the', { revision: head(tx) - 1 })
        revive(tx)
      })
    },
    status: 7, shows: ['blocked', /^store_behind_anchor$/],
  },
  'the head and the witness rolled back before it': {
    alter: async () => {
      await revoked()
      await bench.forge((tx) => {
        tx.put(collections.policyHead, 'the', { revision: head(tx) - 1 })
        revive(tx)
      })
      writeLines(lines().slice(0, -1))
    },
    status: 7, shows: ['blocked', /^store_behind_anchor$/],
  },
})

refuses('A-158 a witness that is removed, altered or rolled back vouches for nothing', {
  'removed': {
    alter: () => rmSync(witness()), status: 7, shows: ['blocked', /^witness_mismatch$/],
  },
  'empty': {
    alter: () => writeFileSync(witness(), ''), status: 7,
    shows: ['blocked', /^witness_mismatch$/],
  },
  'rolled back by two': {
    alter: () => writeLines(lines().slice(0, -2)), status: 7,
    shows: ['blocked', /^witness_mismatch$/],
  },
  'a line altered': {
    alter: () => {
      const altered = lines().map((line, at) => (at === 0 ? line.replace('1', '2') : line))
      writeLines(altered)
    },
    status: 7, shows: ['blocked', /^witness_mismatch$/],
  },
  'a line cut out': {
    alter: () => writeLines(lines().filter((_line, at) => at !== 1)),
    status: 7, shows: ['blocked', /^witness_mismatch$/],
  },
  'a line twice': {
    alter: () => writeLines([...lines(), lines().at(-1)]),
    status: 7, shows: ['blocked', /^witness_mismatch$/],
  },
  'text behind it': {
    alter: () => writeLines([...lines(), 'allowed']), status: 7,
    shows: ['blocked', /^witness_mismatch$/],
  },
})

t.test('A-158 A-070 a witness rolled back while an ask runs stops it', async (t) => {
  for (const step of ['ask.queued', 'ask.contact_begin', 'ask.before_first_byte']) {
    for (const keep of [-1, -2]) {
      bench.reset()
      const ran = await bench.rig.ask({
        at: (at) => {
          if (at === step) writeLines(lines().slice(0, keep))
        },
      })
      t.ok([4, 7].includes(ran.status), `exit ${ran.status} at ${step}`)
      bench.sentNothing(t)
    }
  }
})

refuses('A-158 A-070 without its anchor a store contacts nobody', {
  'removed': {
    alter: () => rmSync(anchorFile(bench.rig.place)), status: 7, shows: null,
  },
  'forged': {
    alter: () => forgeAnchor(bench.rig.place),
    status: 7, shows: null,
  },
})

refuses('A-043 A-165 a key that is not the saved one is not used', {
  'the sealed key altered': {
    alter: async () => {
      const stored = await bench.withStore((store) =>
        store.read().get(collections.credentials, alphaCredentialRef)?.artifact.stored_sha256 ?? '')
      const path = stateFile('artifacts', stored.slice(0, 2), stored)
      const bytes = readFileSync(path)
      bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20)
      writeFileSync(path, bytes)
    },
    status: 7, shows: ['blocked', /^key_unreadable$/],
  },
  'no credential row': {
    alter: () => bench.forge((tx) => tx.remove(collections.credentials, alphaCredentialRef)),
    status: 7, shows: ['configuration_required', /^key_missing$/],
  },
})

const sealedProfile = (with_: object) => (): void => {
  const text = readFileSync(stateFile('STATE'), 'utf8')
  const { profile } = JSON.parse(text.slice(0, text.lastIndexOf(' '))) as {
    profile: { provider: object }
  }
  forgeState(bench.rig.place.stateDir, {
    profile: { ...profile, provider: { ...profile.provider, ...with_ } },
  })
}

t.test('A-016 A-017 A-157 A-188 the sealed profile cannot be altered at rest', async (t) => {
  for (const [name, with_] of Object.entries({
    'another model': { model_id: 'another/model' },
    'another base': { base_url: 'https://127.0.0.1:1/v1' },
  })) {
    await t.test(name, (t) => check(t, { alter: sealedProfile(with_), status: 12, shows: null }))
  }
})

t.test('A-159 A-098 an allowance in the input or the environment is refused or ignored', async (t) => {
  for (const extra of [
    { allowed: true }, { decision_id: 'dec_forged' }, { owner: 'prn_another' }, { revision: 1 },
  ]) {
    bench.reset()
    const stdin = JSON.stringify({
      schema: 'svc.alpha.text.input.v1', question, max_output_tokens: 5, ...extra,
    })
    const ran = await bench.rig.run(['alpha', 'ask', '--from', '-', '--json'], { stdin })
    t.equal(ran.status, 3, ran.stderr)
    bench.sentNothing(t)
  }
  bench.reset()
  await revoked()
  const ran = await bench.rig.ask({
    env: { ALLOWED: 'true', SALLYPORT_ALLOWED: 'true', SALLYPORT_DECISION_ID: 'dec_forged' },
  })
  t.equal(ran.status, 4)
  bench.sentNothing(t)
})

const oldCopyRefuses = async (t: Test): Promise<Ran> => {
  bench.putBack('old', ['state'])
  bench.rig.sandbox.log.clear()
  const show = await bench.rig.run(['alpha', 'show', '--json'])
  t.strictSame([show.status, show.stdout, show.error().code], [7, '', 'store_behind_anchor'])
  const status = (await bench.rig.run(['status', '--json'])).json()
  t.strictSame(status.alpha, { status: 'blocked', reason_code: 'store_behind_anchor' })
  t.equal(status.policy.usable, false)
  const ran = await bench.rig.ask()
  t.equal(ran.status, 7, ran.stderr)
  t.equal(ran.error().reason, 'store_behind_anchor')
  bench.sentNothing(t)
  t.equal(bench.rig.sandbox.log.connections('provider').opened, 0)
  return ran
}

t.test('A-070 A-067 A-168 an old copy put back after a revoke contacts nobody', async (t) => {
  bench.reset()
  bench.keep('old')
  await revoked()
  await oldCopyRefuses(t)
  t.equal((await bench.rig.run(['policy', 'revoke'])).status, 0, 'stopping still works')
  const again = await bench.rig.ask()
  t.not(again.status, 0)
  const { revision } = (await bench.rig.run(['status', '--json'])).json().policy
  await bench.rig.run([
    'alpha', 'setup', '--json', '--enable', '--acknowledge-plaintext-egress',
    '--expected-policy-revision', String(revision),
  ])
  t.not((await bench.rig.ask()).status, 0, 'and no save lifts it')
  bench.sentNothing(t)
})

t.test('A-026 A-070 an old copy put back after a contact contacts nobody', async (t) => {
  bench.reset()
  bench.keep('old')
  const key = randomUUID()
  const first = await bench.rig.ask({ args: ['--idempotency-key', key] })
  t.equal(first.status, 0, first.stderr)
  t.equal(bench.rig.inferences().length, 1)
  await oldCopyRefuses(t)
  const again = await bench.rig.ask({ args: ['--idempotency-key', key] })
  t.not(again.status, 0, 'the same key sends nothing either')
  bench.sentNothing(t)
})

t.test('A-070 an old copy put back in the middle of an ask stops it', async (t) => {
  for (const step of ['ask.queued', 'ask.before_dial', 'ask.before_first_byte']) {
    bench.reset()
    bench.keep('old')
    await revoked()
    bench.keep('later')
    bench.putBack('old')
    const ran = await bench.rig.ask({
      at: (at) => { if (at === step) bench.putBack('later', ['config']) },
    })
    t.ok([4, 7].includes(ran.status), `exit ${ran.status} at ${step}`)
    bench.sentNothing(t)
  }
})

t.test('the same deployment, unaltered, answers', async (t) => {
  bench.reset()
  const ran = await bench.rig.ask()
  t.equal(ran.status, 0, ran.stderr)
  t.equal(bench.rig.inferences().length, 1)
})
