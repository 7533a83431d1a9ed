/** Making the state directory of a machine that is part of a shared state. */
import { fail } from '../../base/errors.js'
import { appendAudit, machineJoinedRow } from '../../governance/audit.js'
import { nowIso } from '../../governance/context.js'
import { followWitness } from '../../governance/policy/witness.js'
import { isStateAt } from '../../state/paths.js'
import type { Invitation } from '../../state/place/invitation.js'
import type { PlacedStore } from '../../state/place/placed-store.js'
import { joinShared, type JoinOptions } from '../../state/place/share.js'
import { requireKnownFormat } from '../../state/state-file.js'
import type { SharedHere } from './machines-contract.js'
import { factsOf } from './shared-here.js'

/** Throws `conflict` `state_exists` where a state is at a directory, before anything is asked. */
export const requireNoState = (dir: string): void => {
  if (!isStateAt(dir)) return
  throw fail.conflict('state_exists', 'There is a state directory here already.', {
    next: 'Use it, or name another one with --state-dir.',
  })
}

/** Nobody is signed in there: it is the invitation that lets it in. */
const recordJoined = (store: PlacedStore): Promise<void> =>
  store.transact('machine join', (tx) => {
    const { machine, machineName: name } = store.settings
    appendAudit(tx, nowIso(store), {
      what: machineJoinedRow, principal: null, root: null, subject: machine, facts: { name },
    })
  })

/** Joins by an opened invitation. Throws as `Place` does, and where the place was rolled back. */
export const joinMachine = async (
  options: Omit<JoinOptions, 'joining' | 'reaching'>, invitation: Invitation,
): Promise<SharedHere> => {
  requireKnownFormat(invitation.format_version)
  const { address, ca, password, machine, machine_name: machineName, position, run } = invitation
  const store = await joinShared({
    ...options, onFollowed: followWitness,
    joining: {
      storeId: invitation.store_id, key: Buffer.from(invitation.key, 'hex'),
      createdAt: invitation.created_at, profile: invitation.profile,
      at: { sequence: position.sequence, link: Buffer.from(position.link, 'hex') },
      headStart: invitation.head_start ?? null,
      ...machine === undefined ? {} : { machine },
    },
    reaching: { address, ca, password, machineName, ...run === undefined ? {} : { run } },
  })
  try {
    await recordJoined(store)
    return factsOf(store)
  } finally {
    store.close()
  }
}
