/**
 * A capability of nothing: one GET, no money. What it exports here is all that it takes to be
 * recovered, checked and shown; no line of fabric or governance knows it.
 */
import * as v from 'valibot'
import { capabilities } from '../../../src/fabric/capabilities.js'
import { findTask } from '../../../src/governance/board/place.js'
import type {
  Capability, CapabilityRecovery, Registry,
} from '../../../src/governance/capability.js'
import type { View } from '../../../src/state/types.js'
import { nothingCollection, nothingRows } from './rows.js'

export const nothingKind = 'nothing.look.v1'
export const nothingRuntime = 'nothing_native'
export const nothingProfile = 'nothing'
export const nothingProvider = 'loopback'
export const nothingLabel = 'svc.nothing.input.v1'
export const nothingMsMax = 20_000

/** Never left: by its own end, or because it was cancelled before its process could tell. */
const unsent = (view: View) => view.all(nothingCollection).filter(({ id, doc }) =>
  doc.state === 'unsent' || (doc.state === 'open' && findTask(view, id)?.state === 'cancelled'))

/** What a look leaves whose process died: either nothing left, or nobody knows. */
const recovery: CapabilityRecovery = {
  rule: () => ({
    ending: ({ contacted }) => contacted
      ? { state: 'blocked', blocked: { kind: 'effect_unknown', reason: 'nothing_maybe_seen' } }
      : { state: 'failed', reason: 'nothing_never_left' },
    keep: (tx, _now, { task_id, state }) => {
      const end = { state: state === 'blocked' ? 'lost' : 'unsent', status: null } as const
      tx.put(nothingCollection, task_id, { task_id, ...end })
    },
  }),
  settleRows: async ({ store }) => {
    if (unsent(store.read()).length === 0) return
    await store.transact('nothing recovery', (tx) => {
      for (const { id } of unsent(tx)) tx.remove(nothingCollection, id)
    })
  },
}

export const nothing: Capability = {
  name: 'nothing',
  taskKinds: [nothingKind],
  runtimes: [nothingRuntime],
  sources: {},
  artifactLabels: [nothingLabel],
  receipt: v.strictObject({ schema: v.literal('svc.nothing.receipt.v1'), status: v.number() }),
  operationMsMax: nothingMsMax,
  rows: async () => nothingRows,
  recovery: async () => recovery,
  status: async () => ({ view }) => ({
    status: 'configured',
    reason_code: view.all(nothingCollection).some(({ doc }) => doc.state === 'lost')
      ? 'nothing_lost' : null,
  }),
}

/** The one place where it is registered. */
export const registry: Registry = [...capabilities, nothing]
