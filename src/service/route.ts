/**
 * What the service offers, as records: a route is parsing and status, the operation beneath is the
 * one that the verb has. Shapes are the contracts' beside the use cases.
 */
import type { GenericSchema } from 'valibot'
import type { ContractFacts } from '../base/contract.js'
import { parseStrictJson } from '../base/strict-json.js'
import type { AnchorRule, WorkMode } from '../fabric/open-work.js'
import type { Work } from '../fabric/operation.js'

/** What was asked, as far as HTTP goes; it can be handed to a thread. */
export interface Asked {
  /** Parts of the path by their names; each has the form of an id. */
  readonly params: Readonly<Record<string, string>>
  /** Fields of the query, each given once. */
  readonly query: Readonly<Record<string, string>>
  /** The body as it came; empty where there is none. */
  readonly body: Uint8Array
  /** How long the caller would wait for the end of long work, ms (`Prefer: wait=N`). */
  readonly waitMs: number
}

/** One request of an operator, authenticated. */
export interface Call extends Work {
  readonly asked: Asked
  /** Work that goes on after the answer; a stop of the service waits for it. */
  goOn(work: Promise<unknown>): void
}

/** An answer with a status of its own. */
export class Answered {
  readonly status: number
  readonly document: unknown

  constructor(status: number, document: unknown) {
    this.status = status
    this.document = document
  }
}

/** A field of the query. */
export interface QueryField {
  readonly name: string
  readonly what: string
  readonly kind: 'text' | 'integer' | 'boolean'
}

/** A JSON body. */
interface BodyRule {
  readonly shape: GenericSchema
  /** Name of its schema where it is not the contract's input. */
  readonly name?: string
  readonly required: boolean
  readonly bytesMax: number
}

/** What the description says of an endpoint, whoever may ask it. */
export interface Described {
  /** Its contract; what it answers is `contract.output`. */
  readonly contract: ContractFacts
  readonly method: 'GET' | 'POST' | 'PUT'
  /** With parts in braces: `/api/work-board/tasks/{task_id}`. */
  readonly path: string
  /** One short sentence. */
  readonly summary: string
  /** The verb that does the same; null where only HTTP has it. */
  readonly verb: string | null
  /** Whose token it needs, any of them; left out: a session's. */
  readonly by?: readonly ('session' | 'device')[]
  /** Shape of a JSON body and whether it must be there; null where none is taken. */
  readonly body: BodyRule | null
  readonly query?: readonly QueryField[]
  /** Whether it answers a part of a list, `pageDefault` rows of it unless told otherwise. */
  readonly paged?: true
  /** Success status. */
  readonly status: number
  /** Another success status and its document, where there is one. */
  readonly later?: { readonly status: number; readonly contract: ContractFacts }
  /** Whether it honours `Prefer: wait=N`. */
  readonly waits?: true
  /** A header that holds a request as base64url of JSON. */
  readonly head?: { readonly name: string; readonly contract: ContractFacts }
  /** Media types of a body that is no JSON. */
  readonly takes?: readonly string[]
  /** Media types of an answer that is no document of the contract. */
  readonly gives?: readonly string[]
}

/** One route. */
export interface Route extends Described {
  readonly mode: WorkMode
  /** What it asks of the state: no answer of the service says that rows are missing. */
  readonly anchor: AnchorRule
  /** Refuses every peer that is not this machine, and what was forwarded. */
  readonly localOnly?: true
  /** Where it runs: decoding, folding and long lists never hold up other requests. */
  readonly where: 'here' | 'thread'
  /** Refuses more than the route itself does; throws. Where a face offers a part of it. */
  readonly check?: (asked: Asked) => void
  /** Does the work; gives the document, or `Answered`. Throws as the use case. */
  readonly run: (call: Call) => Promise<unknown>
}

/** What tells one route from every other, also between threads. */
export const keyOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string =>
  `${method} ${path}`

const depthMax = 16

/** A JSON body, read strictly; undefined where there was none. Throws `rejected` `json_…`. */
export const jsonOf = ({ body }: Asked): unknown =>
  (body.length === 0 ? undefined : parseStrictJson(body, { bytesMax: body.length, depthMax }))

/** Most bytes of a body that names a few fields. */
export const smallBody = 65_536
