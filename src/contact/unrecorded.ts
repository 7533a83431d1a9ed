/**
 * Reads that leave no row: the three checks, the fence, the stops and the one deadline of every
 * other request, and no claim, no route and no mark. For what must leave the state as it was unless
 * it comes to its own end; only reads may be sent so.
 */
import { newId } from '../base/ids.js'
import { openCredential } from '../governance/vault.js'
import type { HttpsSession } from '../net/client.js'
import { startDeadline, type Deadline } from '../net/remaining.js'
import { cancelled, type Sending } from './operation.js'
import type { ContactContext, Order, Running, Send, Step } from './order.js'
import { makeSend } from './send.js'

/** What such reads rest on. */
export type Reads<Claimed> = Pick<
  Order<Claimed, never, never>,
  'step' | 'verb' | 'noun' | 'runtime' | 'profile' | 'operationMsMax' | 'authority' | 'party'
  | 'covered'
> & {
  /** Vault name of the key. */
  readonly credential: string
  /** What every check is handed. */
  readonly claimed: Claimed
}

/** What the work is handed. */
export interface ReadParts {
  readonly send: Send
  readonly key: Uint8Array
  readonly deadline: Deadline
  readonly operationId: string
}

const requireRead = ({ authority }: Step<never>): void => {
  if (authority !== 'read') throw new TypeError('only reads leave no row')
}

const sendingOf = <C>(ctx: ContactContext, reads: Reads<C>, run: Running<C>): Sending<C> => ({
  ctx, order: reads, run, taskId: null, terms: null, sent: false, unsentBy: null, fence: null,
  held: [],
  // As if it had been made: nothing is written for it.
  mark: Promise.resolve(),
})

/**
 * Runs `work` with the way out. The window begins here. Throws `cancelled` before anything, what
 * forbids every contact, what the vault throws, and what `work` throws.
 */
export const readUnrecorded = async <C, T>(
  ctx: ContactContext, reads: Reads<C>, work: (parts: ReadParts) => Promise<T>,
): Promise<T> => {
  const { gov, signal } = ctx
  if (signal.aborted) throw cancelled(reads)
  const client = await ctx.client()
  const operationId = newId('op')
  const run: Running<C> = {
    operationId, claimed: reads.claimed,
    deadline: startDeadline(gov.clock, reads.operationMsMax), stopped: () => signal.aborted,
  }
  const guard = await gov.store.holds.hold('operation', operationId)
  const op = sendingOf(ctx, reads, run)
  let session: HttpsSession | undefined
  let key: Buffer | undefined
  try {
    key = openCredential(gov, reads.credential)
    session = client.openSession?.()
    const out = makeSend(op, session ?? client)
    const send: Send = (step) => {
      requireRead(step as Step<never>)
      return out(step)
    }
    return await work({ send, key, deadline: run.deadline, operationId })
  } finally {
    session?.close()
    key?.fill(0)
    op.fence?.close()
    gov.observer.waits?.(null)
    guard.release()
  }
}
