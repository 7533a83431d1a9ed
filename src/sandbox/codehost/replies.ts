/** Replies of the code host that are the same on every route. */
import { jsonDraft, type Draft, type JsonObject } from '../types.js'

const documentation = 'https://docs.github.com/rest'

/** A failure with its message. */
export const problem = (status: number, message: string): Draft =>
  jsonDraft(status, { message, documentation_url: documentation, status: String(status) })

/** What a list says of one entry: `code` and `field` of a validation that failed. */
interface Invalid {
  readonly resource: string
  readonly field?: string
  readonly code: string
  readonly message?: string
}

/** 422 with the list of what is wrong. */
export const invalid = (...errors: readonly Invalid[]): Draft =>
  jsonDraft(422, {
    message: 'Validation Failed', errors, documentation_url: documentation, status: '422',
  })

/** 422 with one sentence. */
export const unprocessable = (message: string): Draft => problem(422, message)

/** What is not there, or what the token may not see: nobody can tell the two apart. */
export const notFound = (): Draft => problem(404, 'Not Found')

export const listDraft = (
  list: readonly JsonObject[], headers: [string, string][] = [],
): Draft => ({ ...jsonDraft(200, {}, headers), bytes: Buffer.from(JSON.stringify(list), 'utf8') })
