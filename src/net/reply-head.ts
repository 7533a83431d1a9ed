/**
 * How much of a reply's head is read, and what its first line must be. Node drops header lines
 * behind the 1,000th without a word, and takes its byte limit from NODE_OPTIONS: a coding or an id
 * in what is dropped would not be seen, and a variable would move the limit. Both are set here for
 * each request. Its parser also takes HTTP/0.9, HTTP/2.0, ICE and RTSP, a NUL among the words, and
 * waits for ever behind a 101, so each first line is looked at as it comes.
 */

/** Header lines at which a reply is refused; Node's parser drops what comes behind them. */
export const headersMax = 1000

/** Most bytes of a reply's head, status line and all headers; the parser refuses more. */
export const headBytesMax = 16_384

/** What Node's parser of a reply asks its request for. */
export interface RepliedRequest {
  maxHeadersCount: number | null
  maxHeaderSize?: number
}

/** Sets the limits of the reply to a request, before its parser is made. */
export const limitHead = (request: RepliedRequest): void => {
  request.maxHeadersCount = headersMax
  request.maxHeaderSize = headBytesMax
}

/** A first line that is no reply; `code` is what an exchange tells of it. */
class NoStatusLine extends Error {
  readonly code: 'ERR_HTTP_STATUS_LINE' | 'ERR_HTTP_SWITCHED'

  constructor(code: NoStatusLine['code']) {
    super('not the first line of a reply')
    this.code = code
  }
}

/** HTTP/1.0 or 1.1, a status of 100 to 599, words without control characters. */
const statusLine = /^HTTP\/1\.[01] ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?\r\n$/

/**
 * Looks at the first line of one reply, and at that of every informational one before it, as its
 * bytes come. What stands behind the head is not looked at.
 */
export class StatusLines {
  #line = ''
  /** What the present line is one of. */
  #at: 'status' | 'informational' | 'over' = 'status'

  /** Throws `NoStatusLine` before anybody has read the piece that makes the line untrue. */
  see(piece: Buffer): void {
    for (let from = 0; this.#at !== 'over' && from < piece.length;) {
      const end = piece.indexOf(0x0a, from) + 1
      const until = end === 0 ? piece.length : end
      this.#line += piece.toString('latin1', from, until)
      from = until
      if (this.#line.length > headBytesMax) throw new NoStatusLine('ERR_HTTP_STATUS_LINE')
      if (end > 0) this.#whole()
    }
  }

  #whole(): void {
    const line = this.#line
    this.#line = ''
    if (this.#at === 'informational') {
      if (line === '\r\n') this.#at = 'status'
      return
    }
    const [, status] = statusLine.exec(line) ?? []
    if (status === undefined) throw new NoStatusLine('ERR_HTTP_STATUS_LINE')
    // Node waits for another reply behind it, or for somebody who would take the connection over.
    if (status === '101') throw new NoStatusLine('ERR_HTTP_SWITCHED')
    this.#at = status.startsWith('1') ? 'informational' : 'over'
  }
}
