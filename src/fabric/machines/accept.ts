/**
 * Going on at a server that another one took over from, and what it means where a machine is gone.
 */
import { settleRestored } from '../../contact/recovery.js'
import { appendAudit } from '../../governance/audit.js'
import type { Registry } from '../../governance/capability.js'
import { nowIso, type Gov } from '../../governance/context.js'
import { requireRootRow } from '../../governance/session/live.js'
import type { Session } from '../../governance/session/types.js'
import { askedThrough, newStop } from '../../governance/stops/act.js'
import { acceptServer, type Accepted } from '../../state/place/sharing.js'
import { capabilities } from '../capabilities.js'
import { carryRules, gateRules, recoveryRules } from '../recovery.js'
import { sharedOf } from './shared.js'

const verb = 'state accept-server'

/**
 * What the machine that is gone alone knew is lost, and may have been a request that was paid for:
 * so it is as if the state had been put back from a copy (revoked, sessions ended, the whole
 * ceiling held until a person has seen the bill).
 */
const settleLost = (gov: Gov, session: Session, registry: Registry): Promise<unknown> =>
  rulesOf(gov, registry).then((rules) => settleRestored(gov, {
    ...rules, formers: [], restorer: session.principal.name,
  }))

const rulesOf = async (gov: Gov, registry: Registry) => ({
  rules: await recoveryRules(gov.store, registry),
  carries: await carryRules(registry),
  gates: await gateRules(registry),
})

const record = (gov: Gov, session: Session, gaveBack: number, without: string): Promise<void> =>
  gov.store.transact(verb, (tx) => {
    const now = nowIso(gov)
    requireRootRow(tx, now, session.root.root_id)
    tx.mark()
    appendAudit(tx, now, {
      what: 'state.server_accepted', principal: session.principal.principal_id,
      root: session.root.root_id, subject: null, facts: { gave_back: gaveBack, without },
    })
  })

/**
 * Accepts the server as it stands. Null: it is known, and lacks nothing. Throws `rejected`
 * `not_shared`, and as `acceptServer`.
 */
export const acceptMachineServer = async (
  gov: Gov, session: Session, without: string | null, registry: Registry = capabilities,
): Promise<Accepted | null> => {
  const store = sharedOf(gov.store)
  const accepted = await acceptServer(store, without, {
    // In force here before anything is accepted, and everywhere with the first look behind that.
    stop: () => store.stops.put(
      newStop(gov.clock, { kind: 'all', target: null }, askedThrough(verb, session))),
    settle: async (gaveBack) => {
      await record(gov, session, gaveBack, without ?? '')
      await settleLost(gov, session, registry)
    },
  })
  if (accepted?.without.length === 0) await record(gov, session, accepted.gave_back, '')
  return accepted
}
