/** One service a state: who is second is refused before it changes anything. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import { findService } from '../../src/governance/service/identity.js'
import { holdService } from '../../src/governance/service/running.js'
import { freePort, startAtPort } from '../support/ports.js'
import { started, startedToComeBack } from '../support/service/process.js'
import { serving } from '../support/service/serving.js'
import { failure, must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { builtApp } from '../world/process.js'
import type { Place } from '../world/place.js'
import { World } from '../world/world.js'

/** A `serve` that is to be refused: its status, and what it said last. */
const refused = async (t: Test, place: Place, args: readonly string[] = []) => {
  const { child, ended, err } = await started(t, place, args)
  // Whoever serves all the same is not waited for.
  const late = setTimeout(() => void child.kill('SIGKILL'), 1_000)
  const status = await ended
  clearTimeout(late)
  return { status, last: err().trim().split('\n').at(-1) ?? '' }
}

t.test('a second service of a state is refused by the name of the first, whatever it asks for, and the port that devices know stays', async (t) => {
  const world = await World.in(t).state().session()
  const { place } = world
  const first = await started(t, place)
  const { pid, origin, port } = first.told
  const other = String(await freePort())
  const before = findService({ machine: null }, world.view())
  for (const args of [
    [], ['--port', other], ['--page'], ['--page', '--port', other], ['--open', '--port', other],
  ]) {
    const { status, last } = await refused(t, place, args)
    t.equal(status, 11, args.join(' '))
    const { error } = JSON.parse(last)
    t.hasStrict(error, { code: 'service_running', details: { pid, origin } }, args.join(' '))
    t.equal(Number.isNaN(Date.parse(error.details.since)), false, 'since when')
  }
  t.strictSame(findService({ machine: null }, world.view()), before)
  const paired = await place.spawn(['edge', 'pair'])
  const [, line = ''] = must(paired).stdout.trim().split('sallyport-pair-v1.')
  t.hasStrict(JSON.parse(Buffer.from(line, 'base64url').toString()), { origin })
  t.equal(first.told.port, port)
  t.equal((await first.ask('GET', '/api/session')).status, 200, 'it goes on')
})

t.test('`serve --open` beside a service that starts or stops, or that answers something else, is not told to type the same line', async (t) => {
  const world = await World.in(t).state().session()
  const { stateDir } = world.place
  const refusedNow = async (what: string) => {
    const ran = await world.run(['serve', '--open', '--json'])
    t.hasStrict(failure(ran), { status: 11, code: 'service_running' }, what)
    t.strictSame(ran.error().next, [], what)
    t.match(ran.error().hint, /^It offers no page now.* Try again in a moment\.$/, what)
  }
  const held = async (what: string) => {
    const place = await holdService(stateDir, new Date(world.clock.wallMs()).toISOString())
    await refusedNow(what)
    place.release()
  }
  await held('it never listened yet')
  await (await serving(t, world)).stop()
  await held('it listens no more, or not yet')
  for (const answer of [
    { status: 503, body: { error: { code: 'service_stopping' } } },
    { status: 404, body: {} }, { status: 200, body: [] },
  ]) {
    const at = await serving(t, world, {
      endpoints: [{ method: 'POST', path: '/api/page/offers', answer: async () => answer }],
    })
    await refusedNow(`it answers ${answer.status}`)
    await at.stop()
  }
})

t.test('of services that begin at once one serves, and the others are refused by its name', async (t) => {
  const world = await World.in(t).state().session()
  const all = await Promise.all(Array.from({ length: 3 }, () => started(t, world.place)))
  const [first, ...more] = all.filter(({ status }) => status() === null)
  t.ok(first !== undefined && more.length === 0, `${more.length + 1} serve`)
  const pid = first?.child.pid
  for (const { err, ended } of all.filter((one) => one !== first)) {
    t.equal(await ended, 11)
    const { error } = JSON.parse(err().trim().split('\n').at(-1) ?? '')
    t.equal(error.code, 'service_running')
    // Whoever has the guard may not have written down yet who it is.
    t.ok([undefined, null, pid].includes(error.details.pid), String(error.details.pid))
  }
  t.equal((await first?.ask('GET', '/api/session'))?.status, 200)
})

t.test('status and doctor say which process serves and since when, and nothing once it was killed', async (t) => {
  const world = await World.in(t).state().session()
  const { place } = world
  const status = async () => (await world.json(['status'])).service
  const doctor = async () => (await world.json(['doctor'])).checks
    .find(({ name }: { name: string }) => name === 'service process')?.text
  t.equal(await status(), null)
  const first = await startedToComeBack(t, place)
  const { pid, origin } = first.told
  t.hasStrict(await status(), { pid, origin })
  t.hasStrict((await first.ask('GET', '/api/status')).json().service, { pid, origin })
  t.match((await world.run(['status'])).stdout, `service    process ${pid} since `)
  t.match(await doctor(), `process ${pid} since `)
  first.child.kill('SIGKILL')
  await first.ended
  t.equal(await status(), null, 'the kernel knows')
  t.equal(await doctor(), 'none runs')
  const second = await started(t, place)
  t.equal(second.told.port, first.told.port)
  t.hasStrict(await status(), { pid: second.told.pid, origin })
  second.child.kill('SIGTERM')
  await second.ended
  t.equal(await status(), null)
})

t.test('services of two states run beside each other, and a state is served again once its service has stopped or did not start', async (t) => {
  const world = await World.in(t).state().session()
  const [, at] = await startAtPort((free) => serving(t, world, { port: free }))
  await serving(t, await World.in(t).state().session())
  await t.rejects(serving(t, world), { kind: 'locked', code: 'service_running' })
  await at.stop()
  const { port } = at.started.identity
  const squatter = createServer().listen(port, '127.0.0.1')
  await once(squatter, 'listening')
  await t.rejects(serving(t, world), { code: 'port_taken' })
  await new Promise((resolve) => squatter.close(resolve))
  const again = await serving(t, world)
  t.equal(again.started.identity.port, port)
})

t.test('a restore beside it leaves it the only one', async (t) => {
  const { place } = await World.in(t).state().session()
  const first = await started(t, place)
  must(await place.spawn(['state', 'backup', place.path('backup')]))
  must(await place.spawn(['state', 'restore', place.path('backup'), '--yes']))
  const second = await refused(t, place)
  t.equal(second.status, 11)
  t.match(second.last, '"code":"service_running"')
  t.equal(first.status(), null)
})

t.test('sockets that systemd passed start no second one', async (t) => {
  const world = await World.in(t).state().session()
  await serving(t, world)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  const { fd } = (server as unknown as { _handle: { fd: number } })._handle
  const program = join(await builtApp(), 'sallyport.js')
  const child = spawn('/bin/sh', [
    '-c', 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$1" serve --json', process.execPath, program,
  ], { env: world.place.env, stdio: ['ignore', 'ignore', 'pipe', fd] })
  let said = ''
  child.stderr?.on('data', (chunk) => (said += String(chunk)))
  const [status] = await once(child, 'close')
  t.equal(status, 11)
  t.match(said, '"code":"service_running"')
})
