/**
 * What a stop does to a request that is about to leave, or leaving: nothing of it goes once the
 * stop has answered, whatever held it back, and what had gone before is named.
 */
import { createServer, type TLSSocket } from 'node:tls'
import type { AddressInfo } from 'node:net'
import type { ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { runOrder } from '../../src/contact/engine.js'
import type { Order, Outcome, Step } from '../../src/contact/order.js'
import { collections } from '../../src/governance/rows.js'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { revokePolicy } from '../../src/governance/policy/revoke.js'
import { createHttpsClient } from '../../src/net/client.js'
import { openStore } from '../../src/state/store.js'
import type { Store } from '../../src/state/types.js'
import { newestTask } from '../support/board.js'
import { must } from '../support/must.js'
import { holdWrites } from '../support/net/held-writes.js'
import { trusted } from '../support/net/world.js'
import { holdLock } from '../support/state/hold-lock.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'
import type { Stateful } from '../world/state.js'
import { World, type AlphaWorld, type Placed } from '../world/world.js'

const alphaWorld = (t: Test): PromiseLike<AlphaWorld> =>
  World.in(t).sandbox().state().session().alpha()

const revokeLine = ['policy', 'revoke', '--json']

t.test('A-071 A-168 nothing leaves once a revoke has answered, though the write was waiting',
  async (t) => {
    const rig = await alphaWorld(t)
    const writes = holdWrites(t)
    const asking = rig.ask()
    await until('the request waits to be written', () => writes.begun() > 0)
    const revoked = must(await rig.run(revokeLine))
    const answeredMs = performance.now()
    writes.go()
    const asked = await asking
    t.strictSame(writes.left.filter(({ atMs }) => atMs > answeredMs), [])
    t.equal(rig.inferences().length, 0, 'no byte came to the provider')
    t.not(asked.status, 0)
    const { task_id: task, operation_id: operation } = newestTask(rig)
    const document = revoked.json()
    t.equal(document.recorded, true)
    t.strictSame(document.requests, [{ operation_id: operation, task_id: task, sent: 'partly' }])
    t.strictSame(document.under_way, [])
  })

t.test('A-071 A-167 a request that had been sent is named, and its bill is still read back',
  async (t) => {
    let told = ''
    const rig: AlphaWorld = await World.in(t).sandbox({ hooks: {
      onRequest: async (_service, { route }) => {
        if (route === 'completion') told = must(await rig.run(['policy', 'revoke'])).stdout
      },
    } }).state().session().alpha()
    const asked = await rig.ask()
    t.not(asked.status, 0)
    const { task_id: task } = newestTask(rig)
    t.ok(told.includes(
      `1 request was already sent: task ${task}; what it cost or did is still read back.`), told)
    t.equal(rig.billings().length, 1)
    t.equal(rig.view().all(collections.openReservations).length, 0, 'the charge is known')
  })

/** What ends the session, owner or task of an ask, while another owner is there. */
const narrower: Readonly<Record<string, (rig: AlphaWorld) => readonly string[]>> = {
  'alpha cancel': (rig) => ['alpha', 'cancel', newestTask(rig).task_id],
  logout: () => ['logout'],
  'session revoke': (rig) => ['session', 'revoke', newestTask(rig).original_root],
  'principal disable': () => ['principal', 'disable', 'owner'],
}

for (const [name, lineOf] of Object.entries(narrower)) {
  t.test(`A-156 nothing leaves once ${name} has answered, though the write was waiting`,
    async (t) => {
      const rig = await alphaWorld(t)
      const file = rig.place.write('passphrase', 'another person')
      must(await rig.run(['principal', 'add', 'other', '--passphrase-file', file]))
      const writes = holdWrites(t)
      const asking = rig.ask()
      await until('the request waits to be written', () => writes.begun() > 0)
      // The lock of the state is not needed for it.
      const release = holdLock(rig)
      const ended = await rig.run([...lineOf(rig), '--wait', '0'])
      release()
      writes.go()
      await asking
      must(ended)
      t.match(ended.stderr, /In force; the next command that writes records it\./)
      t.equal(writes.left.length, 0)
      t.equal(rig.inferences().length, 0, 'no byte came to the provider')
      await rig.run(['login', '--owner', 'other', '--passphrase-file', file])
      t.strictSame(stopFiles(rig), [], 'and it was recorded by who wrote next')
    })
}

t.test('A-156 nothing leaves once login --replace has answered, though the write was waiting, and it is named once',
  async (t) => {
    const rig = await alphaWorld(t)
    const writes = holdWrites(t)
    const asking = rig.ask()
    await until('the request waits to be written', () => writes.begun() > 0)
    const replaced = must(await rig.run(['login', '--replace', '--json']))
    writes.go()
    t.not((await asking).status, 0)
    t.equal(writes.left.length, 0)
    t.equal(rig.inferences().length, 0, 'no byte came to the provider')
    const { task_id: task, operation_id: operation } = newestTask(rig)
    t.strictSame(replaced.json().requests,
      [{ operation_id: operation, task_id: task, sent: 'partly' }])
    t.match(replaced.stderr, `1 request was cut off while it was being sent: task ${task}`)
    t.equal(findReservation(rig.view(), operation)?.state, 'unknown', 'the full bound stays held')
    t.strictSame((await rig.json(['login', '--replace'])).requests, [])
    must(await rig.run(['session', 'show']))
  })

t.test('login --replace names what had been sent by sessions that it ends, and by none that had ended before',
  async (t) => {
    const told: unknown[] = []
    const replace = async (rig: AlphaWorld): Promise<void> => {
      told.push((await rig.json(['login', '--replace'])).requests)
    }
    const rig: AlphaWorld = await World.in(t).sandbox({ hooks: {
      onRequest: async (_service, { route }) => {
        if (route !== 'completion') return
        await replace(rig)
        await replace(rig)
      },
    } }).state().session().alpha()
    t.not((await rig.ask()).status, 0)
    const { task_id: task, operation_id: operation } = newestTask(rig)
    t.strictSame(told, [[{ operation_id: operation, task_id: task, sent: 'wholly' }], []])
    t.equal(rig.billings().length, 1, 'its bill is still read back')
  })

const stopsDir = ({ place }: Pick<AlphaWorld, 'place'>): string => {
  const keys = join(place.configDir, 'keys')
  const name = readdirSync(keys).find((one) => one.endsWith('.anchor')) ?? ''
  return join(keys, name.replace(/anchor$/, 'stops'))
}

const stopFiles = (rig: Pick<AlphaWorld, 'place'>): readonly string[] =>
  (existsSync(stopsDir(rig)) ? readdirSync(stopsDir(rig)) : [])

t.test('A-071 a revoke is in force while another process keeps the lock of the state',
  async (t) => {
    const rig = await alphaWorld(t)
    const writes = holdWrites(t)
    const asking = rig.ask()
    await until('the request waits to be written', () => writes.begun() > 0)
    const release = holdLock(rig)
    const revoked = must(await rig.run([...revokeLine, '--wait', '0'])).json()
    t.strictSame([revoked.recorded, revoked.waits_for, revoked.revision],
      [false, 'lock_held', null])
    t.equal(stopFiles(rig).length, 1)
    const shown = await rig.json(['alpha', 'show'])
    t.equal(shown.alpha_text.reason_code, 'policy_revoked', 'and who reads is told so')
    writes.go()
    release()
    await asking
    t.equal(rig.inferences().length, 0)
    const policy = await rig.json(['policy', 'show'])
    t.equal(policy.policy.reason, 'operator_revoke', 'the next writer recorded it')
    t.strictSame(stopFiles(rig), [])
  })

/** An ask in a process that is stopped with its fence taken, as a debugger would stop it. */
const silentAsk = async (t: Test, rig: AlphaWorld) => {
  const go = rig.place.path('go')
  const preload = new URL('../support/net/held-writes.js', import.meta.url).href
  const children: ChildProcess[] = []
  const asking = rig.place.spawn(['alpha', 'ask', '-', '--json'], {
    stdin: 'MARK: a question', env: { HELD_WRITES_GO_FILE: go },
    nodeArgs: ['--import', preload], coverage: false,
    onChild: (child) => children.push(child),
  })
  const signal = (name: NodeJS.Signals) => () => void children[0]?.kill(name)
  t.teardown(signal('SIGCONT'))
  const fences = join(rig.place.stateDir, 'run', 'fence')
  await until('the request waits to be written', () =>
    existsSync(fences) && readdirSync(fences).some((name) =>
      readFileSync(join(fences, name), 'utf8').includes('"begun"')))
  signal('SIGSTOP')()
  return {
    asking, fences, go, pid: children[0]?.pid ?? 0, wake: signal('SIGCONT'),
    kill: signal('SIGKILL'),
  }
}

t.test('A-071 a stopped process that holds a request is named, and the stop stays', async (t) => {
  const rig = await alphaWorld(t)
  const { asking, fences, go, pid, wake } = await silentAsk(t, rig)
  const revoked = await rig.run(revokeLine)
  const { task_id: task } = newestTask(rig)
  t.equal(revoked.status, 11, revoked.stderr)
  t.equal(revoked.error().code, 'contact_under_way')
  t.match(revoked.stderr, `Stopped for every other request; process ${pid} (task ${task}) does not`
    + ' answer and may still send when it wakes.')
  t.strictSame(revoked.json().under_way.map((one: { pid: number }) => one.pid), [pid])
  const text = await rig.run(['policy', 'revoke'])
  t.equal(text.status, 11)
  t.notMatch(text.stdout, 'Every route is stopped')
  wake()
  await until('it was cut off', () => readdirSync(fences).length === 0)
  writeFileSync(go, '')
  await asking
  t.equal(rig.inferences().length, 0, 'it saw the stop when it woke')
  must(await rig.run(['policy', 'revoke']))
})

/** Stops that are given twice while nobody answers, by whoever is logged in then. */
const twice: Readonly<Record<string, (rig: AlphaWorld) => readonly string[]>> = {
  'task cancel': (rig) => ['task', 'cancel', newestTask(rig).task_id],
  'alpha setup --disable': () => ['alpha', 'setup', '--disable'],
  logout: () => ['logout'],
  'session revoke': (rig) => ['session', 'revoke', newestTask(rig).original_root],
  'principal disable': () => ['principal', 'disable', 'owner'],
  'login --replace': () => ['login', '--replace', '--owner', 'owner'],
}

for (const [name, lineOf] of Object.entries(twice)) {
  t.test(`A-071 ${name} says again that a process does not answer, until it is killed`,
    async (t) => {
      const rig = await alphaWorld(t)
      const file = rig.place.write('passphrase', 'another person')
      must(await rig.run(['principal', 'add', 'other', '--passphrase-file', file]))
      const { asking, pid, kill } = await silentAsk(t, rig)
      const line = [...lineOf(rig), '--json']
      if (name === 'session revoke' || name === 'principal disable') {
        must(await rig.run(['login', '--owner', 'other', '--passphrase-file', file]))
      }
      for (const time of ['first', 'second']) {
        const ran = await rig.run(line)
        t.equal(ran.status, 11, `${time}: ${ran.stdout}${ran.stderr}`)
        t.equal(ran.error().code, 'contact_under_way')
        t.equal(ran.error().details.pid, pid)
        const isPut = time === 'first' && name !== 'login --replace'
        t.equal(ran.error().details.stop_id !== undefined, isPut, 'put once')
      }
      kill()
      await asking
      must(await rig.run(line))
      t.equal(rig.inferences().length, 0)
    })
}

/** A server that takes the connection and reads nothing until it is told to. */
const slowServer = async (t: Test) => {
  const sockets: TLSSocket[] = []
  let bytes = 0
  const server = createServer({ ...trusted.pair }, (socket) => {
    socket.on('error', () => undefined)
    socket.pause()
    sockets.push(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/slow`,
    sockets,
    /** Reads to the end of every connection; answers how many bytes came. */
    drain: async (): Promise<number> => {
      await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => {
        socket.on('data', (chunk: Buffer) => { bytes += chunk.length })
        socket.once('close', () => resolve())
        socket.resume()
      })))
      return bytes
    },
  }
}

/** The store opened by somebody who does not wait long for its lock. */
const impatient = (world: Placed & Stateful): Store =>
  openStore({
    dir: world.place.stateDir, configDir: world.place.configDir, mode: 'write', waitMs: 50,
  })

type Seen = readonly Outcome<number>[]

const bodyBytes = 32 * 1024 * 1024

const largeStep = (url: string): Step<number> => ({
  authority: 'full',
  request: () => ({
    method: 'POST', url, headers: {}, body: Buffer.alloc(bodyBytes, 1),
    requestBytesMax: bodyBytes, replyBytesMax: 65_536,
  }),
  timeoutMs: (leftMs) => leftMs,
  judge: ({ status }) => status,
})

const largeOrder = (url: string, asked: string[]): Order<null, Seen, string> => ({
  step: 'large', verb: 'test', noun: 'large', operationMsMax: 120_000, lane: null,
  runtime: 'test_large', profile: 'test.large', credential: null,
  claim: () => ({ kind: 'claimed', claimed: null }),
  prepare: () => ({ hold: null, requestMs: 120_000 }),
  decide: () => ({ provider: 'slow', url, decision_id: 'dec_large', policy_revision: 1 }),
  authority: (_view, boundary) => asked.push(boundary),
  party: () => ({ principal: 'prn_other', root: 'root_other' }),
  run: async (send) => [await send(largeStep(url))],
  unsent: (why) => [why],
  money: () => ({ ledger: 'release' }),
  close: (_tx, _now, _run, { evidence: [one] }) => ({
    kept: one === undefined || one.kind === 'reply' ? 'reply' : `${one.kind} ${one.reason}`,
    outcome: 'ended', adopts: false,
  }),
  details: () => ({}),
})

for (const kind of ['recorded', 'waiting for the lock'] as const) {
  t.test(`a request that waits for the kernel is cut off by a revoke that is ${kind}`,
    async (t) => {
      const world = await World.in(t).state()
      const server = await slowServer(t)
      const client = createHttpsClient({
        clock: systemClock, env: {}, execArgv: [], ca: [trusted.ca], loopbackOnly: true,
        resolve: async () => { throw new Error('no name is looked up here') },
      })
      const asked: string[] = []
      const { gov } = world
      const running = runOrder(
        { gov, signal: new AbortController().signal, client: async () => client },
        largeOrder(server.url, asked),
      )
      const fences = join(world.place.stateDir, 'run', 'fence')
      await until('the first bytes are on their way', () =>
        existsSync(fences) && readdirSync(fences).some((name) =>
          readFileSync(join(fences, name), 'utf8').includes('"begun"')))
      const release = kind === 'recorded' ? () => undefined : holdLock(world)
      const second = world.open('write')
      const revoked = await revokePolicy({
        stateHolds: gov.store.holds, boards: [second.stops], clock: gov.clock,
        by: { principal: null, root: null },
        open: async () => ({ ...gov, store: kind === 'recorded' ? second : impatient(world) }),
      })
      t.equal(revoked.why?.code ?? null, kind === 'recorded' ? null : 'lock_held')
      t.strictSame(revoked.reached.underWay, [])
      t.strictSame(revoked.reached.sent.map(({ sent }) => sent), ['begun'])
      release()
      t.equal(await running, 'sent policy_revoked')
      const came = await server.drain()
      t.ok(came < bodyBytes, `${came} bytes had been taken by the system`)
      t.strictSame(readdirSync(fences), [], 'the fence goes with its operation')
      // The mark is judged in a transaction, which may run more than once.
      const points = asked.filter((one, at) => one !== 'mark' || asked[at - 1] !== 'mark')
      t.strictSame(points, ['check', 'check', 'mark', 'check'], 'authority was asked three times')
    })
}
