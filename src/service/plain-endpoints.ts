/** What anybody on this machine may ask: whether the service lives, and what it offers. */
import type { Endpoint } from './service.js'
import type { Operation } from './operation.js'
import { refusal } from './http/refusal.js'

const noQuery = (query: URLSearchParams): void => {
  const [first] = query.keys()
  if (first !== undefined) throw refusal.query('*')
}

/** Whether the process answers; it says nothing of the state. */
export const healthz: Endpoint = {
  method: 'GET', path: '/healthz',
  answer: async ({ query }) => {
    noQuery(query)
    return { status: 200, body: { schema: 'sallyport.healthz.v1', status: 'ok' } }
  },
}

/** The description of all operations, made at the first request. */
export const description = (operations: readonly Operation[]): Endpoint => {
  let made: Promise<unknown> | null = null
  const make = async (): Promise<unknown> => {
    const { describe } = await import('./openapi.js')
    return describe(operations)
  }
  return {
    method: 'GET', path: '/openapi.json',
    answer: async ({ query }) => {
      noQuery(query)
      return { status: 200, body: await (made ??= make()) }
    },
  }
}
