import type { Draft, FaultRoute, SeenRequest, ServiceName } from '../types.js'

/**
 * When a fault acts: on the reply's JSON members, then on its bytes and headers, then on the way
 * it is sent. Several faults on one request act in this order.
 */
export type FaultStage = 'members' | 'bytes' | 'wire'

/** What a fault is given. */
export interface FaultCall {
  readonly draft: Draft
  readonly request: SeenRequest
  /** The number given with the fault, or the fault's own default. */
  readonly value: number
  /** `https://127.0.0.1:PORT` of the service, for redirects. */
  readonly origin: string
}

/** One fault that can be switched on by name. */
export interface FaultSpec {
  readonly name: string
  readonly summary: string
  readonly route: FaultRoute
  /** The services it can be set for; the first is the default. */
  readonly services: readonly ServiceName[]
  readonly stage: FaultStage
  /** True where the request must not have its effect: it is answered before anything is done. */
  readonly prevents?: boolean
  /** What `--value` means, and its default, for faults that take one. */
  readonly value?: { readonly meaning: string; readonly fallback: number }
  apply(call: FaultCall): void
}
