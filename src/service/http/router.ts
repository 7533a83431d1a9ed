/** From method and path to an endpoint. */
import { TrieRouter } from 'hono/router/trie-router'
import { refusal } from './refusal.js'

/** What is found at a path. */
export interface Found<T> {
  readonly endpoint: T
  readonly params: Readonly<Record<string, string>>
}

/** An endpoint's place. */
export interface Placed {
  readonly method: string
  /** With parts in braces. */
  readonly path: string
}

/** What a part of a path may be: every id of the program has this form. */
const idForm = /^[A-Za-z0-9_-]{1,80}$/

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw refusal.target()
  }
}

/** Finds endpoints. */
export class Router<T extends Placed> {
  readonly #byPath = new TrieRouter<ReadonlyMap<string, T>>()
  /** Paths without parts, which need no search. */
  readonly #plain: ReadonlyMap<string, ReadonlyMap<string, T>>

  constructor(endpoints: readonly T[]) {
    const paths = new Map<string, Map<string, T>>()
    for (const endpoint of endpoints) {
      const methods = paths.get(endpoint.path) ?? new Map<string, T>()
      if (methods.has(endpoint.method)) throw new TypeError(`two endpoints at ${endpoint.path}`)
      paths.set(endpoint.path, methods.set(endpoint.method, endpoint))
    }
    this.#plain = new Map([...paths].filter(([path]) => !path.includes('{')))
    for (const [path, methods] of paths) {
      this.#byPath.add('ALL', path.replace(/\{(\w+)\}/g, ':$1'), methods)
    }
  }

  /** The same; undefined where there is no such path, or none with this method. */
  match(method: string, path: string): Found<T> | undefined {
    return this.#search(path)?.[0].has(method) === true ? this.find(method, path) : undefined
  }

  /** Throws `HttpRefusal`: 404, also for a part that can be no id, or 405 with what is allowed. */
  find(method: string, path: string): Found<T> {
    const found = this.#search(path)
    if (found === undefined) throw refusal.noRoute()
    const [methods, raw] = found
    const endpoint = methods.get(method)
    if (endpoint === undefined) throw refusal.method([...methods.keys()].join(', '))
    const params = Object.fromEntries(
      Object.entries(raw).map(([name, text]) => [name, decoded(text)]))
    if (Object.values(params).some((text) => !idForm.test(text))) throw refusal.noRoute()
    return { endpoint, params }
  }

  #search(path: string): readonly [ReadonlyMap<string, T>, Params] | undefined {
    const plain = this.#plain.get(path)
    if (plain !== undefined) return [plain, {}]
    const [found] = this.#byPath.match('ALL', path) as [[ReadonlyMap<string, T>, Params][]]
    return found[0]
  }
}

type Params = Readonly<Record<string, string>>
