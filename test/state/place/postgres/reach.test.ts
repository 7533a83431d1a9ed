/** How a server is reached, and what is said where it is not. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { placeTimes } from '../../../../src/state/place/place.js'
import { newAuthority } from '../../../support/net/certs.js'
import { PlacedStore, fenced, recordAfter } from '../../../support/place/placed.js'
import { startPostgres } from '../../../support/place/postgres.js'
import { startProxy } from '../../../support/place/proxy.js'

const password = 'open sesame'
const unreachable = (reason: string) =>
  ({ kind: 'locked', code: 'place_unreachable', reason })

/** Sets variables until the test ends. */
const setEnv = (t: Test, given: Readonly<Record<string, string>>): () => void => {
  const before = new Map(Object.keys(given).map((name) => [name, process.env[name]]))
  const restore = (): void => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
  Object.assign(process.env, given)
  t.teardown(restore)
  return restore
}

const impatient = (t: Test, ms: number): void => {
  const { patienceMs } = placeTimes
  placeTimes.patienceMs = ms
  t.teardown(() => { placeTimes.patienceMs = patienceMs })
}

t.test('over TLS a server proves itself by the certificates that were named, or is refused', async (t) => {
  const [authority, other] = [await newAuthority('ours'), await newAuthority('another')]
  const named = await authority.issue(['localhost', '127.0.0.1'])
  const server = await startPostgres(t, { tls: named, password })
  const store = new PlacedStore(t, server)
  const at = { port: server.port, user: 'sallyport', database: 'postgres' }
  const machine = randomUUID()
  const founding = { format: 7, writes: 1, machine: { machine, name: 'a' }, at: store.base }
  const placeAt = (host: string, ca: string | null, secret: string | null = password, to = at) =>
    store.placeOf(machine, { address: { ...to, host }, ca, password: secret })
  await placeAt('127.0.0.1', authority.ca).found(founding)
  for (const host of ['localhost', '127.0.0.1']) {
    t.match((await placeAt(host, authority.ca).facts()).tls, /^TLSv1\.[23]$/, host)
  }
  const elsewhere = await startPostgres(t, {
    tls: await authority.issue(['db.test']), password,
  })
  const there = { ...at, port: elsewhere.port }
  const plain = { ...at, port: (await startPostgres(t)).port }
  // What another program would take for leave to trust anything.
  const restore = setEnv(t, { NODE_TLS_REJECT_UNAUTHORIZED: '0', PGSSLMODE: 'no-verify' })
  for (const [what, place, reason] of [
    ['another authority', placeAt('localhost', other.ca), 'tls'],
    ['another authority, by address', placeAt('127.0.0.1', other.ca), 'tls'],
    ['another name', placeAt('localhost', authority.ca, password, there), 'tls'],
    ['another address', placeAt('127.0.0.1', authority.ca, password, there), 'tls'],
    ['a server without TLS', placeAt('localhost', authority.ca, password, plain), 'tls'],
    ['without TLS where the server asks for it', placeAt('127.0.0.1', null), 'login'],
    ['another password', placeAt('localhost', authority.ca, 'open barley'), 'login'],
    ['no password', placeAt('localhost', authority.ca, null), 'login'],
    ['another role', placeAt('localhost', authority.ca, password, { ...at, user: 'x' }), 'login'],
    ['another database', placeAt('localhost', authority.ca, password, { ...at, database: 'x' }),
      'database'],
  ] as const) {
    try {
      await place.follow(7, 1)
      t.fail(`${what}: it was taken`)
    } catch (error) {
      t.hasStrict(error, unreachable(reason), what)
      t.notMatch(JSON.stringify(error) + String(error), /sesame|barley/, what)
    }
  }
  restore()
  t.throws(() => placeAt('db.example', null), { kind: 'rejected', code: 'server_ca_needed' })
})

t.test('variables, files of passwords and services of other programs change nothing', async (t) => {
  const server = await startPostgres(t, { password })
  const store = new PlacedStore(t, server)
  const machine = randomUUID()
  const dir = t.testdir()
  const pgpass = join(dir, '.pgpass')
  writeFileSync(pgpass, `*:*:*:*:${password}\n`, { mode: 0o600 })
  writeFileSync(join(dir, 'service'), '[lie]\nhost=192.0.2.1\n')
  const restore = setEnv(t, {
    PGHOST: '192.0.2.1', PGHOSTADDR: '192.0.2.1', PGPORT: '1', PGUSER: 'liar', PGDATABASE: 'lies',
    PGPASSWORD: password, PGPASSFILE: pgpass, HOME: dir, USER: 'liar', PGSERVICE: 'lie',
    PGSERVICEFILE: join(dir, 'service'), PGSYSCONFDIR: dir, PGSSLMODE: 'require',
    PGSSLNEGOTIATION: 'direct', PGSSLROOTCERT: pgpass, PGAPPNAME: 'liar', PGREPLICATION: 'database',
    PGOPTIONS: '-c default_transaction_read_only=on', PGCLIENT_ENCODING: 'LATIN1',
    PGCLIENTENCODING: 'LATIN1', PGDATESTYLE: 'German', PGTZ: 'Asia/Kathmandu', PGBINARY: '1',
    PGCONNECT_TIMEOUT: '1', PGTARGETSESSIONATTRS: 'standby', NODE_PG_FORCE_NATIVE: '1',
  })
  const place = store.placeOf(machine, { password })
  await place.found({ format: 7, writes: 1, machine: { machine, name: 'Ä' }, at: store.base })
  t.equal(await place.append(store.base, recordAfter(store.base), []), 'placed')
  t.strictSame((await place.machines()).map(({ name }) => name), ['Ä'])
  await t.rejects(store.placeOf(machine).follow(7, 1), unreachable('login'),
    'the password that lies about is not found')
  restore()
  const sessions = await server.query(`select usename, datname, application_name
    from pg_stat_activity where application_name in ('sallyport', 'liar')`)
  t.hasStrict(sessions,
    [{ usename: 'sallyport', datname: 'postgres', application_name: 'sallyport' }])
})

t.test('a server that is stopped, silent or full is told of at once, and asked anew', async (t) => {
  const server = await startPostgres(t)
  const store = new PlacedStore(t, server)
  const { place } = await store.founded()
  await server.stop()
  await t.rejects(place.follow(7, 1), unreachable('refused'))
  await t.rejects(place.append(store.base, recordAfter(store.base), []), unreachable('refused'))
  await server.start()
  t.equal((await place.follow(7, 1)).records.length, 0)
  await server.terminateAll()
  t.equal((await place.follow(7, 1)).records.length, 0, 'sessions were ended')
  await server.query(`create function full_disk() returns trigger language plpgsql as
    $$ begin raise exception 'no room for %', new.link using errcode = '53100'; end $$`)
  await server.query(`create trigger full_disk before insert on sallyport.records
    for each row execute function full_disk()`)
  await t.rejects(place.append(store.base, recordAfter(store.base), []),
    { kind: 'failed', code: 'disk_full', message: 'The disk of the server is full.' })
  await server.query('drop trigger full_disk on sallyport.records')
  await server.query('alter role sallyport set default_transaction_read_only = on')
  await server.terminateAll()
  t.equal((await place.follow(7, 1)).records.length, 0, 'reading goes on')
  await t.rejects(place.append(store.base, recordAfter(store.base), []), unreachable('read_only'))
  await t.rejects(place.putStop('stp_1', Buffer.alloc(1)), unreachable('read_only'))
  await server.stop()
  await server.start()
  impatient(t, 400)
  server.signal('SIGSTOP')
  await t.rejects(place.follow(7, 1), unreachable('no_answer'))
  server.signal('SIGCONT')
  t.equal((await place.follow(7, 1)).records.length, 0)
})

t.test('a way that goes silent in the middle of a question ends it', async (t) => {
  const server = await startPostgres(t)
  const store = new PlacedStore(t, server)
  const { machine } = await store.founded()
  const proxy = await startProxy(t, () => server.port)
  const place = new PlacedStore(t, proxy).placeOf(machine, { storeId: store.storeId })
  await place.follow(7, 1)
  impatient(t, 300)
  proxy.hold()
  for (const ask of [
    () => place.follow(7, 1), () => fenced(place, 'op_1', Buffer.alloc(1), randomUUID(), []),
    () => place.take('lane', 1_000), () => place.putStop('stp_1', Buffer.alloc(1)),
  ]) await t.rejects(ask(), unreachable('no_answer'))
  proxy.cut()
  proxy.free()
  placeTimes.patienceMs = 10_000
  t.strictSame((await place.follow(7, 1)).stops, [])
  proxy.close()
  await t.rejects(place.follow(7, 1), unreachable('refused'))
})

t.test('a pool that takes no parameters at the beginning is asked without them', async (t) => {
  const server = await startPostgres(t)
  const store = new PlacedStore(t, server)
  const { machine } = await store.founded()
  let refused = 0
  const pool = createServer((asking) => {
    asking.on('error', () => undefined)
    asking.once('data', (first) => {
      if (first.includes('statement_timeout')) {
        refused += 1
        const fields = Buffer.from('SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter\0\0')
        const head = Buffer.from('E\0\0\0\0')
        head.writeInt32BE(fields.length + 4, 1)
        asking.end(Buffer.concat([head, fields]))
        return
      }
      const answering = connect(server.port, '127.0.0.1')
      answering.on('error', () => undefined)
      answering.write(first)
      asking.pipe(answering).pipe(asking)
    })
  }).listen(0, '127.0.0.1')
  t.teardown(() => pool.close())
  await once(pool, 'listening')
  const { port } = pool.address() as AddressInfo
  const place = new PlacedStore(t, { port }).placeOf(machine, { storeId: store.storeId })
  t.equal((await place.follow(7, 1)).records.length, 0)
  await server.terminateAll()
  t.equal((await place.follow(7, 1)).records.length, 0)
  t.equal(refused, 1, 'it is remembered')
})

t.test('questions that come at once are asked one after another, and closing waits for them', async (t) => {
  const server = await startPostgres(t)
  const store = new PlacedStore(t, server)
  const { place } = await store.founded()
  const asked = Array.from({ length: 20 }, (_, number) =>
    place.putStop(`stp_${number}`, Buffer.alloc(1)))
  await place.close()
  await Promise.all(asked)
  const sessions = async () => (await server.query(
    `select from pg_stat_activity where application_name = 'sallyport'`)).length
  t.equal(await sessions(), 0)
  t.equal((await place.follow(7, 1)).stops.length, 20, 'further use connects anew')
  t.equal(await sessions(), 1)
  await place.close()
  await place.close()
})

t.test('a process that forgets its place ends all the same', async (t) => {
  const authority = await newAuthority()
  const server = await startPostgres(t, {
    tls: await authority.issue(['127.0.0.1']), access: ['host all all 127.0.0.1/32 trust'],
  })
  const store = new PlacedStore(t, server)
  const { machine } = await store.founded()
  const here = fileURLToPath(import.meta.url)
  const program = join(here, '../../../../support/children', `forgets-place${extname(here)}`)
  for (const ca of ['', authority.ca]) {
    const child = spawn(process.execPath, [
      ...process.execArgv, program, String(server.port), store.storeId, machine, ca,
    ], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.teardown(() => child.kill('SIGKILL'))
    let said = ''
    child.stdout.on('data', (bytes: Buffer) => { said += bytes.toString() })
    const [status] = await once(child, 'close') as [number | null]
    t.strictSame([status, said], [0, '0\n'], ca === '' ? 'without TLS' : 'over TLS')
  }
})
