/** `sallyport machine`: which machines share a state, and ending what one of them may do. */
import { machineList, machineRetire } from '../../../fabric/machines/machines-contract.js'
import { renderTable } from '../../table.js'
import { verb } from '../../verb.js'
import { workFor } from '../../work.js'

export const list = verb(machineList, {
  summary: 'the machines of a shared state',
  description:
    'Shows each machine that has joined, and which one this is. It tells when each was last heard, '
    + 'and the last record it was known to have, by the clock of the place. It asks the place, '
    + 'brings this replica up to it, and needs no session. A state in a directory of this machine '
    + 'alone is refused.',
  examples: ['$ sallyport machine list', '$ sallyport machine list --json'],
  session: 'none',
  anchor: 'any',
  exits: ['rejected', 'no_state', 'damaged', 'locked', 'conflict', 'blocked'],
  text: (rows, view) => renderTable(
    view, ['machine', '', 'record', 'joined', 'seen', 'retired'],
    rows.map((row) => [
      view.foreign(row.name), row.here ? 'here' : '', String(row.record),
      view.time(row.joined_at), view.time(row.seen_at),
      row.retired_at === null ? 'no' : view.time(row.retired_at),
    ])),
  run: async (_request, deps) => {
    const { listMachines, sharedOf } = await import('../../../fabric/machines/shared.js')
    const store = sharedOf(await deps.openStore('write'))
    await store.fresh()
    await store.noteSeen()
    return listMachines(store)
  },
})

/** Retires one. Throws `rejected` `machine_is_this_one`, `not_found` `machine_not_found`. */
export const retire = verb(machineRetire, {
  summary: 'end what a machine may do in a shared state',
  description:
    'From then on the place takes nothing of that machine. What it has under way is told: others '
    + 'are kept from it, and a revoke names it, for at most two and a half minutes. It still has '
    + 'what it had read, and the key of the state: have its role at the server dropped, too. A '
    + 'machine does not retire itself. Its name is free then: the same machine comes back by '
    + 'another invitation alone. The same line again changes nothing.',
  examples: ['$ sallyport machine retire laptop', '$ sallyport machine retire laptop --yes'],
  decides: true,
  exits: ['rejected', 'conflict', 'not_found', 'locked', 'blocked', 'cancelled'],
  flags: (command) => command
    .argument('<name>', 'name of the machine')
    .option('--yes', 'do not ask'),
  text: ({ machine, retired, under_way: left, under_way_until: until }, view) => (retired
    ? `Retired ${view.foreign(machine.name)}. Have its role at the server dropped.\n`
    : `${view.foreign(machine.name)} was retired before; nothing was changed.\n`)
    + (until === null ? '' : `It may still be sending${left.map((id) => ` ${id}`).join()}; `
      + `what it has is free at ${view.time(until)}.\n`),
  run: async ({ name }, deps, line: { readonly yes?: boolean }) => {
    const { gov, session } = await workFor(deps, 'mutate')
    const { machineToRetire, retireMachine } = await import('../../../fabric/machines/retire.js')
    const found = await machineToRetire(gov, name)
    if (line.yes !== true && found.row.retired === null) {
      await deps.confirm('Retire this machine for good?', '--yes')
    }
    return retireMachine(gov, session, found)
  },
})
