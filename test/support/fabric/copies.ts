/** Asks by numbered keys, and copies of a world that are damaged apart from it. */
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { balances } from '../../../src/governance/ledger/find-reservation.js'
import { collections } from '../../../src/governance/rows.js'
import { openStore } from '../../../src/state/store.js'
import type { View } from '../../../src/state/types.js'
import type { Ran } from '../../world/place.js'
import type { AlphaWorld } from '../../world/world.js'

/** The idempotency key of a number from 0 to 9. */
export const keyOf = (n: number): string => `0b0e6a3c-7f0e-4a1e-9d3a-7a7c2f2f4a1${n}`

/** Asks under a key. */
export const ask = (rig: AlphaWorld, key: string, env = {}): Promise<Ran> =>
  rig.ask({ args: ['--idempotency-key', key], env })

/** A copy of the world's state and keys, and the environment that names it. */
export const copied = (rig: Pick<AlphaWorld, 'place'>, name: string) => {
  const base = rig.place.path(name)
  mkdirSync(base)
  cpSync(rig.place.stateDir, join(base, 'state'), { recursive: true })
  cpSync(rig.place.configDir, join(base, 'config'), { recursive: true })
  const place = { dir: join(base, 'state'), configDir: join(base, 'config') }
  return {
    place,
    env: { SALLYPORT_STATE_DIR: place.dir, SALLYPORT_CONFIG_DIR: place.configDir },
    view: (): View => openStore({ ...place, mode: 'read' }).read(),
  }
}

/** Micro-USD that a view still has to spend; 0 where it has no ledger. */
export const availableIn = (view: View): number =>
  view.all(collections.ledgerAccounts).length === 0 ? 0 : balances(view).available_microusd
