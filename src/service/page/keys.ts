/**
 * What opens the page: one-time passes of a minute, and run tokens that they are exchanged for. All
 * of it lies in the memory of this process and dies with it; what is kept of a secret is its digest
 * under a key of this process. Each stands for a session, which is judged anew at every request.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.js'
import { fail } from '../../base/errors.js'

/** How long a pass may be used, ms. */
export const passMs = 60_000
const passBytes = 16
const tokenBytes = 32
/** Most passes and tokens at a time; the oldest give way. */
const keptMax = 256

/** What a pass is for: `code` opens the page, `report` shows one report in a tab of its own. */
type PassFor = 'code' | 'report'

interface Pass {
  readonly root: string
  readonly endsMs: number
}

const codeRefused = () => fail.unauthorized('page_code_refused', 'This code opens nothing.', {
  next: 'A code works once, within a minute. Ask for a new one: `sallyport serve --open`.',
})

const tokenRefused = () => fail.unauthorized('page_token_refused', 'This page was not opened.', {
  next: 'Open it with a code: `sallyport serve --open`.',
})

/** The passes and run tokens of one process. */
export class PageKeys {
  readonly #clock: Clock
  readonly #secret = randomBytes(32)
  readonly #passes = new Map<string, Pass>()
  /** Sessions by the digests of run tokens. */
  readonly #runs = new Map<string, string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A new pass of a session, to be used once within a minute. */
  pass(purpose: PassFor, root: string): string {
    const text = randomBytes(passBytes).toString('base64url')
    const now = this.#clock.monotonicMs()
    for (const [digest, { endsMs }] of this.#passes) {
      if (endsMs <= now) this.#passes.delete(digest)
    }
    keep(this.#passes, this.#digest(purpose, text), { root, endsMs: now + passMs })
    return text
  }

  /** The session of a pass, which is used up by it; null where it opens nothing. */
  find(purpose: PassFor, text: string): string | null {
    const digest = this.#digest(purpose, text)
    const found = this.#passes.get(digest)
    this.#passes.delete(digest)
    return found !== undefined && found.endsMs > this.#clock.monotonicMs() ? found.root : null
  }

  /** The session of a code. Throws `unauthorized` `page_code_refused`. */
  useCode(code: string): string {
    const root = this.find('code', code)
    if (root === null) throw codeRefused()
    return root
  }

  /** A run token of a session. */
  open(root: string): string {
    const token = `spr_${randomBytes(tokenBytes).toString('base64url')}`
    keep(this.#runs, this.#digest('run', token), root)
    return token
  }

  /**
   * The session of a run token. Throws `unauthorized` `page_token_refused` for anything else, the
   * token of a session and the credential of a device too.
   */
  rootOf(token: string | null): string {
    const root = token === null ? undefined : this.#runs.get(this.#digest('run', token))
    if (root === undefined) throw tokenRefused()
    return root
  }

  /** Ends a run token. */
  close(token: string | null): void {
    if (token !== null) this.#runs.delete(this.#digest('run', token))
  }

  #digest(kind: PassFor | 'run', text: string): string {
    return createHmac('sha256', this.#secret).update(`${kind}\0${text}`).digest('base64url')
  }
}

const keep = <V>(map: Map<string, V>, key: string, value: V): void => {
  const [oldest] = map.keys()
  if (map.size >= keptMax && oldest !== undefined) map.delete(oldest)
  map.set(key, value)
}
