/**
 * What the service tells of itself while it runs, one line of JSON each: that it began and ended,
 * whom it refused for a credential, and what failed. Never a body, a token, a query or the path as
 * it was asked for (one-time links are paths): the endpoint is named as its description has it.
 * Whoever asks as often as they like fills no disk: only so many lines of a kind in one minute.
 */
import { isoFromMs, type Clock } from '../base/clock.js'

/** Lines of one kind in a minute; those left out are counted. */
export const linesAMinute = 30
const minuteMs = 60_000

/** One answer, as far as a line tells it. */
interface Answer {
  readonly requestId: string
  /** Null where it could not be read as a request. */
  readonly method: string | null
  /** The endpoint with its parts in braces; null where there is none. */
  readonly endpoint: string | null
  readonly status: number
  readonly tookMs: number
  /** Code of its failure; null for a good one. */
  readonly code: string | null
  /** Where it was thrown; null for a good one. */
  readonly stack: string | null
  /** Whether it came from another machine. */
  readonly elsewhere: boolean
}

/** What is logged, and whereto. */
export interface LogOrder {
  readonly clock: Clock
  /** Takes one line without its end. */
  readonly write: (line: string) => void
  /** Whether every request is told. */
  readonly all: boolean
}

/** Refusals of a credential that are no 401: codes that open nothing. */
const ofCredential: ReadonlySet<string> = new Set(['edge_code_refused'])

type Kind = 'request' | 'refused' | 'failed'

const kindOf = ({ status, code }: Answer): Kind => {
  if (status >= 500) return 'failed'
  return status === 401 || (code !== null && ofCredential.has(code)) ? 'refused' : 'request'
}

/** Counts the lines of one kind. */
class Minute {
  #beganMs = Number.NEGATIVE_INFINITY
  #lines = 0
  leftOut = 0

  /** Whether one more may be told; `over` is told before what a new minute begins with. */
  takes(nowMs: number, over: (leftOut: number) => void): boolean {
    if (nowMs - this.#beganMs >= minuteMs) {
      if (this.leftOut > 0) over(this.leftOut)
      this.#beganMs = nowMs
      this.#lines = 0
      this.leftOut = 0
    }
    this.#lines += 1
    if (this.#lines <= linesAMinute) return true
    this.leftOut += 1
    return false
  }
}

/** The log of one service. */
export class ServiceLog {
  readonly #order: LogOrder
  readonly #minutes = { refused: new Minute(), failed: new Minute() }
  /** Whoever asks from elsewhere takes no line of what was asked here. */
  readonly #elsewhere = { refused: new Minute(), failed: new Minute() }
  /** Lines that could not be written. */
  #lost = 0

  constructor(order: LogOrder) {
    this.#order = order
  }

  started(facts: {
    readonly origin: string
    readonly pid: number
    /** Where devices of other machines find it; undefined where they find it nowhere. */
    readonly public: string | undefined
  }): void {
    this.#tell('start', facts)
  }

  /** It has answered what it had begun; what was left out of the last minute is told before. */
  stopped(): void {
    for (const of of ['refused', 'failed'] as const) {
      const leftOut = this.#minutes[of].leftOut + this.#elsewhere[of].leftOut
      if (leftOut > 0) this.#leftOut(of, leftOut)
    }
    this.#tell('stop', {})
  }

  answered(answer: Answer): void {
    const kind = kindOf(answer)
    if (!this.#order.all && !this.#takes(kind, answer)) return
    const { requestId, method, endpoint, status, tookMs, code, stack, elsewhere } = answer
    this.#tell(kind, {
      request_id: requestId, method, endpoint, status, ms: Math.round(tookMs),
      ...(elsewhere ? { elsewhere } : {}),
      ...(code === null ? {} : { code }),
      ...(kind === 'failed' && stack !== null ? { stack } : {}),
    })
  }

  #takes(kind: Kind, { elsewhere }: Answer): boolean {
    if (kind === 'request') return false
    return (elsewhere ? this.#elsewhere : this.#minutes)[kind].takes(
      this.#order.clock.monotonicMs(), (count) => this.#leftOut(kind, count))
  }

  #leftOut(of: Kind, count: number): void {
    this.#tell('left_out', { of, count })
  }

  /** A disk that takes no line ends no request; once it takes one again it is told how many. */
  #tell(event: string, facts: object): void {
    const isWhole = this.#lost === 0 || this.#write('left_out', { of: 'log', count: this.#lost })
    if (isWhole) this.#lost = 0
    if (!isWhole || !this.#write(event, facts)) this.#lost += 1
  }

  #write(event: string, facts: object): boolean {
    const at = isoFromMs(Math.max(0, this.#order.clock.wallMs()))
    // Of a line that failed some of it may stand there.
    const begin = this.#lost > 0 ? '\n' : ''
    try {
      this.#order.write(`${begin}${JSON.stringify({ at, event, ...facts })}`)
      return true
    } catch {
      return false
    }
  }
}

const stackCharsMax = 4_000
const causesMax = 5

/**
 * Where something was thrown, with what caused it. The words of what is no refusal of this program
 * are left out: a parser may quote what it was given.
 */
export const stackOf = (thrown: unknown, isOurs: (error: Error) => boolean): string => {
  const parts: string[] = []
  for (let at = thrown; at instanceof Error && parts.length < causesMax; at = at.cause) {
    const frames = (at.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
    parts.push([isOurs(at) ? `${at.name}: ${at.message}` : at.name, ...frames].join('\n'))
  }
  return (parts.join('\ncaused by: ') || typeof thrown).slice(0, stackCharsMax)
}
