/**
 * Requests to where the page came from. The run token lives in a variable here and is gone with
 * the tab; it goes out in a header and never in an address. Nothing is stored.
 */
import { browser } from './parts.js'

/** What came back, read. */
export interface Answer {
  readonly status: number
  readonly body: unknown
}

interface Told { readonly error?: { readonly message: string, readonly hint: string | null } }

let token: string | null = null

/** Whether the page was opened. */
export const isOpen = (): boolean => token !== null

/** The run token that was given for a code; null: nothing is asked with it any more. */
export const keepToken = (given: string | null): void => {
  token = given
}

const request = (method: string, path: string, body?: unknown) => browser.fetch(path, {
  method, cache: 'no-store', credentials: 'omit', redirect: 'error', mode: 'same-origin',
  headers: {
    ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  },
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
})

/** One request; null where nobody answers. */
export const ask = async (method: string, path: string, body?: unknown): Promise<Answer | null> => {
  try {
    const reply = await request(method, path, body)
    return { status: reply.status, body: await reply.json() }
  } catch {
    return null
  }
}

/** The same for bytes: `body` is a blob where it went well, and a refusal's document otherwise. */
export const askBytes = async (path: string): Promise<Answer | null> => {
  try {
    const reply = await request('GET', path)
    const { status } = reply
    return { status, body: status === 200 ? await reply.blob() : await reply.json() }
  } catch {
    return null
  }
}

/** What was wrong. */
export const messageOf = (answer: Answer | null): string =>
  (answer === null ? 'The service does not answer: it was stopped, or is starting again.'
    : (answer.body as Told).error?.message ?? `The service answered ${answer.status}.`)

/** What was wrong, and what helps. */
export const wordsOf = (answer: Answer | null): string => {
  const hint = (answer?.body as Told | undefined)?.error?.hint ?? ''
  return `${messageOf(answer)} ${hint.replaceAll('`', '')}`.trim()
}

/** Whether it did what it was asked for. */
export const isGood = (answer: Answer | null): answer is Answer =>
  answer !== null && answer.status >= 200 && answer.status < 300

/** Whether the session has ended, or the page was never opened. */
export const ended = (answer: Answer | null): boolean => answer?.status === 401
