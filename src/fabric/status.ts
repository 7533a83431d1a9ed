/**
 * One look at everything, without a lock, a socket or a changed byte; a session is only looked at.
 * What a dead process left is told as it will be recorded.
 */
import { openJobCount } from '../codehost/jobs/list.js'
import type { Registry, StatusLine } from '../governance/capability.js'
import type { Gov, Session } from '../governance/context.js'
import { balances, overrunReviews, unknownCharges } from '../governance/ledger/find-reservation.js'
import { policyStatus } from '../governance/policy/policy-status.js'
import { deploymentProfile } from '../governance/profile.js'
import { collections, tasksByState } from '../governance/rows.js'
import { runningService } from '../governance/service/running.js'
import type { Looking, LookingWorld } from '../governance/waiting.js'
import { dayOf } from '../shots/day.js'
import { lastRuns } from '../shots/last-runs.js'
import { walkIndex } from '../state/indexes.js'
import { isPlaced } from '../state/place/is-placed.js'
import type { Store, View } from '../state/types.js'
import { capabilities } from './capabilities.js'
import { interruptedCount, seenNow, type Seen } from './seen.js'
import type { StateStatus } from './status-contract.js'
import { waitingOf } from './waiting.js'

const statusLines = async (
  looking: Looking, registry: Registry,
): Promise<Record<string, StatusLine>> => {
  const lines: Record<string, StatusLine> = {}
  for (const { name, status } of registry) {
    if (status !== undefined) lines[name] = (await status())(looking)
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

/** Loaded for a state that several machines share, and for no other. */
const sharedBlock = async (store: Store): Promise<Pick<StateStatus, 'shared'>> => {
  if (!isPlaced(store)) return {}
  const { sharedFacts } = await import('./machines/status-facts.js')
  return { shared: sharedFacts(store) }
}

/** Who looks, and over which capabilities. */
interface Looker {
  /** Name of the state, see `nameInForce`; null where it has none. */
  readonly at: string | null
  readonly world: LookingWorld
  /** Null: nobody is logged in, so that nothing of one owner alone is told. */
  readonly session: Session | null
  readonly registry?: Registry
}

const lookingAt = ({ gov }: Seen, { world, session }: Omit<Looker, 'at'>): Looking =>
  ({ gov, view: gov.store.read(), world, session })

/** The line of each capability alone, by its name. */
export const readStatusLines = async (
  opened: Gov, looker: Omit<Looker, 'at'>,
): Promise<Readonly<Record<string, StatusLine>>> => {
  const { registry = capabilities } = looker
  return statusLines(lookingAt(await seenNow(opened, registry), looker), registry)
}

export const readStatus = async (opened: Gov, looker: Looker): Promise<StateStatus> => {
  const { registry = capabilities, at, session } = looker
  const seen = await seenNow(opened, registry)
  const looking = lookingAt(seen, looker)
  const { gov, view } = looking
  const { head, usable, block } = policyStatus(gov.store, view)
  const hasLedger = view.all(collections.ledgerAccounts).length === 1
  return {
    at,
    state_dir: gov.store.dir,
    store_id: gov.store.storeId,
    ...await sharedBlock(gov.store),
    profile: deploymentProfile(gov.store).name,
    policy: { revision: head.revision, state: head.state, usable, block },
    lines: await statusLines(looking, registry),
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
    day: dayOf(view, gov.clock.wallMs()),
    waiting_for: session?.principal.name ?? null,
    waiting: await waitingOf(looking, registry),
  }
}
