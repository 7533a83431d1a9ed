/**
 * Worker threads for looking into images. Decoding is where a hostile file can take time or memory,
 * so it happens in a thread that can be ended: past its time the image has a reason, the thread is
 * replaced, and the scan goes on.
 */
import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { notCompared } from './compare.js'
import type { CompareJob } from './compare-job.js'
import { readImageFacts } from './facts.js'
import { imageLimits } from './image-limits.js'
import type { Examined, ImageReason, PictureComparison } from './types.js'

interface ImagePoolOptions {
  /** Threads at most; default: one per processor, at most `imageLimits.workersMax`. */
  readonly workers?: number
  /** Longest time for one image, ms. */
  readonly timeLimitMs?: number
  /** Path or URL of the thread's program; tests give others. */
  readonly program?: URL
}

/** Threads that are started when first needed. */
export interface ImagePool {
  /**
   * Looks into one image. Bytes in shared memory are seen by the thread as they are and must not
   * change until the answer; any others are copied.
   */
  examine(bytes: Uint8Array): Promise<Examined>
  /**
   * Compares two whole pictures, both within the limits of `examine`; one comparison after another,
   * in one thread. `not_compared` past its time, or when the thread died.
   */
  compare(job: CompareJob): Promise<PictureComparison>
  /** How many images may be under way before `examine` waits for a thread. */
  readonly workers: number
  /** Ends every thread; images under way or waiting end as `decode_failed`. */
  close(): Promise<void>
}

interface Job {
  /** What the thread is sent. */
  readonly asked: Uint8Array | CompareJob
  /** Takes the thread's answer. */
  resolve(answer: unknown): void
  /** The thread was ended, or will not be had. */
  lost(reason: ImageReason): void
}

interface Thread {
  readonly worker: Worker
  job: Job | null
  timer: NodeJS.Timeout | null
}

const usPerMs = 1_000

/** What is known of an image whose thread was ended: hash and facts all the same. */
const withoutThread = (bytes: Uint8Array, reason: ImageReason): Examined => ({
  sha256: createHash('sha256').update(bytes).digest('hex'),
  facts: readImageFacts(bytes), fingerprint: null, reason,
})

/** Both sides hold the bytes: nothing is copied, and nobody hashes them to be safe. */
const shared = (bytes: Uint8Array): Uint8Array => {
  const { buffer, byteOffset, length } = bytes
  if (buffer instanceof SharedArrayBuffer) return new Uint8Array(buffer, byteOffset, length)
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
  copy.set(bytes)
  return copy
}

const isComparison = (asked: Job['asked']): asked is CompareJob => !(asked instanceof Uint8Array)

class Pool implements ImagePool {
  readonly workers: number
  readonly #timeLimitMs: number
  readonly #program: URL
  readonly #threads = new Set<Thread>()
  readonly #waiting: Job[] = []
  /** The thread that holds a picture to compare with. */
  #comparer: Thread | null = null
  #closed = false

  constructor({ workers, timeLimitMs, program }: ImagePoolOptions) {
    const processors = Math.min(availableParallelism(), imageLimits.workersMax)
    this.workers = Math.max(1, workers ?? processors)
    this.#timeLimitMs = timeLimitMs ?? imageLimits.examineMsMax
    this.#program = program ?? new URL('./worker.js', import.meta.url)
  }

  examine(bytes: Uint8Array): Promise<Examined> {
    const asked = shared(bytes)
    return this.#ask(asked, (reason) => withoutThread(asked, reason))
  }

  compare({ bytes, standing, ignored = [] }: CompareJob): Promise<PictureComparison> {
    const asked = {
      ignored,
      bytes: shared(bytes),
      standing: { sha256: standing.sha256, bytes: shared(standing.bytes) },
    }
    return this.#ask(asked, () => notCompared)
  }

  #ask<T>(asked: Job['asked'], without: (reason: ImageReason) => T): Promise<T> {
    if (this.#closed) throw new TypeError('the pool is closed')
    if (this.#waiting.length >= imageLimits.waitingMax) throw new TypeError('too many images wait')
    return new Promise((resolve) => {
      const job: Job = {
        asked,
        resolve: (answer) => resolve(answer as T),
        lost: (reason) => resolve(without(reason)),
      }
      // The answer of a comparison is waited for before anything else goes on.
      if (isComparison(asked)) this.#waiting.unshift(job)
      else this.#waiting.push(job)
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    const threads = [...this.#threads]
    for (const job of this.#waiting.splice(0)) {
      job.lost('decode_failed')
    }
    for (const thread of threads) this.#end(thread, 'decode_failed')
    await Promise.all(threads.map(({ worker }) => worker.terminate()))
  }

  #next(): void {
    if (this.#closed) return
    let thread: Thread | null = null
    const at = this.#waiting.findIndex((one) => (thread = this.#threadFor(one)) !== null)
    const [job] = at < 0 ? [] : this.#waiting.splice(at, 1)
    if (job !== undefined && thread !== null) this.#give(thread, job)
  }

  #give(thread: Thread, job: Job): void {
    if (isComparison(job.asked)) this.#comparer = thread
    thread.job = job
    thread.worker.ref()
    this.#watch(thread)
    thread.worker.postMessage(job.asked)
    this.#next()
  }

  /**
   * Ends the thread past its time. A process that was stopped meanwhile, or had hardly a processor,
   * is given the time once more: otherwise a sound picture would be recorded as one that cannot be
   * decoded, and each one like it would be taken in and paid for.
   */
  #watch(thread: Thread, more: number = imageLimits.examineMoreMax): void {
    const before = process.cpuUsage()
    thread.timer = setTimeout(() => {
      const { user, system } = process.cpuUsage(before)
      const wasIdle = (user + system) / usPerMs < this.#timeLimitMs / 2
      if (wasIdle && more > 0) return this.#watch(thread, more - 1)
      this.#end(thread, 'decode_timed_out')
      void thread.worker.terminate()
      this.#next()
    }, this.#timeLimitMs)
  }

  /** An idle thread, or a new one; comparisons go to one thread, whatever it is doing. */
  #threadFor({ asked }: Job): Thread | null {
    if (isComparison(asked) && this.#comparer !== null) {
      return this.#comparer.job === null ? this.#comparer : null
    }
    const idle = [...this.#threads].find(({ job }) => job === null)
    return idle ?? (this.#threads.size < this.workers ? this.#start() : null)
  }

  #start(): Thread {
    const worker = new Worker(this.#program, {
      resourceLimits: { maxOldGenerationSizeMb: imageLimits.workerHeapMegabytesMax },
      stdout: false, stderr: true, execArgv: [],
    })
    const thread: Thread = { worker, job: null, timer: null }
    worker.on('message', (answer: unknown) => {
      const { job } = thread
      // An answer that comes after the end of its time is nobody's.
      if (job === null) return
      this.#rest(thread)
      job.resolve(answer)
      this.#next()
    })
    const lost = (): void => {
      this.#end(thread, 'decode_failed')
      this.#next()
    }
    worker.on('error', lost)
    worker.on('exit', lost)
    this.#threads.add(thread)
    return thread
  }

  /** An idle thread keeps no process alive. */
  #rest(thread: Thread): void {
    if (thread.timer !== null) clearTimeout(thread.timer)
    thread.timer = null
    thread.job = null
    thread.worker.unref()
  }

  #end(thread: Thread, reason: ImageReason): void {
    const { job } = thread
    this.#threads.delete(thread)
    if (this.#comparer === thread) this.#comparer = null
    this.#rest(thread)
    job?.lost(reason)
  }
}

/** A pool whose threads start at the first image. Close it, or an unfinished one lives on. */
export const createImagePool = (options: ImagePoolOptions = {}): ImagePool => new Pool(options)
