/**
 * Threads in which long operations run, each with a store of its own, so that no request waits for
 * another one's decoding, folding or counting. They are started when first needed; one that dies
 * fails what it had under way, as a process that dies does, and is replaced.
 */
import { Worker } from 'node:worker_threads'
import { fail } from '../base/errors.js'
import type { Asker } from './asker.js'
import type { Asked } from './route.js'
import { replyOfThrown, type Reply } from './reply.js'

/** What a thread is told. */
export type ToThread =
  | {
    readonly kind: 'perform'
    readonly id: number
    /** See `keyOf`. */
    readonly key: string
    readonly by: Asker
    readonly asked: Asked
  }
  | { readonly kind: 'fold'; readonly id: number }
  | { readonly kind: 'stop' }

/** What a thread tells: the reply, and later that nothing of that request goes on any more. */
export type FromThread =
  | { readonly kind: 'reply'; readonly id: number; readonly reply: Reply }
  | { readonly kind: 'done'; readonly id: number }

/** What a thread is started with. */
export interface ThreadStart {
  readonly stateDir: string
  readonly configDir: string
  readonly waitMs?: number
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly execArgv: readonly string[]
}

interface Thread {
  readonly worker: Worker
  readonly underWay: Map<number, (reply: Reply) => void>
  /** Requests that may still go on behind their reply. */
  readonly unfinished: Set<number>
}

const threadsMax = 3

const lost = (): Reply => replyOfThrown(fail.failed(
  'thread_lost', 'The thread of this request ended before its work did.', {
    next: 'Look at what was done before asking again: GET /api/status',
  }))

/** Runs operations in threads. */
export class Threads {
  readonly #start: ThreadStart
  readonly #program: URL
  readonly #all: Thread[] = []
  #next = 1
  #idle: (() => void)[] = []
  #stopped = false

  constructor(start: ThreadStart, program = new URL('./service-worker.js', import.meta.url)) {
    this.#start = start
    this.#program = program
  }

  /** One operation; never rejects. */
  perform(key: string, by: Asker, asked: Asked): Promise<Reply> {
    return this.#ask((id) => ({ kind: 'perform', id, key, by, asked }))
  }

  /** Folds a long log. */
  async fold(): Promise<void> {
    await this.#ask((id) => ({ kind: 'fold', id }))
  }

  /** Asks what is under way, and whatever comes yet, to stop. */
  stop(): void {
    this.#stopped = true
    for (const { worker } of this.#all) worker.postMessage({ kind: 'stop' } satisfies ToThread)
  }

  /** Waits for the end of what goes on, and ends the threads. */
  async close(): Promise<void> {
    while (this.#all.some(({ unfinished }) => unfinished.size > 0)) {
      await new Promise<void>((resolve) => this.#idle.push(resolve))
    }
    await Promise.all(this.#all.splice(0).map(({ worker }) => worker.terminate()))
  }

  #ask(message: (id: number) => ToThread): Promise<Reply> {
    const id = this.#next++
    const thread = this.#choose()
    return new Promise((resolve) => {
      thread.underWay.set(id, resolve)
      thread.unfinished.add(id)
      thread.worker.postMessage(message(id))
    })
  }

  #choose(): Thread {
    const [least] = [...this.#all].sort((a, b) => a.unfinished.size - b.unfinished.size)
    if (least !== undefined && (least.unfinished.size === 0 || this.#all.length >= threadsMax)) {
      return least
    }
    return this.#begin()
  }

  #begin(): Thread {
    const worker = new Worker(this.#program, { workerData: this.#start, stderr: false })
    const thread: Thread = { worker, underWay: new Map(), unfinished: new Set() }
    worker.on('message', (told: FromThread) => {
      if (told.kind === 'reply') this.#reply(thread, told.id, told.reply)
      else this.#finish(thread, told.id)
    })
    const gone = (): void => this.#lose(thread)
    worker.on('error', gone).on('exit', gone)
    this.#all.push(thread)
    if (this.#stopped) worker.postMessage({ kind: 'stop' } satisfies ToThread)
    return thread
  }

  #reply({ underWay }: Thread, id: number, reply: Reply): void {
    underWay.get(id)?.(reply)
    underWay.delete(id)
  }

  #finish({ unfinished }: Thread, id: number): void {
    unfinished.delete(id)
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #lose(thread: Thread): void {
    const at = this.#all.indexOf(thread)
    if (at >= 0) this.#all.splice(at, 1)
    for (const id of [...thread.unfinished]) {
      this.#reply(thread, id, lost())
      this.#finish(thread, id)
    }
  }
}
