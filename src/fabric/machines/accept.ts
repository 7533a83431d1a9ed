/**
 * Going on at a server that another one took over from, and what it means where a machine is gone.
 */
import { settleRestored } from '../../contact/recovery.js'
import { goneRecords } from '../../state/care/former.js'
import { appendAudit, machineRetiredRow } from '../../governance/audit.js'
import type { Registry } from '../../governance/capability.js'
import { nowIso, type Gov } from '../../governance/context.js'
import { newStop } from '../../governance/stops/act.js'
import { acceptServer, type Accepted } from '../../state/place/accepting.js'
import { capabilities } from '../capabilities.js'
import { carryRules, gateRules, recoveryRules } from '../recovery.js'
import { requireOperator, type Operator } from './operator.js'
import { sharedOf } from './shared.js'

const verb = 'state accept-server'

/**
 * What the machines that are gone alone knew is lost, and may have been a request that was paid
 * for: so it is as if the state had been put back from a copy without its last records (revoked,
 * sessions ended, the whole ceiling held until a person has seen the bill).
 */
const settleLost = async (
  gov: Gov, { principal, root }: Operator, gone: readonly string[], registry: Registry,
): Promise<unknown> => settleRestored(gov, {
  ...await rulesOf(gov, registry),
  formers: gone.map((machine) => goneRecords(`machine-${machine}`)),
  restorer: principal.name,
  // A server that is put back once more may have lost that it was. Said sooner, anybody would
  // retire it by that, and who was cut off here would find nothing left to settle.
  also: (tx, now) => {
    const by = { principal: principal.principal_id, root }
    for (const subject of gone) appendAudit(tx, now, { what: machineRetiredRow, ...by, subject })
  },
})

const rulesOf = async (gov: Gov, registry: Registry) => ({
  rules: await recoveryRules(gov.store, registry),
  carries: await carryRules(registry),
  gates: await gateRules(registry),
})

/** What a server was accepted with. */
interface Done {
  readonly gaveBack: number
  readonly without: readonly string[]
}

const record = (gov: Gov, operator: Operator, { gaveBack, without }: Done): Promise<void> =>
  gov.store.transact(verb, (tx) => {
    const now = nowIso(gov)
    requireOperator(tx, now, operator)
    tx.mark()
    appendAudit(tx, now, {
      what: 'state.server_accepted', subject: null,
      principal: operator.principal.principal_id, root: operator.root,
      facts: { gave_back: gaveBack, without: without.join(', ') },
    })
  })

/**
 * Accepts the server as it stands. Null: it is known, and lacks nothing. Throws `rejected`
 * `not_shared`, and as `acceptServer`.
 */
export const acceptMachineServer = async (
  gov: Gov, operator: Operator, without: readonly string[], registry: Registry = capabilities,
): Promise<Accepted | null> => {
  const store = sharedOf(gov.store)
  const { principal: { principal_id: principal }, root } = operator
  const accepted = await acceptServer(store, without, {
    // In force here before anything is accepted, and everywhere with the first look behind that.
    stop: () => store.stops.put(
      newStop(gov.clock, { kind: 'all', target: null }, { principal, root, verb })),
    settle: async (gaveBack, gone) => {
      await record(gov, operator, { gaveBack, without })
      await settleLost(gov, operator, gone, registry)
    },
  })
  if (accepted?.without.length === 0) {
    await record(gov, operator, { gaveBack: accepted.gave_back, without: [] })
  }
  return accepted
}
