/** From the fields of a query to those of a request: numbers and booleans by their plain text. */
import { pageDefault } from '../base/page.js'
import { refusal } from './http/refusal.js'
import type { Asked, QueryField, Route } from './route.js'

/** Asks for a part of a list as a document that says whether there is more, and where. */
export const pagedField: QueryField = {
  name: 'paged', what: 'true: a document of rows, more and next_page.', kind: 'boolean',
}

/** Other fields of most lists. */
export const limitField: QueryField =
  { name: 'limit', what: `At most so many (default ${pageDefault}).`, kind: 'integer' }
export const afterField: QueryField =
  { name: 'after', what: 'Only those older than this one.', kind: 'text' }

const integer = /^(?:0|-?[1-9][0-9]{0,15})$/

const valueOf = ({ name, kind }: QueryField, text: string): unknown => {
  if (kind === 'text') return text
  if (kind === 'integer' && integer.test(text)) return Number(text)
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  throw refusal.query(name)
}

/**
 * The fields of a query, each known, given once and of its form. Throws `HttpRefusal` for any
 * other: a misspelled filter must not widen a list.
 */
export const checkedQuery = (
  { query = [] }: Route, given: URLSearchParams,
): Readonly<Record<string, string>> => {
  const found: Record<string, string> = {}
  for (const [name, text] of given) {
    const field = query.find((one) => one.name === name)
    if (field === undefined || Object.hasOwn(found, name)) throw refusal.query(field?.name ?? '*')
    valueOf(field, text)
    found[name] = text
  }
  return found
}

/** The same with their types, for the request of a contract. */
export const requestOfQuery = (
  { query }: Asked, fields: readonly QueryField[],
): Readonly<Record<string, unknown>> => Object.fromEntries(Object.entries(query)
  .filter(([name]) => name !== pagedField.name)
  .map(([name, text]) => {
    const field = fields.find((one) => one.name === name)
    if (field === undefined) throw refusal.query('*')
    return [name, valueOf(field, text)]
  }))
