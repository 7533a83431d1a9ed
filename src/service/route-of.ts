/** Making routes: what most have is left out, and a request is made in one place. */
import type { Contract, ContractFacts } from '../base/contract.js'
import { pageDefault } from '../base/page.js'
import { parseClosed } from '../base/schema.js'
import type { AnyContract, Operation, RequestOf } from '../fabric/operation.js'
import { pagedField, requestOfQuery } from './query.js'
import { jsonOf, smallBody, type Asked, type Route } from './route.js'

/** Where a route lies: `GET /api/status`. */
type Place = `${Route['method']} /${string}`

/** What of a route may be left out: `verb` is told by the contract's name then. */
type Parts = Partial<Pick<
  Route, 'verb' | 'body' | 'query' | 'paged' | 'status' | 'where' | 'later' | 'waits' | 'localOnly'
  | 'anchor'
>>

/** A route that does with a request what no verb does. */
export const route = (
  contract: ContractFacts, place: Place, summary: string,
  { query, ...parts }: Parts & Pick<Route, 'mode' | 'run'>,
): Route => {
  const [method, path = ''] = place.split(' ')
  const fields = [...query ?? [], ...parts.paged === true ? [pagedField] : []]
  return {
    contract, method: method as Route['method'], path, summary,
    verb: contract.name.replace('.', ' '), body: null, status: 200, where: 'here',
    anchor: 'sound',
    ...(fields.length === 0 ? {} : { query: fields }), ...parts,
  }
}

/** A body of a few fields. */
export const smallJson = (shape: Contract<unknown, unknown, never>['input'], name?: string) =>
  ({ shape, required: true, bytesMax: smallBody, ...(name === undefined ? {} : { name }) })

/** What a body is called in what is told of it. */
const about = { code: 'request_invalid', what: 'the request' }

/** What work comes to within so many milliseconds; null where it goes on. */
export const endedWithin = <T>(work: Promise<T>, ms: number): Promise<T | null> =>
  Promise.race([work, new Promise<null>((resolve) => {
    setTimeout(() => resolve(null), ms).unref()
  })])

/** A body that has the shape. Throws `rejected`. */
export const bodyOf = <S extends Parameters<typeof parseClosed>[0]>(shape: S, asked: Asked) =>
  parseClosed(shape, jsonOf(asked), about)

/** How a request is made of what was asked. */
interface Asking<C extends AnyContract> extends Parts {
  /** The field that the id in the path is of; left out: the name in the path without `_id`. */
  readonly id?: string
  /** Fields that every request at this place has. */
  readonly given?: Partial<RequestOf<C>>
  /** Brings a request to what the operation takes, or refuses more than its contract does. */
  readonly refine?: (request: RequestOf<C>) => RequestOf<C>
}

const requestOf = <C extends AnyContract>(
  contract: C, asked: Asked, { id, given, body, query, paged }: Asking<C>,
): RequestOf<C> => {
  // Of the form of an id, by the router; whose it is the operation asks.
  const ids = Object.fromEntries(Object.entries(asked.params).map(([name, value]) =>
    [id ?? name.replace(/_id$/, ''), value]))
  if (body) return { ...bodyOf(body.shape, asked) as object, ...ids } as RequestOf<C>
  if (query === undefined) return { ...given as object, ...ids } as RequestOf<C>
  return contract.request({
    ...(paged === true ? { limit: pageDefault } : {}), ...requestOfQuery(asked, query), ...ids,
  }) as RequestOf<C>
}

export const routeOf = <C extends AnyContract>(
  { contract, mode, run }: Operation<C>, place: Place, summary: string, asking: Asking<C> = {},
): Route => route(contract, place, summary, {
  ...asking, mode,
  run: async (call) => {
    const request = requestOf(contract, call.asked, asking)
    return contract.answer(await run(call, asking.refine?.(request) ?? request))
  },
})
