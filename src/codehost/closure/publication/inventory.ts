/**
 * The whole original inventory of a publication, out of plan, ledger and row as they agree on it:
 * its local work, and the POSTs from the first on that may have left. Pure (C-200, C-204, C-240).
 */
import { codehostActions } from '../../constants.js'
import { effectLedger, type LedgerEffect, type LedgerProducer } from '../../jobs/effects.js'
import type { EffectEntry } from '../../jobs/histories.js'
import type { Job } from '../../jobs/job-rows.js'
import type { ClosureBlocker } from '../blockers.js'
import { isRecord } from '../inventory.js'

/** The line that says that local work may have been started. */
export type SpawnEntry = Extract<EffectEntry, { type: 'spawn' }>

/** What of a publication may have happened. */
export interface PublicationInventory {
  readonly spawn: SpawnEntry
  readonly producer: LedgerProducer
  /** Every POST that may have left, in the order of the plan, from the first on. */
  readonly contacted: readonly LedgerEffect[]
}

/** What a plan says of its POSTs, as it lies there. */
interface PlannedPosts {
  readonly actions: readonly unknown[]
  readonly bodies: readonly unknown[]
}

/** The POSTs of a plan, whatever it is; null where it lists none. */
const plannedPostsOf = (plan: unknown): PlannedPosts | null => {
  const posts = isRecord(plan) ? plan['posts'] : null
  if (!Array.isArray(posts)) return null
  const of = (name: string): readonly unknown[] =>
    posts.map((one: unknown) => (isRecord(one) ? one[name] : undefined))
  return { actions: of('action'), bodies: of('body_sha256') }
}

const isKnown = (action: unknown): boolean =>
  (codehostActions as readonly unknown[]).includes(action)

/** A line about what the plan does not have, or about other bytes than it has. */
const isForeign = (
  entry: EffectEntry, { bodies }: PlannedPosts, producerId: string | undefined,
): boolean => {
  if (entry.type === 'contacted') return bodies[entry.effect - 1] !== entry.body_sha256
  if (entry.type === 'outcome') return entry.effect > bodies.length
  return (entry.type === 'spawn' || entry.type === 'produced') && entry.producer_id !== producerId
}

/** Each POST rests on the ones before it: those that may have left are the first ones. */
const firstOnes = (effects: readonly LedgerEffect[], contacted: number): boolean =>
  effects.every(({ standing }, at) => (standing !== 'planned') === at < contacted)
    && effects.slice(0, Math.max(0, contacted - 1)).every(({ standing }) => standing === 'created')

export const publicationInventory = (
  job: Pick<Job, 'contacted' | 'created' | 'plan'>, plan: unknown, entries: readonly EffectEntry[],
): PublicationInventory | { readonly blocked: ClosureBlocker } => {
  const posts = plannedPostsOf(plan)
  if (posts === null) return { blocked: 'inventory_incomplete' }
  if (!posts.actions.every(isKnown)) return { blocked: 'effect_kind_unknown' }
  const spawns = entries.filter((entry) => entry.type === 'spawn')
  const [spawn, ...more] = spawns
  const isOther = (entry: EffectEntry): boolean => isForeign(entry, posts, spawn?.producer_id)
  if (more.length > 0 || entries.some(isOther)) return { blocked: 'unidentified_intent' }
  const ledger = effectLedger(entries)
  const { producer, effects } = ledger
  const contacted = effects.filter(({ standing }) => standing !== 'planned')
  const agrees = ledger.plan?.effects === posts.actions.length
    && job.plan.effects === posts.actions.length && ledger.plan.sha256 === job.plan.sha256
    && ledger.contacted === job.contacted && ledger.created === job.created
    && firstOnes(effects, ledger.contacted)
    // A mark without an outcome: nobody has looked yet at what became of it.
    && contacted.every(({ standing }) => standing !== 'contacted')
  if (spawn === undefined || producer === null || !agrees) {
    return { blocked: 'inventory_incomplete' }
  }
  const isMade = contacted.length === 0 || producer.standing === 'complete'
  return isMade ? { spawn, producer, contacted } : { blocked: 'inventory_incomplete' }
}
