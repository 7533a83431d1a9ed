/**
 * One look at everything, without a session, a lock, a socket or a changed byte. What a dead
 * process left is told as it will be recorded.
 */
import { openJobCount } from '../codehost/jobs/list.js'
import type { Registry, StatusLine } from '../governance/capability.js'
import type { Gov } from '../governance/context.js'
import { balances, overrunReviews, unknownCharges } from '../governance/ledger/read.js'
import { policyStanding } from '../governance/policy/standing.js'
import { deploymentProfile } from '../governance/profile.js'
import { collections, tasksByState } from '../governance/rows.js'
import { runningService } from '../governance/service/running.js'
import { lastRuns } from '../shots/last-runs.js'
import { walkIndex } from '../state/indexes.js'
import type { View } from '../state/types.js'
import { capabilities } from './capabilities.js'
import { interruptedCount, seenNow } from './seen.js'
import type { StateStatus } from './status-contract.js'

const statusLines = async (
  gov: Gov, view: View, registry: Registry,
): Promise<Record<string, StatusLine>> => {
  const lines: Record<string, StatusLine> = {}
  for (const { name, status } of registry) {
    if (status !== undefined) lines[name] = (await status())(gov, view)
  }
  return lines
}

const ledgerOf = (view: View): StateStatus['ledger'] => {
  const { ceiling_microusd, settled_microusd, held_microusd, unknown_microusd, available_microusd }
    = balances(view)
  return { ceiling_microusd, settled_microusd, held_microusd, unknown_microusd, available_microusd }
}

const openTasks = (view: View): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { key: [state = ''] } of walkIndex(view, collections.openTasks, tasksByState)) {
    counts[state] = (counts[state] ?? 0) + 1
  }
  return counts
}

/** Reads the status; `at` is the name of the state, see `nameInForce`. */
export const readStatus = async (
  opened: Gov, at: string | null, registry: Registry = capabilities,
): Promise<StateStatus> => {
  const seen = await seenNow(opened, registry)
  const { gov } = seen
  const view = gov.store.read()
  const { head, usable, block } = policyStanding(gov.store, view)
  const hasLedger = view.all(collections.ledgerAccounts).length === 1
  return {
    at,
    state_dir: gov.store.dir,
    store_id: gov.store.storeId,
    profile: deploymentProfile(gov.store).name,
    policy: { revision: head.revision, state: head.state, usable, block },
    lines: await statusLines(gov, view, registry),
    ledger: hasLedger ? ledgerOf(view) : null,
    last_runs: { ...lastRuns(gov.store, view) },
    attention: {
      unknown_charges: unknownCharges(view),
      overrun_reviews: overrunReviews(view),
      unknown_effects: openJobCount(view, 'unknown_external_effect'),
      interrupted: interruptedCount(seen),
    },
    tasks: openTasks(view),
    service: runningService(gov.store.dir),
  }
}
