/**
 * The real use cases over a real state directory, in this process: each line opens the state anew,
 * as a process would. A crash is what the disk held at one moment: it is copied aside there, the
 * line is ended, and the copy takes the place of what it left; locks of the dead are not in it.
 */
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SallyportError } from '../../../../src/base/errors.js'
import type { Observer } from '../../../../src/base/observer.js'
import { connect } from '../../../../src/codehost/connect.js'
import { issueConsent, prepareConsent } from '../../../../src/codehost/consent.js'
import { codehostBase, type CodehostContext } from '../../../../src/codehost/context.js'
import { openWork, type WorkMode } from '../../../../src/fabric/open-work.js'
import { recoverState } from '../../../../src/fabric/recovery.js'
import { connectionCollection, type Connection }
  from '../../../../src/governance/connections/connection-rows.js'
import type { Gov, Session } from '../../../../src/governance/context.js'
import { login } from '../../../../src/governance/session/login.js'
import { recordStops } from '../../../../src/governance/stops/record.js'
import { nodeFiles, type Files } from '../../../../src/state/files.js'
import { openStore } from '../../../../src/state/store.js'
import type { Store } from '../../../../src/state/types.js'
import { placeOf, type Teardown } from '../../../world/place.js'
import { stillClock } from '../../clock.js'
import { must } from '../../must.js'
import { makeSelfSigned } from '../../plain-provider.js'
import { ModelHost, modelHost } from './host.js'

/** The process died here. */
export class Crash extends Error {}

/** Where a line dies: at the n-th step that it announces, or changing call that its store makes. */
export interface CrashPlan {
  readonly what: 'step' | 'call'
  readonly at: number
}

/** What a line came to. */
export type Told<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string | null }
  | { readonly kind: 'crashed'; readonly steps: readonly string[] }

/** How a line is run. */
export interface How {
  readonly mode?: WorkMode
  readonly crash?: CrashPlan | null
  /** What happens at a step that it announces. */
  readonly at?: (step: string) => void | Promise<void>
}

/** What a line works with. */
export interface Line {
  readonly ctx: CodehostContext
  readonly gov: Gov
  readonly session: Session
}

interface Life {
  readonly steps: string[]
  calls: number
  died: boolean
}

const hour = 3_600_000
const writeActions = ['issue.create', 'comment.create']

/** Sessions outlive every run: time stands still in them. */
const loginRequest = { idleMs: 24 * hour, ttlMs: 24 * hour, replace: true }

const profileOf = (caFile: string) => ({
  schema: 'sallyport.profile.v1', name: 'model',
  provider: { name: 'model', base_url: `${modelHost}/v1`, model_id: 'model/one' },
  codehost: { base_url: modelHost }, ca_file: caFile,
})

/** One deployment: a state directory that can be put back to how it was made. */
export class Deployment {
  readonly clock = stillClock()
  host = new ModelHost()
  token = ''
  connectionId = ''
  readonly #dir: string
  readonly #kept: string
  readonly #crashed: string
  #keptToken = ''

  private constructor(dir: string) {
    this.#dir = join(dir, 'live')
    this.#kept = join(dir, 'kept')
    this.#crashed = join(dir, 'crashed')
  }

  /** An owner with a session and a consented connection; it goes with the test. */
  static async make(t: Teardown): Promise<Deployment> {
    const memory = '/dev/shm'
    const dir = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'sallyport-model-'))
    t.teardown(() => rmSync(dir, { recursive: true, force: true }))
    const made = new Deployment(dir)
    await made.#begin(t)
    return made
  }

  get stateDir(): string {
    return join(this.#dir, 'state')
  }

  async #begin(t: Teardown): Promise<void> {
    mkdirSync(this.#dir)
    const { cert } = await makeSelfSigned()
    const ca = join(this.#dir, 'ca.pem')
    const profile = join(this.#dir, 'profile.json')
    writeFileSync(ca, cert)
    writeFileSync(profile, JSON.stringify(profileOf(ca)))
    const place = placeOf(t, {
      clock: this.clock,
      env: { SALLYPORT_STATE_DIR: this.stateDir, SALLYPORT_CONFIG_DIR: this.#configDir },
    })
    must(await place.run(['init', '--json', '--profile', profile]))
    await this.login()
    const told = await this.line({}, async ({ gov, session }) =>
      connect(gov, session, {
        repository: 'octo-org/hello', mode: 'disabled', token: Buffer.from('ghp_model_token'),
      }))
    if (told.kind !== 'done') throw new Error(`not connected: ${JSON.stringify(told)}`)
    this.connectionId = told.value.connection.connection_id
    const consented = await this.consent()
    if (consented.kind !== 'done') throw new Error(`no consent: ${JSON.stringify(consented)}`)
    cpSync(this.#dir, this.#kept, { recursive: true })
    this.#keptToken = this.token
  }

  get #configDir(): string {
    return join(this.#dir, 'config')
  }

  /** As it was made, with a new host. */
  reset(): void {
    this.#take(this.#kept)
    this.host = new ModelHost()
    this.token = this.#keptToken
  }

  #take(from: string): void {
    rmSync(this.#dir, { recursive: true, force: true })
    cpSync(from, this.#dir, { recursive: true, preserveTimestamps: true })
  }

  /** Nobody holds the guards of what is under way any more, as if its process had died. */
  dropGuards(): void {
    const folder = join(this.stateDir, 'run', 'ops')
    for (const name of readdirSync(folder)) {
      const path = join(folder, name)
      cpSync(path, `${path}.copy`)
      renameSync(`${path}.copy`, path)
    }
  }

  #observer({ crash, at }: How, life: Life): Observer {
    return {
      at: async (step) => {
        if (life.died) throw new Crash()
        life.steps.push(step)
        if (crash?.what === 'step' && crash.at === life.steps.length) this.#die(life)
        await at?.(step)
      },
    }
  }

  #die(life: Life): never {
    rmSync(this.#crashed, { recursive: true, force: true })
    cpSync(this.#dir, this.#crashed, { recursive: true, preserveTimestamps: true })
    life.died = true
    this.host.gone = true
    throw new Crash()
  }

  /** The machine's disk, until it dies; a write that it dies in has taken the half of its bytes. */
  #disk({ crash }: How, life: Life): Files {
    if (crash?.what !== 'call') return nodeFiles
    const dying = <A extends readonly unknown[], T>(
      call: (...args: A) => T, half?: (...args: A) => void,
    ) => (...args: A): T => {
      if (life.died) throw new Crash()
      life.calls += 1
      if (life.calls !== crash.at) return call(...args)
      half?.(...args)
      return this.#die(life)
    }
    const { write, sync, syncData, rename, link, unlink, truncate } = nodeFiles
    return {
      ...nodeFiles, sync: dying(sync), syncData: dying(syncData), rename: dying(rename),
      link: dying(link), unlink: dying(unlink), truncate: dying(truncate),
      write: dying(write, (fd, bytes, position) =>
        void write(fd, bytes.subarray(0, bytes.length >> 1), position)),
    }
  }

  #context(gov: Gov): CodehostContext {
    const client = this.host.client()
    return {
      gov, signal: new AbortController().signal, baseUrl: codehostBase(gov),
      client: async () => client,
    }
  }

  /** Runs one line; a crash leaves what the disk held then. */
  async line<T>(how: How, work: (line: Line) => Promise<T>): Promise<Told<T>> {
    const life: Life = { steps: [], calls: 0, died: false }
    let told: Told<T> | null = null
    try {
      told = { kind: 'done', value: await this.#work(how, life, work) }
    } catch (error) {
      if (!life.died && !(error instanceof SallyportError)) throw error
      if (error instanceof SallyportError) {
        told = { kind: 'refused', code: error.code, reason: error.reason }
      }
    }
    if (!life.died && told !== null) return told
    this.#take(this.#crashed)
    this.host.gone = false
    return { kind: 'crashed', steps: life.steps }
  }

  async #work<T>(how: How, life: Life, work: (line: Line) => Promise<T>): Promise<T> {
    const { mode = 'mutate' } = how
    const { clock, stateDir, token } = this
    const place = { stateDir, configDir: this.#configDir, clock }
    const store = openStore({
      dir: stateDir, configDir: this.#configDir, clock, files: this.#disk(how, life),
      mode: mode === 'read' ? 'read' : 'write',
      ...(mode === 'alone'
        ? { folds: false } : { recordFirst: (opened: Store) => recordStops(opened, clock) }),
    })
    try {
      const { gov, session } = await openWork({
        ...place, store, observer: this.#observer(how, life), face: 'cli', mode, token,
        touch: mode === 'mutate' || mode === 'write',
      })
      return await work({ gov, session, ctx: this.#context(gov) })
    } finally {
      store.close()
    }
  }

  /** Another session takes the place of the one there is. */
  async login(): Promise<void> {
    const opened = await openWork({
      stateDir: this.stateDir, configDir: this.#configDir, clock: this.clock, face: 'cli',
      mode: 'write',
    })
    try {
      const { token } = await login(opened.gov, loginRequest)
      this.token = token
      await recoverState(opened.gov)
    } finally {
      opened.close()
    }
  }

  /** Consents to follow-through writes anew. */
  consent(): Promise<Told<unknown>> {
    return this.line({}, async ({ ctx, session }) => {
      const prepared = await prepareConsent(ctx, session, {
        connectionId: this.connectionId, expectedRevision: this.connection().revision,
        actions: writeActions, durationMs: hour, canAcknowledge: true,
      })
      return issueConsent(ctx, session, prepared, true)
    })
  }

  /** Looks into the state behind the program's back. */
  look<T>(see: (gov: Gov) => T): T {
    const store = openStore({
      dir: this.stateDir, configDir: this.#configDir, mode: 'read', clock: this.clock,
    })
    try {
      return see({ store, clock: this.clock, observer: { at: async () => undefined }, face: 'cli' })
    } finally {
      store.close()
    }
  }

  connection(): Connection {
    return this.look(({ store }) => {
      const row = store.read().get(connectionCollection, this.connectionId)
      if (row === undefined) throw new Error('no such connection')
      return row
    })
  }
}
