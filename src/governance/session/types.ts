import type { Principal, Root } from '../rows.js'

/** An authenticated operator: who, and under which login. */
export interface Session {
  readonly principal: Principal
  readonly root: Root
}
