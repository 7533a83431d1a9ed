/**
 * How much of a reply's head is read. Node drops header lines behind the 1,000th without a word,
 * and takes its byte limit from NODE_OPTIONS: a coding or an id in what is dropped would not be
 * seen, and a variable would move the limit. Both are set here for each request.
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
