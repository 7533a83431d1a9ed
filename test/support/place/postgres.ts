/**
 * A real PostgreSQL on loopback for one test. With `SALLYPORT_TEST_POSTGRES=URL` (a superuser and
 * an empty database, for platforms without programs in the package) that server is used instead,
 * and can be neither stopped nor promoted.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync, chmodSync, chownSync, cpSync, lstatSync, mkdtempSync, readdirSync, rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Teardown } from '../../world/place.js'
import { startAtPort } from '../ports.js'
import { until } from '../until.js'
import { postgresPrograms, runsAs } from './binaries.js'

/** How a server is started; everything may be left out. */
export interface PostgresSettings {
  /** Settings of postgresql.conf; `fsync` is off unless it is named. */
  readonly settings?: Readonly<Record<string, string>>
  /** With TLS: certificate and key, PEM. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Every role is asked for this password; left out: for none. */
  readonly password?: string
  /** Lines of pg_hba.conf in the place of those that fit `tls` and `password`. */
  readonly access?: readonly string[]
  /** The data folder of another server, which was stopped. */
  readonly data?: string
}

/** A server that runs, or did. */
export interface Postgres {
  readonly port: number
  /** `postgres://sallyport@127.0.0.1:PORT/postgres`. */
  readonly url: string
  /** Asks as a superuser; the rows of the answer. */
  query<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>
  /** SIGINT (the default): it ends every connection; SIGKILL: as by a loss of power. */
  stop(signal?: 'SIGINT' | 'SIGKILL'): Promise<void>
  /** At the same port. */
  start(): Promise<void>
  restart(): Promise<void>
  /** SIGSTOP or SIGCONT to every process of the server. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** Ends each connection of the program. */
  terminateAll(): Promise<void>
  /** A standby of this server, which follows it by the address given (this one left out). */
  standby(followed?: { readonly port: number }): Promise<Postgres>
  promote(): Promise<void>
  /** A copy of its files as they are now, for `data` of another one: the same run of the server. */
  image(): Promise<string>
}

const script = '"$@" 3<&- & p=$!; (read -r _ <&3; kill -QUIT $p) & w=$!; echo "pid $p"; '
  + 'wait $p; s=$?; kill $w; exit $s'

const give = (path: string): void => {
  if (runsAs.uid === undefined) return
  chownSync(path, runsAs.uid, runsAs.gid)
  if (!lstatSync(path).isDirectory()) return
  for (const name of readdirSync(path)) {
    if (!lstatSync(join(path, name)).isSymbolicLink()) give(join(path, name))
  }
}

const environment = (programs: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '', LC_ALL: 'C', LD_LIBRARY_PATH: join(programs, 'lib'),
})

/** A new data folder, or one that a file system copy made. */
const dataFolder = (t: Teardown, { password, tls, access, data }: PostgresSettings): string => {
  const folder = data ?? mkdtempSync(join(tmpdir(), 'sallyport-data-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o700)
  give(folder)
  if (data !== undefined) return folder
  const programs = postgresPrograms()
  execFileSync(join(programs, 'bin/initdb'), [
    '-D', folder, '-U', 'sallyport', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C',
  ], { ...runsAs, env: environment(programs), cwd: '/', stdio: ['ignore', 'ignore', 'inherit'] })
  if (password !== undefined) {
    const text = `alter role sallyport password '${password}';\n`
    execFileSync(join(programs, 'bin/postgres'), ['--single', '-D', folder, 'postgres'], {
      ...runsAs, env: environment(programs), cwd: '/', input: text,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
  }
  const how = `127.0.0.1/32 ${password === undefined ? 'trust' : 'scram-sha-256'}`
  const lines = access ?? [`${tls === undefined ? 'host' : 'hostssl'} all all ${how}`]
  writeFileSync(join(folder, 'pg_hba.conf'),
    `${lines.join('\n')}\nhost replication all 127.0.0.1/32 trust\n`)
  if (tls !== undefined) {
    for (const [name, text] of [['server.crt', tls.cert], ['server.key', tls.key]] as const) {
      writeFileSync(join(folder, name), text, { mode: 0o600 })
    }
  }
  give(folder)
  return folder
}

/** A process of a server; it ends with this one, however this one ends. */
class Running {
  private constructor(readonly child: ChildProcess, readonly pid: number) {}

  static async start(folder: string, port: number, given: PostgresSettings): Promise<Running> {
    const programs = postgresPrograms()
    const settings = {
      listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '',
      max_connections: '120', shared_buffers: '32MB', fsync: 'off', wal_keep_size: '256MB',
      ...(given.tls === undefined ? {} : { ssl: 'on' }), ...given.settings,
    }
    const child = spawn('sh', [
      '-c', script, 'sh', join(programs, 'bin/postgres'), '-D', folder,
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ], {
      ...runsAs, env: environment(programs), cwd: '/', stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (bytes: Buffer) => {
        if (said.length < 100_000) said += bytes.toString()
      })
    }
    // What it said last is read when its streams have ended, not when it has.
    const closed = once(child, 'close').then(([code]) => {
      throw new Error(`postgres ended with ${code}: ${said}`)
    })
    await Promise.race([closed, until('postgres is ready', () =>
      said.includes('ready to accept') && said.includes('pid ')).catch((error: unknown) => {
      child.stdio[3]?.destroy()
      throw new Error(`postgres said: ${said}`, { cause: error })
    })])
    return new Running(child, Number(/^pid (\d+)$/m.exec(said)?.[1]))
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const gone = once(this.child, 'exit')
    if (signal === 'SIGKILL') this.#kill([...this.#workers(), this.pid], signal)
    else process.kill(this.pid, signal)
    await gone
  }

  signal(signal: NodeJS.Signals): void {
    this.#kill([this.pid, ...this.#workers()], signal)
  }

  #workers(): number[] {
    const listed = execFileSync('ps', ['-e', '-o', 'pid=,ppid=']).toString()
    return listed.trim().split('\n').map((line) => line.trim().split(/\s+/).map(Number))
      .flatMap(([pid = 0, parent]) => (parent === this.pid ? [pid] : []))
  }

  #kill(pids: readonly number[], signal: NodeJS.Signals): void {
    for (const pid of pids) {
      try {
        process.kill(pid, signal)
      } catch {
        // It ended by itself.
      }
    }
  }
}

const asked = async <R extends pg.QueryResultRow>(
  config: pg.ClientConfig, text: string, values: unknown[],
): Promise<R[]> => {
  const client = new pg.Client(config)
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<R>(text, values)).rows
  } finally {
    await client.end()
  }
}

const endOthers = `select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = 'sallyport'`

/** The server that the environment names. */
const given = (url: string): Postgres => {
  const cannot = (): never => {
    throw new Error('a server that is given can be neither stopped nor promoted')
  }
  const { port } = new URL(url)
  return {
    port: Number(port), url,
    query: (text, values = []) => asked({ connectionString: url }, text, values),
    terminateAll: async () => void await asked({ connectionString: url }, endOthers, []),
    stop: cannot, start: cannot, restart: cannot, signal: cannot, standby: cannot, promote: cannot,
    image: cannot,
  }
}

/** Starts a server; it and its data are gone with the test. */
export const startPostgres = async (
  t: Teardown, settings: PostgresSettings = {},
): Promise<Postgres> => {
  const named = process.env['SALLYPORT_TEST_POSTGRES']
  if (named !== undefined) return given(named)
  const folder = dataFolder(t, settings)
  const [port, started] = await startAtPort((free) => Running.start(folder, free, settings))
  let running = started
  t.teardown(() => running.end('SIGKILL'))
  const config = {
    host: '127.0.0.1', port, user: 'sallyport', database: 'postgres',
    password: settings.password ?? 'none',
    ssl: settings.tls === undefined ? false : { rejectUnauthorized: false },
  }
  const server: Postgres = {
    port,
    url: `postgres://sallyport@127.0.0.1:${port}/postgres`,
    query: (text, values = []) => asked(config, text, values),
    stop: (signal = 'SIGINT') => running.end(signal),
    async start() {
      running = await Running.start(folder, port, settings)
    },
    async restart() {
      await server.stop()
      await server.start()
    },
    signal: (signal) => running.signal(signal),
    terminateAll: async () => void await server.query(endOthers),
    standby: (followed = { port }) => standbyOf(t, server, folder, followed.port, settings),
    promote: async () => void await server.query('select pg_promote(true, 30)'),
    image: () => imageOf(server, folder),
  }
  return server
}

/** While it is stopped its files are one moment's. */
const imageOf = async (server: Postgres, folder: string): Promise<string> => {
  const copy = mkdtempSync(join(tmpdir(), 'sallyport-data-'))
  await server.stop()
  cpSync(folder, copy, { recursive: true })
  await server.start()
  return copy
}

/** A copy of the files at a moment that the server itself declares to be one to begin at. */
const standbyOf = async (
  t: Teardown, server: Postgres, folder: string, port: number, settings: PostgresSettings,
): Promise<Postgres> => {
  const copy = await imageOf(server, folder)
  writeFileSync(join(copy, 'standby.signal'), '')
  appendFileSync(join(copy, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=sallyport sslmode=disable'\n`)
  return startPostgres(t, { ...settings, data: copy })
}
