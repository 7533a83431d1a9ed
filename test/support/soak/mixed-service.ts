/**
 * A service that is ended again and again while it is asked: by SIGKILL at first and every third
 * time behind that, else by SIGTERM, after which it must end with 0. Whoever asks meanwhile hears
 * that it is away.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Place, Teardown } from '../../world/place.js'
import { started, type Started } from '../service/process.js'
import type { Asking, Got } from '../service/serving.js'

/** The service did not answer, or said that it is stopping: what it did is not known. */
export class Away extends Error {}

/** Memory of one life of the service, MiB resident, with seconds since that life began. */
export interface Life {
  readonly samples: { readonly second: number; readonly mib: number }[]
}

const sampleMs = 1_000
const awayMs = 50

const residentMib = (pid: number): number | null => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const [, kibibytes] = /^VmRSS:\s*(\d+) kB$/m.exec(status) ?? []
    return kibibytes === undefined ? null : Number(kibibytes) / 1024
  } catch {
    return null
  }
}

/** One that is restarted. */
export class MixedService {
  readonly lives: Life[] = []
  readonly exits: number[] = []
  kills = 0
  #now: Started | null = null
  #born = 0
  readonly #t: Teardown
  readonly #place: Place
  readonly #sampling: NodeJS.Timeout

  constructor(t: Teardown, place: Place) {
    this.#t = t
    this.#place = place
    this.#sampling = setInterval(() => this.#sample(), sampleMs)
    t.teardown(() => clearInterval(this.#sampling))
  }

  /** What it said when it last started. */
  get told(): Started['told'] {
    if (this.#now === null) throw new Error('the service is away')
    return this.#now.told
  }

  async begin(): Promise<void> {
    const service = await started(this.#t, this.#place)
    if (service.told === null) throw new Error(`the service did not start: ${service.err()}`)
    this.lives.push({ samples: [] })
    this.#born = performance.now()
    this.#now = service
  }

  /** Ends it and starts it anew. */
  async restart(): Promise<void> {
    const service = this.#now
    if (service === null) return
    const isKill = this.lives.length % 3 === 1
    this.#now = null
    service.child.kill(isKill ? 'SIGKILL' : 'SIGTERM')
    const status = await service.ended
    if (isKill) this.kills += 1
    else this.exits.push(status)
    await this.begin()
  }

  /** Ends it for good. */
  async end(): Promise<void> {
    clearInterval(this.#sampling)
    const service = this.#now
    this.#now = null
    service?.child.kill('SIGTERM')
    if (service !== null) this.exits.push(await service.ended)
  }

  /** One request. Throws `Away` where nobody answered it. */
  async ask(method: string, path: string, asking: Asking = {}): Promise<Got> {
    const service = this.#now
    if (service === null) {
      await sleep(awayMs)
      throw new Away('it is away')
    }
    let got: Got
    try {
      got = await service.ask(method, path, asking)
    } catch (cause) {
      await sleep(awayMs)
      throw new Away('it did not answer', { cause })
    }
    if (got.status === 503) throw new Away('it is stopping')
    return got
  }

  #sample(): void {
    const pid = this.#now?.child.pid
    const mib = pid === undefined ? null : residentMib(pid)
    if (mib === null) return
    const second = Math.floor((performance.now() - this.#born) / 1000)
    this.lives.at(-1)?.samples.push({ second, mib })
  }
}
