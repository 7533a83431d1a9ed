/**
 * What the gateway key has spent, read before and after a pass: where `key_alone` is on, and in
 * passes that pay. Nothing rests on it but what a person is shown of an unknown charge.
 */
import { SallyportError } from '../base/errors.js'
import type { SlotUse } from '../gateway/readiness.js'
import { readUsage } from '../gateway/usage/read-key-usage.js'
import { isSpentSince } from '../gateway/usage/usage-rows.js'
import type { LanePriority } from '../state/holds/lane.js'
import type { View } from '../state/types.js'
import type { ShotsContext } from './context.js'
import { readsUsage, savedSettings } from './source/settings.js'

/** Whose calls a pass makes, and under which gates. */
interface Paying {
  readonly use: SlotUse
  readonly priority: LanePriority
  /** Every gate of a call; answers whoever consented to it, by id. Throws where one is closed. */
  requires(view: View): string
}

const readFor = async (
  ctx: ShotsContext, { use, priority, requires }: Paying,
): Promise<boolean> => {
  const view = ctx.gov.store.read()
  if (!readsUsage(savedSettings(view))) return false
  let principal: string
  try {
    principal = requires(view)
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    // The pass says it itself, for each of its images.
    return false
  }
  return readUsage(ctx.gateway, {
    ...use, priority, principal,
    requires: (now) => {
      requires(now)
    },
  })
}

/** Runs a pass between two readings; the second one only where something was spent. */
export const betweenReadings = async <T>(
  ctx: ShotsContext, paying: Paying, pass: () => Promise<T>,
): Promise<T> => {
  await readFor(ctx, paying)
  const answer = await pass()
  if (isSpentSince(ctx.gov.store.read())) await readFor(ctx, paying)
  return answer
}
