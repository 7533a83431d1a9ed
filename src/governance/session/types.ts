import type { Principal, Root } from '../rows.js'

/** An authenticated operator: who, and under which login. */
export interface Session {
  readonly principal: Principal
  readonly root: Root
}

/** What the world sees of a login session: times and names, never the token or its digest. */
export interface SessionFacts {
  readonly id: string
  /** Name of the owner. */
  readonly principal: string
  readonly issued_at: string
  readonly last_use_at: string
  readonly idle_expires_at: string
  readonly expires_at: string
  readonly ended_at: string | null
  readonly ended_reason: string | null
  /** Whether it would be accepted now. */
  readonly live: boolean
}
