/**
 * Every act that narrows or decides something moves the anchor, so that an old copy of the state
 * cannot forget it; the same act again changes nothing and leaves the anchor where it is.
 */
import { endOwnPairing } from '../../src/edge/end-own.js'
import { requestCancel } from '../../src/governance/board/cancel.js'
import { enablePrincipal } from '../../src/governance/enable.js'
import { issueGrant } from '../../src/governance/connections/save.js'
import { grantConsent } from '../../src/governance/policy/consents.js'
import { policyHead } from '../../src/governance/policy/head.js'
import { addPrincipal } from '../../src/governance/principals.js'
import { collections } from '../../src/governance/rows.js'
import { vaultDigest } from '../../src/governance/vault.js'
import { anchorOf } from '../support/anchor.js'
import { connected } from '../support/codehost/connected.js'
import { pairDevice } from '../support/edge/uploading.js'
import { admissionOf, signIn } from '../support/tasks.js'
import { admitTask } from '../../src/governance/board/admit.js'
import { must } from '../support/must.js'
import { stillClock } from '../support/clock.js'
import { t } from '../support/tests-in-slices.js'
import { limits, setupFlags } from '../world/alpha.js'
import { World, type AlphaWorld, type StateWorld } from '../world/world.js'

/** An act on a world that was prepared for it: the line that does it. */
type Act = (at: AlphaWorld) => Promise<readonly string[]>

const other = async (at: AlphaWorld): Promise<{ readonly id: string; readonly file: string }> => {
  const file = at.place.path('other')
  return { id: (await at.json(['login', '--token-file', file])).root.id, file }
}

const withBob = async (at: AlphaWorld): Promise<void> => {
  const file = at.place.write('bob', 'correct horse battery')
  await at.json(['principal', 'add', 'bob', '--passphrase-file', file])
}

const asked = async (at: AlphaWorld, fault?: string): Promise<string> => {
  if (fault !== undefined) {
    at.sandbox.faults.set(fault, {
      service: 'provider', value: limits.boundMicrousd,
    })
  }
  const ran = await at.ask()
  return ran.status === 0 ? ran.json().task.id : ran.error().details.task_id
}

const operationOf = async (at: AlphaWorld, task: string): Promise<string> =>
  (await at.json(['task', 'show', task])).task.operation_id

/** `again`: what the same line does then; `refused` where it is no longer possible. */
const acts: Readonly<Record<string, { readonly act: Act; readonly again: 'nothing' | 'refused' }>>
= {
  'principal disable': {
    act: async (at) => { await withBob(at); return ['principal', 'disable', 'bob', '--yes'] },
    again: 'nothing',
  },
  'session revoke': {
    act: async (at) => ['session', 'revoke', (await other(at)).id], again: 'nothing',
  },
  'logout': { act: async () => ['logout'], again: 'nothing' },
  'goal close': {
    act: async (at) => ['goal', 'close', (await at.json(['goal', 'add', 'Read'])).id],
    again: 'nothing',
  },
  'goal update': {
    act: async (at) =>
      ['goal', 'update', (await at.json(['goal', 'add', 'Read'])).id, '--title', 'Write'],
    again: 'nothing',
  },
  'task review': {
    act: async (at) => ['task', 'review', await asked(at), '--reject'], again: 'nothing',
  },
  'alpha review': {
    act: async (at) => ['alpha', 'review', await asked(at), '--approve'], again: 'nothing',
  },
  'alpha review of an overrun': {
    act: async (at) => ['alpha', 'review', await asked(at, 'billing_overrun'), '--reject'],
    again: 'refused',
  },
  'ledger review': {
    act: async (at) => {
      const operation = await operationOf(at, await asked(at, 'billing_overrun'))
      return ['ledger', 'review', operation, '--reject']
    },
    again: 'refused',
  },
  'ledger settle': {
    act: async (at) => {
      const operation = await operationOf(at, await asked(at, 'billing_status_500'))
      return ['ledger', 'settle', operation, '--amount-microusd', '5', '--yes']
    },
    again: 'refused',
  },
  'task recover': {
    act: async (at) => {
      const task = await asked(at)
      await at.json(['login'])
      return ['task', 'recover', task]
    },
    again: 'nothing',
  },
  'task recover --all': {
    act: async (at) => {
      await asked(at)
      await at.json(['login', '--replace'])
      return ['task', 'recover', '--all']
    },
    again: 'nothing',
  },
  'alpha setup': { act: async () => ['alpha', 'setup', '--disable'], again: 'nothing' },
  'alpha setup of a lower ceiling': {
    act: async (at) => setupFlags(at.place, await at.revision(), {
      ...limits, ceilingMicrousd: limits.ceilingMicrousd / 2,
    }).filter((word) => word !== '--json'),
    again: 'refused',
  },
  'shots config': {
    act: async () => ['shots', 'config', 'set', '--ingest-enabled', 'off'], again: 'nothing',
  },
}

t.test('A-070 A-158 each act that narrows or decides moves the anchor, and only if it does', async (t) => {
  for (const [name, { act, again }] of Object.entries(acts)) {
    await t.test(name, async (t) => {
      const at = await World.in(t).sandbox().state({ owner: 'ada' }).session().alpha()
      const line = [...await act(at), '--json']
      const before = anchorOf(at.place)
      must(await at.run(line))
      const moved = anchorOf(at.place)
      t.not(moved, before, 'it moved')
      const second = await at.run(line)
      t.equal(second.status === 0, again === 'nothing', second.stderr)
      t.equal(anchorOf(at.place), moved, 'and stayed')
    })
  }
})

t.test('A-070 a login that ends other sessions moves the anchor, and one that ends none does not', async (t) => {
  const at = await World.in(t, { clock: stillClock() }).state({ owner: 'ada' }).session()
  const before = anchorOf(at.place)
  await at.json(['login'])
  t.equal(anchorOf(at.place), before)
  await at.json(['login', '--replace'])
  t.not(anchorOf(at.place), before)
})

t.test('A-070 asking for a cancel moves the anchor, once', async (t) => {
  const at: StateWorld & { session(): ReturnType<AlphaWorld['session']> } =
    await World.still(t).state({ owner: 'ada' }).session()
  const session = at.session()
  const { task } = await at.transact((tx, now) =>
    admitTask(tx, now, admissionOf(at, tx, now, session)))
  const before = anchorOf(at.place)
  await at.transact((tx, now) => requestCancel(tx, now, session, task.task_id))
  const moved = anchorOf(at.place)
  t.not(moved, before)
  await at.transact((tx, now) => requestCancel(tx, now, session, task.task_id))
  t.equal(anchorOf(at.place), moved)
})

t.test('A-070 a consent to a connection moves the anchor, and so does taking its token away, once', async (t) => {
  const at = await connected(t)
  const before = anchorOf(at.place)
  await at.transact((tx, now) => issueGrant(tx, now, at.session(), {
    connectionId: at.id, expectedRevision: 1, actions: ['issue.create'], durationMs: 60_000,
    statementSha256: 'a'.repeat(64), vaultDigest: vaultDigest(tx, at.row().credential_ref) ?? '',
    repositoryId: 1, policyFence: policyHead(tx).fence, author: null,
  }))
  t.not(anchorOf(at.place), before, 'the consent')
  const disconnect = ['codehost', 'disconnect', at.id]
  must(await at.run(['codehost', 'mode', at.id, 'disabled']))
  const disabled = anchorOf(at.place)
  must(await at.run(disconnect))
  const moved = anchorOf(at.place)
  t.not(moved, disabled, 'the token, where nothing was left to stop')
  must(await at.run(disconnect))
  t.equal(anchorOf(at.place), moved)
})

t.test('A-070 a device that ends its own pairing moves the anchor', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(at)
  const { party } = await pairDevice(at.gov, session)
  const before = anchorOf(at.place)
  await endOwnPairing(at.gov, party)
  t.not(anchorOf(at.place), before)
})

t.test('A-070 enabling an owner moves the anchor where it ends what that owner had agreed to', async (t) => {
  for (const agreed of [true, false]) {
    const at = await World.still(t).state({ owner: 'ada' })
    const { session } = await signIn(at)
    const { principal } = await addPrincipal(at.gov, session, { name: 'maria' })
    const { principal_id: id } = principal
    await at.transact((tx, now) => {
      if (agreed) {
        grantConsent(tx, now, { purpose: 'p', statementSha256: '0'.repeat(64), expiresAt: null },
          { route: 'alpha', revision: 1, principal: id, root: session.root.root_id })
      }
      tx.put(collections.principals, id, {
        ...principal, disabled_at: now, disabled_by_restore: true,
      })
    })
    const before = anchorOf(at.place)
    t.ok((await enablePrincipal(at.gov, session, 'maria')).enabled)
    t.equal(anchorOf(at.place) !== before, agreed)
  }
})
