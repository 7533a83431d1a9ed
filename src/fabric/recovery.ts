import { isPaid, type CapabilityRows, type Registry } from '../governance/capability.js'
import type { Gov } from '../governance/context.js'
import type { RecoveryRule } from '../governance/interrupted.js'
import type { Carrier } from '../governance/carrier.js'
import { recoverInterrupted, type RecoveryReport } from '../contact/recovery.js'
import type { Store } from '../state/types.js'
import { capabilities } from './capabilities.js'

/** How the interrupted tasks of each capability end, in one store. */
export const recoveryRules = (
  store: Store, registry: Registry = capabilities,
): Promise<readonly RecoveryRule[]> =>
  Promise.all(registry.filter(({ taskKinds }) => taskKinds.length > 0).map(async (one) => ({
    ...(await one.recovery?.())?.rule?.(store), kinds: one.taskKinds, unpaid: !isPaid(one),
  })))

/** What each capability keeps of a state that an old copy replaces. */
export const carryRules = async (
  registry: Registry = capabilities,
): Promise<readonly NonNullable<CapabilityRows['carry']>[]> =>
  (await Promise.all(registry.map(async (one) => (await one.rows()).carry)))
    .filter((carry) => carry !== undefined)

/** The gates that each capability had closed in a state that is replaced, by its name. */
export const gateRules = async (
  registry: Registry = capabilities,
): Promise<Readonly<Record<string, Carrier>>> =>
  Object.fromEntries((await Promise.all(registry.map(async (one) => {
    const { narrowed } = await one.rows()
    return narrowed === undefined ? [] : [[one.name, narrowed] as const]
  }))).flat())

/**
 * Resolves what dead processes left, with every capability's own rule. Faces call it once when
 * they open the state for a mutating verb, before anything else.
 */
export const recoverState = async (
  gov: Gov, registry: Registry = capabilities,
): Promise<RecoveryReport> => {
  const report = await recoverInterrupted(gov, await recoveryRules(gov.store, registry))
  await settleAllRows(gov, registry)
  for (const one of registry) await (await one.recovery?.())?.sweep?.(gov)
  return report
}

/** One after the other, after the money: what became of an effect follows its charge. */
export const settleAllRows = async (gov: Gov, registry: Registry): Promise<void> => {
  for (const one of registry) await (await one.recovery?.())?.settleRows?.(gov)
}
