/** What is done to machines of a shared state: who may, and that it is in the record. */
import { randomUUID } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { collections } from '../../../src/governance/rows.js'
import { acceptMachineServer } from '../../../src/fabric/machines/accept.js'
import { inviteMachine } from '../../../src/fabric/machines/invite.js'
import { joinMachine } from '../../../src/fabric/machines/join.js'
import { operatorOf, provenOperator } from '../../../src/fabric/machines/operator.js'
import { machineToRetire, retireMachine } from '../../../src/fabric/machines/retire.js'
import { bindToHere, machineOf } from '../../../src/governance/machine-bound.js'
import { unshareState } from '../../../src/fabric/machines/sharing.js'
import { memoryPlace } from '../../support/place/memory.js'
import { profile, reaching } from '../../support/place/replicas.js'
import { signedIn } from '../../support/place/signed-in.js'
import { t } from '../../support/tests-in-slices.js'

const passphrase = 'goes by another way'

t.test('whoever is signed out meanwhile invites, retires, accepts and takes back nothing', async (t) => {
  const { gov, session, store, server } = await signedIn(t)
  const out = { ...session, root: { ...session.root, root_id: `root_${randomUUID()}` } }
  const told = { kind: 'unauthorized', code: 'session_invalid' }
  const to = join(store.dir, '..', 'b.invite')
  const { sequence } = store.replica.end
  await t.rejects(inviteMachine(gov, out, { name: 'b', to, passphrase }), told)
  t.notOk(existsSync(to))
  server.isChanged = true
  await t.rejects(acceptMachineServer(gov, operatorOf(out), []), told)
  await store.place.join({ machine: randomUUID(), name: 'b' })
  await t.rejects(retireMachine(gov, out, await machineToRetire(gov, 'b')), told)
  t.equal(server.machines.find(({ name }) => name === 'b')?.retired, null)
  await t.rejects(unshareState(gov, operatorOf(out)), told)
  t.equal(server.isEnded, false)
  t.equal((await store.fresh()).sequence, sequence, 'nothing was recorded')
})

t.test('who retires a machine and is signed out before that is recorded has it not recorded', async (t) => {
  const { gov, session, store, server, next } = await signedIn(t)
  const other = await next()
  await other.fresh()
  server.beforeAppend = async () => {
    server.beforeAppend = null
    const { root } = session
    await other.transact('test', (tx) => tx.put(collections.roots, root.root_id, {
      ...root, ended: { at: root.issued_at, reason: 'logout' },
    }))
  }
  await store.place.join({ machine: randomUUID(), name: 'c' })
  await t.rejects(retireMachine(gov, session, await machineToRetire(gov, 'c')), {
    kind: 'unauthorized', code: 'session_ended',
  })
  t.type(server.machines.find(({ name }) => name === 'c')?.retired, 'string', 'it is retired')
})

t.test('what rested on a retired machine is of the one that retired it, also where that was cut off between', async (t) => {
  const { gov, session, store, server, next } = await signedIn(t)
  const other = await next()
  await other.transact('test', (tx) => bindToHere(other, tx, 'shots_folder', 'x'))
  const retire = async () => retireMachine(gov, session, await machineToRetire(gov, 'b'))
  const isHere = async () => machineOf(await store.fresh(), 'shots_folder', 'x') === store.machine
  server.losesAnswer = 'not'
  await t.rejects(retire(), { code: 'commit_unknown' })
  t.type(server.machines.find(({ name }) => name === 'b')?.retired, 'string', 'it is retired')
  t.notOk(await isHere(), 'and nobody has what it had')
  t.hasStrict(await retire(), { retired: true })
  t.ok(await isHere(), 'the same line goes on')
  const { sequence } = store.replica.end
  t.hasStrict(await retire(), { retired: false })
  t.equal((await store.fresh()).sequence, sequence)
})

t.test('of two machines of one name the one that goes on is retired, and then the last one is found', async (t) => {
  const { gov, session, store } = await signedIn(t)
  const [first, second] = [randomUUID(), randomUUID()]
  await store.place.join({ machine: first, name: 'b' })
  await retireMachine(gov, session, await machineToRetire(gov, 'b'))
  await store.place.join({ machine: second, name: 'b' })
  const found = async (): Promise<string> => (await machineToRetire(gov, 'b')).row.machine
  t.equal(await found(), second)
  t.hasStrict(await retireMachine(gov, session, await machineToRetire(gov, 'b')), {
    retired: true, row: { machine: second },
  })
  t.equal(await found(), second)
})

t.test('what is done to machines is told by the audit, and no old copy goes on without it', async (t) => {
  const { gov, session, store, server } = await signedIn(t)
  const root = join(store.dir, '..')
  const marks = () => store.anchor().mark?.number ?? 0
  const acts: Readonly<Record<string, () => Promise<unknown>>> = {
    'machine.invited': () =>
      inviteMachine(gov, session, { name: 'b', to: join(root, 'b.invite'), passphrase }),
    'machine.retired': async () => {
      await store.place.join({ machine: randomUUID(), name: 'b' })
      return retireMachine(gov, session, await machineToRetire(gov, 'b'))
    },
    'state.server_accepted': () => {
      server.isChanged = true
      return acceptMachineServer(gov, operatorOf(session), [])
    },
    'state.unshared': async () => {
      // One lease behind the accept, see below.
      server.leases = []
      await store.fresh()
      return unshareState(gov, operatorOf(session))
    },
  }
  for (const [what, act] of Object.entries(acts)) {
    const before = marks()
    await act()
    t.equal(marks(), before + 1, what)
    t.ok(store.read().all(collections.audit).some(({ doc }) => doc.what === what), what)
  }
})

t.test('a state is not taken back until one lease behind an accept, since leases of others may be lost', async (t) => {
  const { gov, session, store, server } = await signedIn(t)
  server.isChanged = true
  await acceptMachineServer(gov, operatorOf(session), [])
  await t.rejects(unshareState(gov, operatorOf(session)), { code: 'machines_at_work' })
  server.leases = []
  await store.fresh()
  await unshareState(gov, operatorOf(session))
})

t.test('an owner who does not prove himself is told so in the record, where one is taken', async (t) => {
  const { gov, store, server } = await signedIn(t)
  const refusals = () =>
    store.read().all(collections.audit).filter(({ doc }) => doc.what === 'session.login_refused')
  const told = { kind: 'unauthorized', code: 'login_refused' }
  await t.rejects(provenOperator(gov, { owner: 'nobody' }), told)
  t.equal(refusals().length, 1)
  server.isChanged = true
  await t.rejects(provenOperator(gov, { owner: 'nobody' }), told)
  t.equal(refusals().length, 1)
})

t.test('a state whose anchor is gone is not taken back from its place', async (t) => {
  const { gov, session, store, server } = await signedIn(t)
  rmSync(store.replica.keyPlaces.anchor)
  await t.rejects(unshareState(gov, operatorOf(session)), { code: 'store_behind_anchor' })
  t.equal(server.isEnded, false)
})

t.test('an invitation that is refused is not recorded', async (t) => {
  const { gov, session, store } = await signedIn(t)
  const to = join(store.dir, '..', 'b.invite')
  const { sequence } = store.replica.end
  for (const [code, given] of Object.entries({
    invitation_passphrase_length: { name: 'b', passphrase: 'short' },
    machine_name_form: { name: 'a b', passphrase },
    machine_name_taken: { name: 'a', passphrase },
  })) await t.rejects(inviteMachine(gov, session, { to, ...given }), { code }, code)
  t.equal((await store.fresh()).sequence, sequence)
  t.notOk(existsSync(to))
})

t.test('an invitation of a newer program joins nothing, and the place is not asked', async (t) => {
  const { store, server } = await signedIn(t)
  const root = join(store.dir, '..', 'other')
  const asked = server.asked.length
  await t.rejects(joinMachine({
    dir: join(root, 'state'), configDir: join(root, 'config'),
    place: memoryPlace(server, randomUUID),
  }, {
    store_id: store.storeId, key: '00'.repeat(32), format_version: 99,
    created_at: store.createdAt, profile, machine_name: 'b', ...reaching,
    position: { sequence: 0, link: '' }, invited_at: store.createdAt,
  }), { kind: 'blocked', code: 'state_too_new' })
  t.equal(server.asked.length, asked)
})
