/** Retiring a machine of a shared state: nothing of it is taken any more, its leases run out. */
import { fail } from '../../base/errors.js'
import {
  appendAudit, joinedMachines, machineRetiredRow, retiredMachines,
} from '../../governance/audit.js'
import { nowIso, type Gov, type Session } from '../../governance/context.js'
import { handOver, isHandedOver } from '../../governance/machine-bound.js'
import { requireRootRow } from '../../governance/session/live.js'
import { firstMachine } from '../../state/first-machine.js'
import { requireNotBehind } from '../../state/place/behind.js'
import { machineIsThisOne } from '../../state/place/errors.js'
import type { LeftUnderWay, MachineRow } from '../../state/place/place.js'
import type { View } from '../../state/types.js'
import { listMachines, sharedOf } from './shared.js'

/** A machine that is to be retired, and the one that asks. */
interface Retiring {
  readonly row: MachineRow
  readonly here: string
}

/**
 * The machine of that name: the one that is not retired, else the last one that was. Throws
 * `not_found` `machine_not_found`, `rejected` `machine_is_this_one` and `not_shared`.
 */
export const machineToRetire = async (gov: Gov, name: string): Promise<Retiring> => {
  const { rows, here } = await listMachines(gov.store)
  const named = rows.filter((row) => row.name === name)
  const row = named.find(({ retired }) => retired === null) ?? named.at(-1)
  if (row === undefined) {
    throw fail.notFound('machine_not_found', 'No machine of this state has that name.', {
      next: 'See their names: `sallyport machine list`.',
    })
  }
  if (row.machine !== here) return { row, here }
  throw machineIsThisOne()
}

/**
 * What rows call a machine. The one that shared the state has not joined; who was cut off before it
 * could say that it had came later.
 */
const nameOf = async (gov: Gov, { machine }: MachineRow): Promise<string> => {
  const joined = new Set(joinedMachines(await gov.store.fresh()))
  const { rows } = await listMachines(gov.store)
  const founder = rows.find((row) => !joined.has(row.machine))
  return founder?.machine === machine ? firstMachine : machine
}

/**
 * Whether rows say that a machine was retired, and who has what rested on it: of a state that was
 * shared again the one alone says nothing, and where a server was accepted the other one does not.
 */
const isRecorded = (view: View, { machine }: MachineRow, from: string): boolean =>
  retiredMachines(view).includes(machine) && isHandedOver(view, from)

/**
 * Retires it, then records who did: in force as soon as the place has answered. What rested on its
 * folders is this machine's from then on, and is told as missing where it is. One that was retired
 * before stays as it is, and nothing is recorded but what was cut off then: until it is, nobody has
 * what rested on its folders. What it may still be sending, and what waits for that, is told.
 */
export const retireMachine = async (
  gov: Gov, session: Session, { row, here }: Retiring,
): Promise<Retiring & { readonly retired: boolean; readonly left: LeftUnderWay }> => {
  const { place, stops, replica } = sharedOf(gov.store)
  const from = await nameOf(gov, row)
  if (row.retired !== null && isRecorded(await gov.store.fresh(), row, from)) {
    return { row, here, retired: false, left: await place.retire(row.machine) }
  }
  // Asked before, too: what is retired stays so, whether or not it comes to be recorded.
  requireRootRow(await gov.store.fresh(), nowIso(gov), session.root.root_id)
  // Nothing could be recorded, and who is retired gives nothing back.
  requireNotBehind(stops, replica.end.sequence)
  const left = await place.retire(row.machine)
  await gov.store.transact('machine retire', (tx) => {
    const now = nowIso(gov)
    requireRootRow(tx, now, session.root.root_id)
    tx.mark()
    appendAudit(tx, now, {
      what: machineRetiredRow,
      principal: session.principal.principal_id,
      root: session.root.root_id,
      subject: row.machine,
      facts: { name: row.name },
    })
    handOver(gov.store, tx, from)
  })
  const { rows } = await listMachines(gov.store)
  const now = rows.find(({ machine }) => machine === row.machine) ?? row
  return { row: now, here, retired: true, left }
}
