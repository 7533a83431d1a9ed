/** What anybody on this machine may ask: whether the service lives, and what it offers. */
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import { refusal } from './http/refusal.js'
import type { Described } from './route.js'
import type { Endpoint } from './service.js'

const noQuery = (query: URLSearchParams): void => {
  const [first] = query.keys()
  if (first !== undefined) throw refusal.query('*')
}

const healthzContract = contract({
  name: 'healthz', output: v.strictObject({ status: v.literal('ok') }),
})

const anybody = { method: 'GET', by: [], verb: null, body: null, status: 200 } as const

/** Whether the process answers; it says nothing of the state. */
export const healthz: Endpoint = {
  method: 'GET', path: '/healthz',
  described: {
    ...anybody, path: '/healthz', contract: healthzContract,
    summary: 'Whether the service answers; nothing of the state.',
  },
  answer: async ({ query }) => {
    noQuery(query)
    return { status: 200, body: healthzContract.answer({ status: 'ok' }) }
  },
}

const ownPath = '/openapi.json'
const ownDescription: Described = {
  ...anybody, path: ownPath, contract: healthzContract, gives: ['application/json'],
  summary: 'This description.',
}

/** Endpoints, and before them the description of them all, made at the first request. */
export const withDescription = (endpoints: readonly Endpoint[]): readonly Endpoint[] => {
  let made: Promise<string> | null = null
  const make = async (): Promise<string> => {
    const { describe } = await import('./openapi.js')
    const document = describe([
      ownDescription, ...endpoints.flatMap(({ described }) => described ?? []),
    ])
    return `${JSON.stringify(document)}\n`
  }
  const own: Endpoint = {
    method: 'GET', path: ownPath,
    answer: async ({ query }) => {
      noQuery(query)
      // Anybody may ask for it: a text for each of them would be memory that anybody may take.
      return { status: 200, body: null, text: await (made ??= make()) }
    },
  }
  return [own, ...endpoints]
}
