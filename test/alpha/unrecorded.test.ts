/**
 * What a contacted ask makes of a state directory that will not take its records: somebody holds
 * the lock, the disk is full, recovery took the process for dead. Nothing is lost that need not be,
 * and no status says that trying again is free.
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { ask } from '../../src/alpha/ask/ask.js'
import type { AlphaContext } from '../../src/alpha/context.js'
import { alphaCredentialRef } from '../../src/alpha/constants.js'
import { systemClock, type Clock } from '../../src/base/clock.js'
import { fail, SallyportError } from '../../src/base/errors.js'
import { silentObserver } from '../../src/base/observer.js'
import { deploymentProfile } from '../../src/governance/profile.js'
import { collections } from '../../src/governance/rows.js'
import { authenticate } from '../../src/governance/session/authenticate.js'
import { loadToken, tokenPath } from '../../src/governance/session/token.js'
import { createHttpsClient } from '../../src/net/client.js'
import type { Store } from '../../src/state/types.js'
import { checkLedger, recover } from '../support/ledger.js'
import { must } from '../support/must.js'
import { noArtifactsAt } from '../support/no-artifacts.js'
import { holdLock } from '../support/state/hold-lock.js'
import { limits, question } from '../world/alpha.js'
import { World, type AlphaWorld } from '../world/world.js'
import { newestTask } from '../support/board.js'
import { t } from '../support/tests-in-slices.js'

const key = '0b0e6a3c-7f0e-4a1e-9d3a-7a7c2f2f4a10'

for (const step of ['ask.replied', 'ask.billing_1', 'ask.charge_known', 'ask.answer_sealed']) {
  t.test(`A-003 A-142 a lock held past --wait at ${step} costs neither answer nor charge`,
    async (t) => {
      const rig = await World.in(t).sandbox().state().session().alpha()
      const ran = await rig.ask({
        args: ['--wait', '0'],
        at: (at) => {
          if (at === step) setTimeout(holdLock(rig), 400)
        },
      })
      t.equal(ran.status, 0, ran.stderr)
      t.equal(rig.inferences().length, 1)
      t.ok((checkLedger(t, rig)?.settled_microusd ?? 0) > 0)
    })
}

t.test('A-124 A-194 a lock held past the deadline ends as blocked, never as locked', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  let jumpMs = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + jumpMs }
  let release = (): void => undefined
  const ran = await rig.ask({
    clock, args: ['--wait', '0', '--idempotency-key', key],
    at: (at) => {
      if (at !== 'ask.answer_sealed') return
      release = holdLock(rig)
      jumpMs = 120_000
    },
  })
  release()
  t.equal(ran.stdout, '')
  t.equal(ran.status, 7, 'what is owed needs a person')
  t.hasStrict(ran.error(), {
    code: 'lock_held', reason: 'outcome_not_recorded',
    details: { task_id: newestTask(rig).task_id },
  })
  await recover(rig)
  t.strictSame(
    newestTask(rig).blocked, { kind: 'cost_liability', reason: 'alpha_cost_readback_required' }
  )
  t.equal(checkLedger(t, rig)?.unknown_microusd, limits.boundMicrousd)
  await rig.ask({ args: ['--idempotency-key', key] })
  t.equal(rig.inferences().length, 1)
})

t.test('A-124 an end that a held lock keeps out of the log names its task where nothing was sent',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    let jumpMs = 0
    const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + jumpMs }
    let release = (): void => undefined
    const ran = await rig.ask({
      clock, args: ['--wait', '0'],
      at: (at) => {
        if (at !== 'ask.before_first_byte') return
        release = holdLock(rig)
        jumpMs = 121_000
      },
    })
    release()
    const { task_id, operation_id } = newestTask(rig)
    const details = { contact: 'none', task_id, operation_id }
    t.hasStrict(ran.error(), { code: 'timeout', details })
    t.equal(rig.inferences().length, 0)
  })

t.test('A-140 the wait for the lock counts against the billing stage', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  let jumpMs = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + jumpMs }
  const ran = await rig.ask({
    clock, args: ['--wait', '0'],
    at: (at) => {
      if (at !== 'ask.replied') return
      const release = holdLock(rig)
      setTimeout(() => { jumpMs = 14_990 }, 100)
      setTimeout(release, 110)
    },
  })
  t.equal(ran.status, 7, ran.stderr)
  t.equal(rig.billings().length, 0, 'no attempt goes out when the stage is over')
  t.equal(checkLedger(t, rig)?.unknown_microusd, limits.boundMicrousd)
})

/** A context on a real store whose n-th transaction fails as told. */
const contextOf = (rig: AlphaWorld, store: Store, fault: { at: number; error: SallyportError }) => {
  let count = 0
  const faulty: Store = new Proxy(store, {
    get: (target, name) => {
      if (name !== 'transact') {
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) as unknown : value
      }
      return async (verb: string, fn: Parameters<Store['transact']>[1]) => {
        count += 1
        if (count >= fault.at) throw fault.error
        return target.transact(verb, fn)
      }
    },
  })
  const profile = deploymentProfile(store)
  const gov = { store: faulty, clock: systemClock, observer: silentObserver, face: 'cli' } as const
  const client = createHttpsClient({
    clock: systemClock, env: {}, execArgv: [], loopbackOnly: true, ca: [profile.ca_pem ?? ''],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  })
  const ctx: AlphaContext = {
    gov, provider: profile.provider, client: async () => client,
    signal: new AbortController().signal,
  }
  const session = authenticate(gov, loadToken(tokenPath(rig.place.stateDir)))
  return { ctx, session, made: () => count }
}

const faults: Readonly<Record<string, SallyportError>> = {
  full: fail.failed('disk_full', 'The disk is full.'),
  damaged: fail.damaged('log_damaged', 'The log is damaged.'),
  refused: fail.blocked('ledger_not_unique', 'There is not one ledger.'),
  'in conflict': fail.conflict('somebody_else', 'Somebody else was here.'),
  locked: fail.locked('lane_busy', 'Another request is under way.'),
}

/** No status of what was sent may be one of those that say that nothing was. */
const toldAs = (error: SallyportError, contacted: number): string =>
  contacted === 0 || ['failed', 'damaged'].includes(error.kind) ? error.kind : 'blocked'

const outcome = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    await work
    return null
  } catch (error) {
    return error
  }
}

/** Every transaction of an ask fails once, with all that follow. */
const failEach = async (t: Test, rig: AlphaWorld, error: SallyportError): Promise<number> => {
  for (let at = 1; ; at += 1) {
    const store = rig.open('write')
    const sent = rig.inferences().length
    const { ctx, session, made } = contextOf(rig, store, { at, error })
    const request = {
      question, maxOutputTokens: null, goalId: null, idempotencyKey: crypto.randomUUID(),
    }
    const failure = await outcome(ask(ctx, session, request))
    if (failure === null) return made()
    const contacted = rig.inferences().length - sent
    if (!(failure instanceof SallyportError)) throw new Error('a defect', { cause: failure })
    t.equal(failure.kind, toldAs(error, contacted), `at ${at}: the failure is told as what it is`)
    t.equal(
      failure.reason === 'outcome_not_recorded', contacted === 1, `at ${at}: sent or not is told`)
    await recover(rig)
    const open = rig.view().all(collections.openReservations).map(({ doc }) => doc.state)
    t.equal(open.length, contacted, `at ${at}: what was sent, and nothing else, stays owed`)
    if (contacted === 1) {
      const { operation_id: operation } = newestTask(rig)
      await rig.run(['ledger', 'settle', operation, '--amount-microusd', '1', '--yes'])
    }
    store.close()
    t.equal((await rig.run(['state', 'check', '--json'])).status, 0, `at ${at}: the state is sound`)
  }
}

for (const [name, error] of Object.entries(faults)) {
  t.test(`A-124 A-182 A-026 ${name}: whichever record fails, money and status agree`, async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    t.ok(await failEach(t, rig, error) >= 6, 'every record had its turn')
    checkLedger(t, rig)
  })
}

t.test('A-156 a key that vanishes after the hold ends the ask at once, hold released', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const name = rig.view().get(collections.credentials, alphaCredentialRef)?.artifact.stored_sha256
  const ran = await rig.ask({
    at: (at) => {
      if (at !== 'ask.reserved' || name === undefined) return
      rmSync(join(rig.place.stateDir, 'artifacts', name.slice(0, 2), name))
    },
  })
  t.equal(ran.status, 7)
  t.equal(rig.inferences().length, 0)
  t.hasStrict(newestTask(rig), { state: 'failed', reason: 'evidence_missing' })
  t.hasStrict(checkLedger(t, rig), { held_microusd: 0, unknown_microusd: 0 })
})

t.test('an answer that the disk does not take is told with what the disk says, to a repeat too; a lost authority is told before it', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const args = ['--idempotency-key', key]
  const ran = await rig.ask({ args, at: noArtifactsAt(rig, 'ask', 'answer_sealed') })
  t.strictSame([ran.status, ran.stdout], [1, ''], ran.stderr)
  t.hasStrict(ran.error(), { code: 'ask_failed', reason: 'answer_not_stored' })
  t.match(ran.error().message, '(ENOTDIR) and is lost; its charge stands.')
  t.match(ran.error().hint, /^Make room on the disk of the state, .* another one pays again/)
  t.hasStrict(newestTask(rig), { state: 'failed', reason: 'answer_not_stored' })
  const again = await rig.ask({ args })
  t.equal(again.status, 1)
  t.match(again.error().message, 'could not be written and is lost')
  t.equal(rig.inferences().length, 1)
  const account = checkLedger(t, rig)
  t.ok((account?.settled_microusd ?? 0) > 0)
  t.equal(account?.unknown_microusd, 0)
  const away = noArtifactsAt(rig, 'ask', 'answer_sealed')
  const revoked = await rig.ask({
    at: async (step) => {
      if (step === 'ask.replied') must(await rig.run(['policy', 'revoke']))
      away(step)
    },
  })
  t.strictSame([revoked.status, revoked.error().reason], [4, 'policy_revoked'], revoked.stderr)
})

t.test('A-182 a process that recovery took for dead releases no answer', async (t) => {
  for (const step of ['ask.reserved', 'ask.replied', 'ask.answer_sealed']) {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const ran = await rig.ask({
      at: async (at) => {
        if (at !== step) return
        const ops = join(rig.place.stateDir, 'run', 'ops')
        for (const name of readdirSync(ops)) rmSync(join(ops, name))
        await recover(rig)
      },
    })
    t.not(ran.status, 0)
    t.equal(ran.stdout, '')
    const sent = step === 'ask.reserved' ? 0 : 1
    t.equal(rig.inferences().length, sent)
    t.equal(newestTask(rig).state, sent === 0 ? 'failed' : 'blocked', step)
    t.equal(checkLedger(t, rig)?.unknown_microusd, sent * limits.boundMicrousd)
    t.equal((await rig.run(['state', 'check', '--json'])).status, 0)
  }
})

t.test('A-117 rows altered before the settlement: refused, blocked at once, still held', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const ran = await rig.ask({
    at: async (at) => {
      if (at !== 'ask.charge_known') return
      const store = rig.open('write')
      const held = store.read().all(collections.openReservations)[0]?.doc
      if (!held) throw new Error('nothing is held')
      await store.transact('forge', (tx) => tx.put(
        collections.openReservations, held.operation_id, { ...held, profile: 'alpha.other' },
      ))
    },
  })
  t.strictSame([ran.status, ran.stdout], [7, ''])
  t.strictSame(
    newestTask(rig).blocked, { kind: 'cost_liability', reason: 'alpha_cost_readback_required' }
  )
  const account = rig.view().all(collections.ledgerAccounts)[0]?.doc
  t.hasStrict(account, { held_microusd: limits.boundMicrousd, settled_microusd: 0 })
})
