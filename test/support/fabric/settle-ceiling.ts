/** What a person does who has seen the bill: a restore holds the whole ceiling until then. */
import type { Ran } from '../../world/place.js'
import { must } from '../must.js'

/** Settles at nothing whatever stands for the ceiling; other charges stay as they are. */
export const settleCeiling = async (
  world: { run(words: readonly string[]): Promise<Ran> },
): Promise<void> => {
  const open = must(await world.run(['ledger', 'reservations', '--json'])).json()
  for (const { operation_id: id, runtime } of open) {
    if (runtime !== 'unread') continue
    must(await world.run(['ledger', 'settle', id, '--amount-microusd', '0', '--yes']))
  }
}
