/**
 * Where the page lies while this process runs, and how it is opened: a private file in `run/` that
 * leads a browser there with a one-time code. The code stands behind `#`, which no browser sends
 * anywhere; the page takes it out of its address at once.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isoFromMs, type Clock } from '../../base/clock.js'
import { sweepPrivate, writePrivate } from '../../governance/session/private-file.js'
import { PageKeys, passMs } from './keys.js'
import { PictureQuota } from './picture-quota.js'

/** A way into the page. */
export interface OfferedPage {
  readonly url: string
  /** File of mode 600 that holds the code; gone once it was used or its time is over. */
  readonly openFile: string
  /** The code itself: for a terminal, never for a document. */
  readonly code: string
  readonly expiresAt: string
}

const openingPage = (address: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sallyport</title>
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<meta http-equiv="refresh" content="0;url=${address}">
</head><body><p><a href="${address}">Open the page of Sallyport</a></p></body></html>
`

/** The page of one process. */
export class PageDesk {
  readonly keys: PageKeys
  readonly pictures = new PictureQuota()
  readonly #clock: Clock
  readonly #file: string
  #url = ''
  #removal: NodeJS.Timeout | null = null
  /** The code that the file holds. */
  #offered: string | null = null

  constructor(clock: Clock, stateDir: string) {
    this.keys = new PageKeys(clock)
    this.#clock = clock
    this.#file = join(stateDir, 'run', 'page.html')
    sweepPrivate(this.#file)
  }

  listensAt(port: number): void {
    this.#url = `http://127.0.0.1:${port}/`
  }

  /** Where it is; no secret. */
  get url(): string {
    return this.#url
  }

  /** Offers a session a way in; an earlier file is replaced, its code still works once. */
  offer(root: string): OfferedPage {
    const code = this.keys.pass('code', root)
    this.#offered = code
    writePrivate(this.#file, openingPage(`${this.#url}#${code}`))
    if (this.#removal !== null) clearTimeout(this.#removal)
    this.#removal = setTimeout(() => this.withdraw(), passMs)
    this.#removal.unref()
    return {
      url: this.#url, openFile: this.#file, code,
      expiresAt: isoFromMs(this.#clock.wallMs() + passMs),
    }
  }

  /** A code was used: the file that holds it goes, and a newer one stays. */
  used(code: string): void {
    if (code === this.#offered) this.withdraw()
  }

  /** Removes the file: its code has had its time, or the service stops. */
  withdraw(): void {
    if (this.#removal !== null) clearTimeout(this.#removal)
    this.#removal = null
    rmSync(this.#file, { force: true })
  }
}
