/**
 * A capability that fabric and governance have never heard of, registered in one place: it is
 * recovered, shown, checked and stopped like those that ship.
 */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { silentObserver } from '../../src/base/observer.js'
import { openWork } from '../../src/fabric/open-work.js'
import { checkWhole } from '../../src/fabric/state-care.js'
import { statusContract, statusLinesOf } from '../../src/fabric/status-contract.js'
import { readStatus } from '../../src/fabric/status.js'
import { taskShow, taskShowContract } from '../../src/fabric/tasks-contract.js'
import { reviewAnyTask } from '../../src/fabric/tasks.js'
import { getTask } from '../../src/governance/board/read.js'
import { collections } from '../../src/governance/rows.js'
import { loadToken, tokenPath } from '../../src/governance/session/token.js'
import { reply, serve, trusted, type TestServer } from '../support/net/world.js'
import { startChild, type Child } from '../support/children.js'
import type { SignedIn } from '../world/session.js'
import type { Stateful } from '../world/state.js'
import { World, type Placed } from '../world/world.js'
import { registry } from './nothing/capability.js'
import { grantLooks } from './nothing/grant.js'
import { nothingCollection } from './nothing/rows.js'

t.setTimeout(240_000)

type At = Placed & Stateful & SignedIn

const makeAt = (t: Test): PromiseLike<At> => World.in(t).state().session()
  .with((world) => grantLooks(world.gov, world.session()))

const answering = async (t: Test): Promise<TestServer> => {
  const server = await serve((socket) => void socket.end(reply('HTTP/1.1 200 OK', 'seen')))
  t.teardown(() => server.close())
  return server
}

const look = (
  t: Test, at: At, url: string, stop: { readonly killAt?: string, readonly waitAt?: string } = {},
): Child => {
  const { stateDir, configDir } = at.place
  const token = loadToken(tokenPath(stateDir))
  return startChild(t, 'nothing', { stateDir, configDir, token, url, ca: trusted.ca, ...stop })
}

const lineOf = async (child: Child, text: string): Promise<string> => {
  for (;;) {
    const line = await child.line()
    if (line.startsWith(text)) return line
  }
}

/** Opens the state for work as every mutating verb does, which recovers it. */
const recover = async ({ place: { stateDir, configDir } }: At) => {
  const token = loadToken(tokenPath(stateDir))
  const work = await openWork({ stateDir, configDir, token, registry, face: 'cli', mode: 'mutate' })
  work.close()
  return work.recovered
}

const check = ({ place }: At) => checkWhole({
  dir: place.stateDir, configDir: place.configDir, waitMs: 10_000, clock: systemClock,
  observer: silentObserver, face: 'cli',
}, registry)

const isSound = async (t: Test, at: At): Promise<void> => {
  t.strictSame((await check(at)).problems, [], 'the state is sound')
}

const onlyTask = (at: At) => {
  const view = at.view()
  const [found] = [...view.all(collections.openTasks), ...view.all(collections.closedTasks)]
  if (found === undefined) throw new Error('there is no task')
  const { state, reason, blocked } = getTask(view, found.id)
  return { id: found.id, state, why: reason ?? blocked?.reason ?? null }
}

const rowOf = (at: At) => at.view().all(nothingCollection)[0]?.doc

const statusOf = async (at: At) => {
  const document = statusContract(registry).answer(await readStatus(at.gov, registry))
  return { document, lines: statusLinesOf(document, registry) }
}

t.test('a look is a task like any other, and `status` has its line', async (t) => {
  const at = await makeAt(t)
  const server = await answering(t)
  t.equal(await lineOf(look(t, at, server.url), 'ended'), 'ended succeeded -')
  t.equal(server.requests.length, 1)
  t.hasStrict(rowOf(at), { state: 'done', status: 200 })
  await isSound(t, at)
  const { document, lines } = await statusOf(at)
  t.strictSame(lines.map(([name]) => name), ['alpha', 'gateway', 'nothing'])
  t.strictSame(document['nothing'], { status: 'configured', reason_code: null })
})

/** Every announced step, and what recovery makes of a process that died there. */
const never = { state: 'failed', why: 'nothing_never_left' }
const maybe = { state: 'blocked', why: 'nothing_maybe_seen' }
const deaths: Readonly<Record<string, { readonly state: string; readonly why: string | null }>> = {
  'nothing.claimed': never,
  'nothing.queued': never,
  'nothing.slot': never,
  'nothing.reserved': never,
  'nothing.before_resolve': never,
  'nothing.before_dial': never,
  'nothing.contact_begin': never,
  'nothing.contact_intent': maybe,
  'nothing.before_first_byte': maybe,
  'nothing.replied': maybe,
  'nothing.charge_known': maybe,
  'nothing.finished': { state: 'succeeded', why: null },
}

t.test('its steps are those at which it is killed here', async (t) => {
  const at = await makeAt(t)
  const server = await answering(t)
  const child = look(t, at, server.url)
  const seen: string[] = []
  for (;;) {
    const line = await child.line()
    if (line.startsWith('ended')) break
    seen.push(line)
  }
  t.strictSame(seen, Object.keys(deaths))
})

for (const [step, { state, why }] of Object.entries(deaths)) {
  t.test(`A-026 killed at ${step}, recovery ends its task as ${state}`, async (t) => {
    const at = await makeAt(t)
    const server = await answering(t)
    const child = look(t, at, server.url, { killAt: step })
    await child.ended()
    const sent = server.requests.length
    const report = await recover(at)
    t.equal(report?.endedTasks.length, state === 'succeeded' ? 0 : 1)
    t.hasStrict(onlyTask(at), { state, why })
    t.equal(rowOf(at)?.state, { failed: undefined, blocked: 'lost', succeeded: 'done' }[state])
    t.equal(server.requests.length, sent, 'nothing is sent by recovery')
    t.strictSame(at.view().all(collections.openReservations), [], 'and nothing is held')
    await isSound(t, at)
    const { document } = await statusOf(at)
    t.hasStrict(document['nothing'], { reason_code: state === 'blocked' ? 'nothing_lost' : null })
    t.strictSame((await recover(at))?.endedTasks, [], 'once')
  })
}

t.test('`state check` runs its rules and finds what was planted', async (t) => {
  const at = await makeAt(t)
  const server = await answering(t)
  await lineOf(look(t, at, server.url), 'ended')
  const row = rowOf(at)
  if (row === undefined) throw new Error('there is no row')
  await at.transact((tx) =>
    tx.put(nothingCollection, row.task_id, { ...row, state: 'lost', status: null }))
  const found = await check(at)
  t.equal(found.ok, false)
  t.hasStrict(
    found.problems, [{ code: 'nothing_differs', severity: 'damage', subject: row.task_id }]
  )
})

t.test('a program that does not have it says so of what it left', async (t) => {
  const at = await makeAt(t)
  const server = await answering(t)
  await lineOf(look(t, at, server.url), 'ended')
  const codes = (await at.run(['state', 'check', '--json'])).json().problems
    .map(({ code }: { code: string }) => code)
  t.ok(codes.includes('task_kind_unknown'))
  t.ok(codes.includes('artifact_label_unknown'))
})

t.test('a signal ends it at once while no TLS handshake was made, and nothing is open', async (t) => {
  const at = await makeAt(t)
  const open = new Set<Socket>()
  const mute = createServer((socket) => void open.add(socket)).listen(0, '127.0.0.1')
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    mute.close()
  })
  await once(mute, 'listening')
  const { port } = mute.address() as AddressInfo
  const child = look(t, at, `https://provider.test:${port}/`)
  await Promise.all([once(mute, 'connection'), lineOf(child, 'nothing.contact_intent')])
  const before = performance.now()
  child.process.kill('SIGINT')
  t.match(await lineOf(child, 'ended'), 'ended cancelled')
  t.ok(performance.now() - before < 5_000, 'it waits for no deadline')
  t.hasStrict(onlyTask(at), { state: 'cancelled' })
  t.hasStrict(rowOf(at), { state: 'unsent' })
  await isSound(t, at)
})

t.test('after the request has left, a signal waits for what came of it', async (t) => {
  const at = await makeAt(t)
  const server = await serve((socket) => {
    child.process.kill('SIGINT')
    socket.end(reply('HTTP/1.1 200 OK', 'seen'))
  })
  t.teardown(() => server.close())
  const child = look(t, at, server.url)
  t.match(await lineOf(child, 'ended'), /^ended succeeded/)
  t.hasStrict(rowOf(at), { state: 'done', status: 200 })
  await isSound(t, at)
})

t.test('a reply that never comes whole leaves it blocked: nobody knows', async (t) => {
  const at = await makeAt(t)
  const server = await serve((_socket, _seen, _index, reset) => reset())
  t.teardown(() => server.close())
  t.equal(await lineOf(look(t, at, server.url), 'ended'), 'ended blocked nothing_maybe_seen')
  t.hasStrict(rowOf(at), { state: 'lost' })
  await isSound(t, at)
})

for (const [what, line, reason] of [
  ['a revoke', ['policy', 'revoke'], 'policy_revoked'],
  ['a logout', ['logout'], 'root_not_live'],
] as const) {
  for (const step of ['nothing.reserved', 'nothing.contact_begin', 'nothing.before_first_byte']) {
    t.test(`A-091 ${what} at ${step} sends nothing`, async (t) => {
      const at = await makeAt(t)
      const server = await answering(t)
      const child = look(t, at, server.url, { waitAt: step })
      await lineOf(child, step)
      await at.json(line)
      child.process.stdin?.write('go\n')
      t.equal(await lineOf(child, 'ended'), `ended failed ${reason}`)
      t.equal(server.requests.length, 0)
      t.hasStrict(rowOf(at), { state: 'unsent' })
      await isSound(t, at)
    })
  }
}

t.test('an ended session refuses it before anything is claimed', async (t) => {
  const at = await makeAt(t)
  const server = await answering(t)
  const token = loadToken(tokenPath(at.place.stateDir))
  await at.json(['logout'])
  const { stateDir, configDir } = at.place
  await t.rejects(openWork({ stateDir, configDir, token, registry, face: 'cli', mode: 'mutate' }), {
    code: 'session_ended',
  })
  t.equal(server.connections(), 0)
})

t.test('its receipt is read by its own shape, and by nobody who has none for it', async (t) => {
  const at = await makeAt(t)
  const server = await answering(t)
  await lineOf(look(t, at, server.url), 'ended')
  const view = at.view()
  const seen = { view, session: at.session(), task: getTask(view, onlyTask(at).id) }
  t.hasStrict(taskShowContract(registry).document(seen), {
    task: { kind: 'nothing.look.v1' }, receipt: { schema: 'svc.nothing.receipt.v1', status: 200 },
  })
  t.throws(() => taskShow.document(seen), { kind: 'damaged', code: 'receipt_damaged' })
})

t.test('no overrun of it can be reviewed, because it has none', async (t) => {
  const at = await makeAt(t)
  const server = await answering(t)
  await lineOf(look(t, at, server.url), 'ended')
  const { id } = onlyTask(at)
  await t.rejects(reviewAnyTask(at.gov, at.session(), id, 'accept-overrun', registry), {
    kind: 'conflict', code: 'no_overrun_to_review',
  })
  const approved = await reviewAnyTask(at.gov, at.session(), id, 'approve', registry)
  t.equal(approved.review, 'approved')
  await isSound(t, at)
})
