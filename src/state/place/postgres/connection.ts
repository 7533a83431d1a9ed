/**
 * One connection to a server: made at first use, made anew when it is lost, one question at a time.
 * Nothing lasts longer than a question there (no session locks, no settings, no prepared names), so
 * that a pool which gives each transaction another session changes nothing.
 *
 * Every field is given to the driver. What it would look for itself where a field is empty
 * (variables that begin with PG, a file of passwords) is written over behind its back.
 */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Client, ClientConfig } from 'pg'
import { systemClock } from '../../../base/clock.js'
import { tlsFloor } from '../../../base/tls-floor.js'
import { requireCa, type PlaceAddress } from '../address.js'
import { placeTimes } from '../place.js'
import { isAgain, isLost, isReading, sqlStateOf } from './failures.js'
import { endWhereUnread } from './unread.js'

/** How a server is reached. */
export interface Reach {
  readonly address: PlaceAddress
  readonly password: string | null
  /** Certificates in PEM; null on loopback without TLS. */
  readonly ca: string | null
}

/** A row of an answer, by the names of its columns; a bigint is a text. */
export type Row = Readonly<Record<string, unknown>>

/** A column that is a text or a number, as a text. */
export const textOf = (row: Row, column: string): string => {
  const value = row[column]
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  throw new Error('the place gave something else than a text')
}

/** A statement with its values. */
export interface Question {
  readonly text: string
  readonly values: readonly unknown[]
  /** Called where an answer is lost, before the same is asked again. */
  readonly onLost?: () => void
}

/** A question that is not hurried. */
interface Waiting {
  readonly question: Question
  resolve(rows: readonly Row[]): void
  reject(error: unknown): void
}

/** Nobody answered a question that may have been heard; the cause is what the driver said. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered'
}

/** No question was heard, since there is no connection; the cause is what the driver said. */
export class Unreached extends Error {
  override readonly name = 'Unreached'
}

/** How long is waited for the end of a connection that is not needed any more, ms. */
const partingMs = 1_000
/** How much longer a long answer may take than one that does not come, ms. */
const answerMs = 120_000
/** What comes as one answer at most, bytes: a look's is twice its 16 MiB and one record more. */
const answerBytesMax = 128 * 1024 * 1024
const tries = 3

const isIp = (host: string): boolean => host.includes(':') || /^[\d.]+$/.test(host)

/** What the driver knows of a connection before it is made. */
const configOf = ({ address, password, ca }: Reach, patienceMs: number): ClientConfig => ({
  host: address.host,
  port: address.port,
  user: address.user,
  database: address.database,
  // A text that is empty, or none at all, would be looked for elsewhere.
  password: () => password ?? '',
  ssl: ca === null ? false : {
    ...tlsFloor, ca, rejectUnauthorized: true,
    ...(isIp(address.host) ? {} : { servername: address.host }),
  },
  sslnegotiation: 'postgres',
  application_name: 'sallyport',
  // What is given together goes together.
  pipeline: true,
  // Whoever stopped waiting wants nothing to come to be much later.
  statement_timeout: patienceMs,
  lock_timeout: patienceMs,
  idle_in_transaction_session_timeout: patienceMs,
})

/** Parameters that the driver takes from the environment where they are empty. */
const unasked = ['options', 'replication', 'client_encoding'] as const

const streamOf = (client: Client): Socket =>
  (client.connection as unknown as { readonly stream: Socket }).stream

const newClient = async (config: ClientConfig): Promise<Client> => {
  const { default: Driver } = await import('pg/lib/client.js')
  const client = new Driver(config)
  const { connectionParameters } = client as unknown as {
    connectionParameters: Record<string, unknown>
  }
  for (const name of unasked) connectionParameters[name] = undefined
  endWhereUnread(client)
  return client
}

/** The connection. */
export class Connection {
  readonly #reach: Reach
  #client: Client | undefined
  #last: Promise<unknown> = Promise.resolve()
  readonly #waiting: Waiting[] = []
  /** Whether the server (a pool before it) takes no limits with the first words. */
  #takesNoLimits = false

  constructor(reach: Reach) {
    requireCa(reach.address, reach.ca)
    this.#reach = reach
  }

  /** TLS version of the connection that there is; null without TLS or connection. */
  get tls(): string | null {
    if (this.#client === undefined) return null
    const stream = streamOf(this.#client) as Partial<TLSSocket>
    return stream.getProtocol?.() ?? null
  }

  /** Makes the connection, where there is none; throws `Unreached`. */
  reach(): Promise<void> {
    return this.#inTurn(() => this.#asked(() => Promise.resolve()))
  }

  /**
   * The rows that a statement gives; it must be safe to give twice. Throws what the server says;
   * `Unreached`; `Unanswered` where nobody tells whether it came to be.
   */
  ask(question: Question): Promise<readonly Row[]> {
    return this.#inTurn(() => this.#asked(async (client) => {
      const { rows } = await client.query<Row>(question.text, [...question.values])
      return rows
    }, question.onLost))
  }

  /** The rows of the last of several statements, which are given as one text in one trip. */
  askPlain(text: string): Promise<readonly Row[]> {
    return this.#inTurn(() => this.#asked(async (client) => {
      try {
        const results = await client.query<Row>(text) as unknown as readonly { rows: Row[] }[]
        return results.at(-1)?.rows ?? []
      } catch (error) {
        // It may have stopped inside a transaction.
        this.#drop(client)
        throw error
      }
    }))
  }

  /**
   * As `ask`, for what nobody hurries for: all that is asked in one turn of the event loop goes in
   * one trip.
   */
  askSoon(question: Question): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject })
      if (this.#waiting.length === 1) setImmediate(() => this.#askWaiting())
    })
  }

  #askWaiting(): void {
    const waiting = this.#waiting.splice(0)
    if (waiting.length === 0) return
    const asked = this.#inTurn(() => this.#asked((client) => Promise.all(
      waiting.map(({ question: { text, values } }) => client.query<Row>(text, [...values])))))
    for (const [index, { resolve, reject }] of waiting.entries()) {
      asked.then((answers) => resolve(answers[index]?.rows ?? []), reject)
    }
  }

  /** Ends the connection once what was asked is answered. */
  async close(): Promise<void> {
    this.#askWaiting()
    await this.#inTurn(async () => {
      const client = this.#client
      if (client === undefined) return
      this.#client = undefined
      streamOf(client).ref()
      const timer = setTimeout(() => streamOf(client).destroy(), partingMs)
      try {
        await client.end()
      } finally {
        clearTimeout(timer)
      }
    })
  }

  #inTurn<T>(fn: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(fn)
    this.#last = mine.catch(() => undefined)
    return mine
  }

  /** Asks within the patience of the place; what was lost on the way is asked again in it. */
  async #asked<T>(fn: (client: Client) => Promise<T>, onLost?: () => void): Promise<T> {
    const until = systemClock.monotonicMs() + placeTimes.patienceMs
    const leftMs = (): number => Math.max(1, Math.ceil(until - systemClock.monotonicMs()))
    let unanswered: unknown
    for (let tried = 1; ; tried += 1) {
      let client: Client
      try {
        client = await this.#connected(leftMs)
      } catch (error) {
        if (unanswered !== undefined) throw new Unanswered('no answer', { cause: error })
        throw new Unreached('no connection', { cause: error })
      }
      try {
        return await this.#within(client, leftMs(), () => fn(client))
      } catch (error) {
        const isLast = tried >= tries || leftMs() === 1
        if (!isLost(error)) {
          // A name may stand for another server by now, one that writes.
          if (isReading(error)) this.#drop(client)
          if (isAgain(error) && !isLast) continue
          // An earlier try may have come to be, whatever refuses this one.
          if (unanswered === undefined) throw error
          throw new Unanswered('no answer to an earlier try', { cause: error })
        }
        this.#drop(client)
        onLost?.()
        unanswered = error
        if (isLast) throw new Unanswered('no answer', { cause: error })
      }
    }
  }

  /**
   * Waits for an answer for so long. One that has begun may take longer, as long as it goes on
   * coming. The process stays alive meanwhile.
   */
  async #within<T>(client: Client, ms: number, fn: () => Promise<T>): Promise<T> {
    const stream = streamOf(client)
    const drop = (): void => this.#drop(client)
    const silence = setTimeout(drop, ms)
    const whole = setTimeout(drop, ms + answerMs)
    let leftBytes = answerBytesMax
    const goesOn = (chunk: Buffer): void => {
      silence.refresh()
      leftBytes -= chunk.length
      // All of it is kept until it is whole: a server that never ends would take every memory.
      if (leftBytes < 0) drop()
    }
    stream.on('data', goesOn)
    stream.ref()
    try {
      return await fn()
    } finally {
      clearTimeout(silence)
      clearTimeout(whole)
      stream.off('data', goesOn)
      stream.unref()
    }
  }

  async #connected(leftMs: () => number): Promise<Client> {
    if (this.#client !== undefined) return this.#client
    try {
      return await this.#connect(leftMs())
    } catch (error) {
      // Some pools refuse every parameter that they do not know.
      if (this.#takesNoLimits || sqlStateOf(error) !== '08P01') throw error
      this.#takesNoLimits = true
      return this.#connect(leftMs())
    }
  }

  async #connect(withinMs: number): Promise<Client> {
    const config = configOf(this.#reach, placeTimes.patienceMs)
    const client = await newClient({
      ...config, connectionTimeoutMillis: withinMs,
      ...this.#takesNoLimits
        ? { statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 } : {},
    })
    client.on('error', () => this.#drop(client))
    client.on('end', () => this.#drop(client))
    try {
      await client.connect()
    } catch (error) {
      streamOf(client).destroy()
      throw error
    }
    this.#client = client
    return client
  }

  #drop(client: Client): void {
    if (this.#client === client) this.#client = undefined
    streamOf(client).destroy()
  }
}
