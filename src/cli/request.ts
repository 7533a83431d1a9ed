/** From a line to the request of its operation. */
import type { Contract } from '../base/contract.js'

/** The part of a contract that takes requests. */
type Requested<Request> = Pick<Contract<Request, unknown, never>, 'request' | 'fields'>

/** A name in camel case as the one of a field: `stateDir` is `state_dir`. */
export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/**
 * The request that the arguments and flags of a line make, under the names of the contract. Flags
 * of the terminal alone (`--yes`, a file to read) are no part of it. Throws what `request` throws.
 */
export const requestOf = <Request>(contract: Requested<Request>, options: object): Request => {
  const named = Object.entries(options).map(([name, value]) => [snakeCase(name), value] as const)
  const own = named.filter(([name]) => contract.fields.includes(name))
  return contract.request(Object.fromEntries(own))
}
