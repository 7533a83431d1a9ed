/** One way of opening a state for work, whichever face asks. */
import t from 'tap'
import { openWork } from '../../src/fabric/open-work.js'
import { loadToken, tokenPath } from '../../src/governance/session/token.js'
import { minute } from '../support/clock.js'
import { taskAt } from '../support/tasks.js'
import { sessionOf } from '../world/session.js'
import { World, type StateWorld } from '../world/world.js'

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

t.test('where there is no state, or an unfinished one, nothing opens', async (t) => {
  const { stateDir, configDir } = World.in(t).place
  await t.rejects(openWork({ stateDir, configDir, face: 'cli', mode: 'read' }), {
    kind: 'no_state', code: 'no_state',
  })
})
