/**
 * A capability that fabric and governance have never heard of, registered in one place: it is
 * recovered, shown, checked and stopped like those that ship.
 */
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { silentObserver } from '../../src/base/observer.js'
import { openWork } from '../../src/fabric/open-work.js'
import { checkWhole } from '../../src/fabric/state-care.js'
import { statusContract, statusLinesOf } from '../../src/fabric/status-contract.js'
import { readStatus } from '../../src/fabric/status.js'
import { taskShow, taskShowContract } from '../../src/fabric/tasks-contract.js'
import { reviewAnyTask } from '../../src/fabric/tasks.js'
import { getTask } from '../../src/governance/board/visible-tasks.js'
import type { Gov } from '../../src/governance/context.js'
import { collections } from '../../src/governance/rows.js'
import { loadToken, tokenPath } from '../../src/governance/session/token.js'
import { openStore } from '../../src/state/store.js'
import type { View } from '../../src/state/types.js'
import { client, reply, serve, trusted, type TestServer } from '../support/net/world.js'
import { startChild, type Child } from '../support/children.js'
import { timeOf } from '../support/speed.js'
import { t } from '../support/tests-in-slices.js'
import type { SignedIn } from '../world/session.js'
import type { Stateful } from '../world/state.js'
import { World, type Placed } from '../world/world.js'
import { registry } from './nothing/capability.js'
import { grantLooks } from './nothing/grant.js'
import { lookOnce } from './nothing/order.js'
import { nothingCollection } from './nothing/rows.js'

type At = Placed & Stateful & SignedIn

const makeAt = (t: Test): PromiseLike<At> => World.in(t).state().session()
  .with((world) => grantLooks(world.gov, world.session()))

const answering = async (t: Test): Promise<TestServer> => {
  const server = await serve((socket) => void socket.end(reply('HTTP/1.1 200 OK', 'seen')))
  t.teardown(() => server.close())
  return server
}

/** A look in this process: how it ended. `step` is told each step, and the look waits for it. */
const look = async (
  at: At, url: string, step: (name: string) => unknown = () => undefined,
): Promise<string> => {
  const { stateDir, configDir } = at.place
  const work = await openWork({
    stateDir, configDir, token: loadToken(tokenPath(stateDir)), registry, face: 'cli',
    mode: 'mutate', observer: { at: async (name) => void (await step(name)) },
  })
  try {
    const { signal } = new AbortController()
    const context = { gov: work.gov, client: async () => client(), signal }
    const { state, reason, blocked } = await lookOnce(context, work.session, url)
    return `ended ${state} ${reason ?? blocked?.reason ?? '-'}`
  } finally {
    work.close()
  }
}

/** A look in a process of its own. */
const lookApart = (
  t: Test, at: At, url: string, stop: { readonly killAt?: string } = {},
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

/** Where a state and its keys lie. */
interface Where {
  readonly stateDir: string
  readonly configDir: string
}

/** Opens the state for work as every mutating verb does, which recovers it. */
const recover = async ({ stateDir, configDir }: Where) => {
  const token = loadToken(tokenPath(stateDir))
  const work = await openWork({ stateDir, configDir, token, registry, face: 'cli', mode: 'mutate' })
  work.close()
  return work.recovered
}

const check = ({ stateDir, configDir }: Where) => checkWhole({
  dir: stateDir, configDir, waitMs: 10_000, clock: systemClock,
  observer: silentObserver, face: 'cli',
}, registry)

const isSound = async (t: Test, where: Where): Promise<void> => {
  t.strictSame((await check(where)).problems, [], 'the state is sound')
}

const onlyTask = (view: View) => {
  const [found] = [...view.all(collections.openTasks), ...view.all(collections.closedTasks)]
  if (found === undefined) throw new Error('there is no task')
  const { state, reason, blocked } = getTask(view, found.id)
  return { id: found.id, state, why: reason ?? blocked?.reason ?? null }
}

const rowOf = (view: View) => view.all(nothingCollection)[0]?.doc

const statusOf = async (gov: Gov, { stateDir, configDir }: Where) => {
  const world = { env: {}, home: '/', places: { stateDir, configDir } }
  const read = await readStatus(gov, { at: null, world, session: null, registry })
  const document = statusContract(registry).answer(read)
  return { document, lines: statusLinesOf(document, registry) }
}

t.test('a look is a task like any other, and `status` has its line', async (t) => {
  const at = await makeAt(t)
  const server = await answering(t)
  t.equal(await look(at, server.url), 'ended succeeded -')
  t.equal(server.requests.length, 1)
  t.hasStrict(rowOf(at.view()), { state: 'done', status: 200 })
  await isSound(t, at.place)
  const { document, lines } = await statusOf(at.gov, at.place)
  t.strictSame(lines.map(([name]) => name), ['alpha', 'gateway', 'shots', 'codehost', 'nothing'])
  t.strictSame(document['nothing'], { status: 'configured', reason_code: null })
})

/** What recovery makes of a task. */
interface Death {
  readonly state: 'failed' | 'blocked' | 'succeeded'
  readonly why: string | null
}

/** Every announced step, and what recovery makes of a process that died there. */
const never: Death = { state: 'failed', why: 'nothing_never_left' }
const maybe: Death = { state: 'blocked', why: 'nothing_maybe_seen' }
const deaths: Readonly<Record<string, Death>> = {
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

t.test('its steps are those at which it is cut off here', async (t) => {
  const at = await makeAt(t)
  const server = await answering(t)
  const seen: string[] = []
  await look(at, server.url, (step) => seen.push(step))
  t.strictSame(seen, Object.keys(deaths))
})

/** What recovery makes of a state that was left at a step, and that nothing is sent by it. */
const endsAs = async (
  t: Test, where: Where, server: TestServer, { state, why }: Death,
): Promise<void> => {
  const sent = server.requests.length
  const report = await recover(where)
  t.equal(report?.endedTasks.length, state === 'succeeded' ? 0 : 1)
  t.equal(server.requests.length, sent, 'nothing is sent by recovery')
  const store = openStore({ dir: where.stateDir, configDir: where.configDir, mode: 'write' })
  t.teardown(() => store.close())
  const view = store.read()
  t.hasStrict(onlyTask(view), { state, why })
  t.equal(rowOf(view)?.state, { failed: undefined, blocked: 'lost', succeeded: 'done' }[state])
  t.strictSame(view.all(collections.openReservations), [], 'and nothing is held')
  await isSound(t, where)
  const { document } = await statusOf(
    { store, clock: systemClock, observer: silentObserver, face: 'cli' }, where)
  t.hasStrict(document['nothing'], { reason_code: state === 'blocked' ? 'nothing_lost' : null })
  t.strictSame((await recover(where))?.endedTasks, [], 'once')
}

// A kill leaves what lies on the disk at that moment: a copy of it, whose process is nobody.
t.test('A-026 cut off at any step, recovery ends its task by its mark', async (t) => {
  const at = await makeAt(t)
  const server = await answering(t)
  const copies: { readonly step: string; readonly where: Where }[] = []
  await look(at, server.url, (step) => {
    const where = {
      stateDir: join(at.place.dir, 'cut', step, 'state'),
      configDir: join(at.place.dir, 'cut', step, 'config'),
    }
    cpSync(at.place.stateDir, where.stateDir, { recursive: true })
    cpSync(at.place.configDir, where.configDir, { recursive: true })
    copies.push({ step, where })
  })
  for (const { step, where } of copies) {
    const death = deaths[step]
    if (death === undefined) throw new Error(`nothing is said of ${step}`)
    await t.test(`A-026 cut off at ${step}, recovery ends its task as ${death.state}`,
      (t) => endsAs(t, where, server, death))
  }
})

for (const step of ['nothing.reserved', 'nothing.before_first_byte', 'nothing.replied']) {
  const death = deaths[step] ?? never
  t.test(`A-026 killed at ${step}, recovery ends its task as ${death.state}`, async (t) => {
    const at = await makeAt(t)
    const server = await answering(t)
    await lookApart(t, at, server.url, { killAt: step }).ended()
    await endsAs(t, at.place, server, death)
  })
}

t.test('`state check` runs its rules and finds what was planted', async (t) => {
  const at = await makeAt(t)
  const server = await answering(t)
  await look(at, server.url)
  const row = rowOf(at.view())
  if (row === undefined) throw new Error('there is no row')
  await at.transact((tx) =>
    tx.put(nothingCollection, row.task_id, { ...row, state: 'lost', status: null }))
  const found = await check(at.place)
  t.equal(found.ok, false)
  t.hasStrict(
    found.problems, [{ code: 'nothing_differs', severity: 'damage', subject: row.task_id }]
  )
})

t.test('a program that does not have it says so of what it left', async (t) => {
  const at = await makeAt(t)
  const server = await answering(t)
  await look(at, server.url)
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
  const child = lookApart(t, at, `https://provider.test:${port}/`)
  await Promise.all([once(mute, 'connection'), lineOf(child, 'nothing.contact_intent')])
  const before = performance.now()
  child.process.kill('SIGINT')
  t.match(await lineOf(child, 'ended'), 'ended cancelled')
  t.ok(performance.now() - before < timeOf(250), 'it waits for no deadline')
  t.hasStrict(onlyTask(at.view()), { state: 'cancelled' })
  t.hasStrict(rowOf(at.view()), { state: 'unsent' })
  await isSound(t, at.place)
})

t.test('after the request has left, a signal waits for what came of it', async (t) => {
  const at = await makeAt(t)
  const server = await serve((socket) => {
    child.process.kill('SIGINT')
    socket.end(reply('HTTP/1.1 200 OK', 'seen'))
  })
  t.teardown(() => server.close())
  const child = lookApart(t, at, server.url)
  t.match(await lineOf(child, 'ended'), /^ended succeeded/)
  t.hasStrict(rowOf(at.view()), { state: 'done', status: 200 })
  await isSound(t, at.place)
})

t.test('a reply that never comes whole leaves it blocked: nobody knows', async (t) => {
  const at = await makeAt(t)
  const server = await serve((_socket, _seen, _index, reset) => reset())
  t.teardown(() => server.close())
  t.equal(await look(at, server.url), 'ended blocked nothing_maybe_seen')
  t.hasStrict(rowOf(at.view()), { state: 'lost' })
  await isSound(t, at.place)
})

for (const [what, line, reason] of [
  ['a revoke', ['policy', 'revoke'], 'policy_revoked'],
  ['a logout', ['logout'], 'root_not_live'],
] as const) {
  for (const step of ['nothing.reserved', 'nothing.contact_begin', 'nothing.before_first_byte']) {
    t.test(`A-091 ${what} at ${step} sends nothing`, async (t) => {
      const at = await makeAt(t)
      const server = await answering(t)
      const end = await look(at, server.url, (name) => (name === step ? at.json(line) : null))
      t.equal(end, `ended failed ${reason}`)
      t.equal(server.requests.length, 0)
      t.hasStrict(rowOf(at.view()), { state: 'unsent' })
      await isSound(t, at.place)
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
  await look(at, server.url)
  const view = at.view()
  const seen = { view, session: at.session(), task: getTask(view, onlyTask(view).id) }
  t.hasStrict(taskShowContract(registry).document(seen), {
    task: { kind: 'nothing.look.v1' }, receipt: { schema: 'svc.nothing.receipt.v1', status: 200 },
  })
  t.throws(() => taskShow.document(seen), { kind: 'damaged', code: 'receipt_damaged' })
})

t.test('no overrun of it can be reviewed, because it has none', async (t) => {
  const at = await makeAt(t)
  const server = await answering(t)
  await look(at, server.url)
  const { id } = onlyTask(at.view())
  await t.rejects(reviewAnyTask(at.gov, at.session(), id, 'accept-overrun', registry), {
    kind: 'conflict', code: 'no_overrun_to_review',
  })
  const approved = await reviewAnyTask(at.gov, at.session(), id, 'approve', registry)
  t.equal(approved.review, 'approved')
  await isSound(t, at.place)
})
