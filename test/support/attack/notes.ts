/** What was asked for in an attack, what was answered, and what must not have been. */
import type { Ran } from '../../world/place.js'

/** Something that is sent at most once, and whether it was answered that it was done. */
export interface Sent {
  readonly name: string
  /** Idempotency key; null where it has none. */
  readonly key: string | null
  answered: boolean
}

/** While nothing may leave: since a revoke had answered that it reached everybody. */
export interface Quiet {
  readonly sinceMs: number
  untilMs: number | null
}

/** See above. */
export class Notes {
  readonly asks: Sent[] = []
  /** Issues, comments and pull requests by a text of their own. */
  readonly effects: Sent[] = []
  readonly goals = { told: [] as string[], maybe: [] as string[] }
  readonly quiet: Quiet[] = []
  /** Questions of a machine that was retired before. */
  readonly never: string[] = []
  /** How often each verb ended how. */
  readonly ends: Record<string, number> = {}
  readonly violations: string[] = []
  operations = 0
  /** Whether the last grant is in force, as far as the attack knows. */
  isGranted = true
  #last: Promise<void> = Promise.resolve()

  /** Grants and revokes stand in turn: a grant that goes on behind a revoke lets things leave. */
  inTurn(fn: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(fn)
    return this.#last
  }

  /** Notes how a line ended; a defect, damage and a process that hung are violations. */
  end(verb: string, { status, stderr, wasKilled }: Ran & { readonly wasKilled: boolean }): void {
    const code = status === 0 ? '' : /"code":"(\w+)"/.exec(stderr)?.[1] ?? ''
    const how = wasKilled ? 'killed' : `${status} ${code}`.trim()
    const name = `${verb}: ${how}`
    this.ends[name] = (this.ends[name] ?? 0) + 1
    if (wasKilled) return
    if (/^ {4}at /m.test(stderr)) this.break(`${verb} is a defect: ${stderr.slice(0, 600)}`)
    else if ([1, 12, 137].includes(status) && !lost.has(code)) {
      this.break(`${verb} ended with ${status} ${code}: ${stderr.slice(0, 400)}`)
    }
  }

  break(what: string): void {
    this.violations.push(what)
  }
}

/** Failures that an attack may lead to. */
const lost = new Set(['fence_lost'])
