/** One way of opening a state for work, whichever face asks. */
import t from 'tap'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nowIso } from '../../src/governance/context.js'
import { collections } from '../../src/governance/rows.js'
import { openWork } from '../../src/fabric/open-work.js'
import { loadToken, tokenPath } from '../../src/governance/session/token.js'
import { newStop } from '../../src/governance/stops/act.js'
import { putStop } from '../../src/state/stop-folder.js'
import { minute } from '../support/clock.js'
import { replicas } from '../support/place/replicas.js'
import { signedIn } from '../support/place/signed-in.js'
import { notes } from '../support/state/notes.js'
import { taskAt } from '../support/tasks.js'
import { sessionOf } from '../world/session.js'
import { World, type StateWorld } from '../world/world.js'
import { stopsDirOf } from '../support/stops-dir.js'

const placeOf = (at: StateWorld) => ({
  stateDir: at.place.stateDir, configDir: at.place.configDir, clock: at.clock,
})

t.test('work is opened under the face that asks, for the owner of the token', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const token = loadToken(tokenPath(at.place.stateDir))
  for (const face of ['cli', 'service', 'job'] as const) {
    const work = await openWork({ ...placeOf(at), face, mode: 'read', token })
    t.equal(work.gov.face, face)
    t.equal(work.session.principal.name, 'ada')
    t.equal(work.recovered, null)
    work.close()
    const nobody = await openWork({ ...placeOf(at), face, mode: 'read' })
    t.equal(nobody.session, null, 'nobody is asked for')
    nobody.close()
  }
})

t.test('a token that is none is refused before anything is recovered or written', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const task = await taskAt(at, sessionOf(at), 'queued')
  const before = at.view().sequence
  for (const [token, code] of [
    [null, 'session_required'], ['', 'session_required'], ['x'.repeat(43), 'session_invalid'],
  ] as const) {
    await t.rejects(openWork({ ...placeOf(at), face: 'service', mode: 'mutate', token }), {
      kind: 'unauthorized', code,
    })
  }
  t.equal(at.view().sequence, before)
  const token = loadToken(tokenPath(at.place.stateDir))
  const writing = await openWork({ ...placeOf(at), face: 'job', mode: 'write', token })
  t.equal(writing.recovered, null)
  t.equal(at.view().sequence, before, 'opening for writing alone recovers nothing')
  writing.close()
  const work = await openWork({ ...placeOf(at), face: 'service', mode: 'mutate', token })
  t.strictSame(
    work.recovered?.endedTasks, [task.task_id], 'what a dead process left is resolved first'
  )
  work.close()
})

t.test('a use is noted unless told otherwise, and a store that was brought stays open', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login', '--idle', '30m'])
  const token = loadToken(tokenPath(at.place.stateDir))
  const open = (touch: boolean) =>
    openWork({ ...placeOf(at), face: 'service', mode: 'read', token, touch })
  at.clock.advance(20 * minute)
  for (const touch of [false, true]) (await open(touch)).close()
  at.clock.advance(20 * minute)
  ;(await open(false)).close()
  at.clock.advance(20 * minute)
  await t.rejects(open(false), { code: 'session_idle' })
  const { store } = at.gov
  const work = await openWork({ ...placeOf(at), face: 'service', mode: 'read', store })
  work.close()
  t.ok(store.read().sequence > 0)
})

t.test('work alone writes its own record and changes nothing else', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const token = loadToken(tokenPath(at.place.stateDir))
  const { store } = at.gov
  // A log that the next writer would fold when it closes.
  await store.transact('test', (tx) => {
    for (let n = 0; n < 40; n += 1) tx.put(notes, `n${n}`, { n, text: 'x'.repeat(10_000) })
  })
  const task = await taskAt(at, sessionOf(at), 'queued')
  putStop(stopsDirOf(store), newStop(at.clock, { kind: 'principal', target: 'nobody' },
    { principal: null, root: null, verb: 'principal disable' }))
  const { stateDir } = at.place
  const walNames = readdirSync(join(stateDir, 'wal'))
  const lastUse = join(stateDir, 'run', 'sessions', sessionOf(at).root.root_id)
  const used = readFileSync(lastUse, 'utf8')
  at.clock.advance(5 * minute)
  const before = at.view().sequence
  const work = await openWork({ ...placeOf(at), face: 'cli', mode: 'alone', token })
  t.equal(work.recovered, null)
  const seen = await work.gov.store.transactLoaded('test', (tx) => {
    tx.mark()
    return tx.sequence
  })
  work.close()
  t.equal(seen, before, 'no record before its own')
  t.equal(at.view().sequence, before + 1)
  t.equal(at.view().get(collections.openTasks, task.task_id)?.state, 'queued')
  t.equal(readFileSync(lastUse, 'utf8'), used)
  t.equal(readdirSync(stopsDirOf(store)).length, 1, 'the next other writer records it')
  t.strictSame(readdirSync(join(stateDir, 'wal')), walNames)
  await at.json(['goal', 'add', 'another'])
  t.equal(readdirSync(stopsDirOf(store)).length, 0)
})

t.test('while nobody answers for a shared state no session is said to be none, nor to have ended', async (t) => {
  const { gov, session: { root }, store, server } = await signedIn(t)
  await store.transact('test', (tx) => tx.put(collections.roots, root.root_id, {
    ...root, ended: { at: nowIso(gov), reason: 'logout' },
  }))
  const stopping = (who: { token: string } | { root: string }) => openWork({
    stateDir: store.dir, configDir: '', clock: gov.clock, face: 'cli', mode: 'stop', store, ...who,
  })
  const [none, ended] = [{ token: 'x'.repeat(43) }, { root: root.root_id }]
  await t.rejects(stopping(none), { kind: 'unauthorized', code: 'session_invalid' })
  await t.rejects(stopping(ended), { kind: 'unauthorized', code: 'session_ended' })
  server.isAway = true
  for (const who of [none, ended]) {
    await t.rejects(stopping(who), { kind: 'locked', code: 'place_unreachable' })
  }
})

t.test('a shared state that has no owner yet is unfinished, whoever asks and whether or not its server answers', async (t) => {
  const { store, server } = await replicas(t)
  const told = { kind: 'no_state', code: 'init_unfinished' }
  const open = (mode: 'mutate' | 'stop') => openWork({
    stateDir: store.dir, configDir: '', face: 'cli', mode, store, token: 'x'.repeat(43),
  })
  for (const mode of ['mutate', 'stop'] as const) {
    await t.rejects(open(mode), { ...told, next: /sallyport init/ }, mode)
  }
  server.isAway = true
  await t.rejects(open('stop'), { ...told, next: /sallyport login/ })
})

t.test('where there is no state, or an unfinished one, nothing opens', async (t) => {
  const { stateDir, configDir } = World.in(t).place
  await t.rejects(openWork({ stateDir, configDir, face: 'cli', mode: 'read' }), {
    kind: 'no_state', code: 'no_state',
  })
})
