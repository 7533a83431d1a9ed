import { SallyportError } from '../../../src/base/errors.js'
import { bootstrapLedger } from '../../../src/governance/ledger/account.js'
import {
  markContacted, reserve, type ReserveRequest, type Settlement,
} from '../../../src/governance/ledger/steps.js'
import type { Binding } from '../../../src/governance/ledger/post.js'
import type { Session } from '../../../src/governance/context.js'
import { collections } from '../../../src/governance/rows.js'
import { Memory } from './memory.js'

export const now = '2026-11-20T10:00:00.000Z'
export const runtime = 'alpha_text_native'
export const profile = 'alpha.text'

/** What a step names. */
export const binding = (operationId = 'op_1'): Binding & Pick<Settlement, 'sources'> => ({
  operationId, runtime, profile, sources: { provider_billing_costs: { usage: false } },
})

export const evidence = { source: 'provider_billing_costs', billing_uuid: 'u' }

/** A reservation request with a bound of 100 micro-USD unless told otherwise. */
export const request = (change: Partial<ReserveRequest> = {}): ReserveRequest => ({
  ...binding(), taskId: 'task_1', principal: 'prn_1', bound: 100, ...change,
})

/** Empty accounting, or a ledger with this ceiling; its owner has a row, or would be gone. */
export const ledgerOf = (ceiling?: number): Memory => {
  const memory = new Memory()
  memory.transact((tx) => tx.put(collections.principals, 'prn_1', sessionOf('prn_1').principal))
  if (ceiling !== undefined) memory.transact((tx) => bootstrapLedger(tx, now, ceiling))
  return memory
}

/** A ledger of 1000 with one contacted reservation of 100, operation `op_1`. */
export const contacted = (): Memory => {
  const memory = ledgerOf(1000)
  memory.transact((tx) => reserve(tx, now, request()))
  memory.transact((tx) => markContacted(tx, now, binding()))
  return memory
}

/** An authenticated owner. */
export const sessionOf = (principalId: string): Session => ({
  principal: {
    principal_id: principalId, name: principalId, passphrase: null, created_at: now,
    disabled_at: null,
  },
  root: {
    root_id: `root_${principalId}`, principal_id: principalId, token_digest: '0'.repeat(64),
    issued_at: now, idle_ms: 1000, expires_at: now, ended: null,
  },
})

/** Code of the failure that `run` throws; `none` when it does not. Defects pass through. */
export const codeOf = (run: () => unknown): string => {
  try {
    run()
    return 'none'
  } catch (error) {
    if (error instanceof SallyportError) return `${error.kind}/${error.code}`
    throw error
  }
}
