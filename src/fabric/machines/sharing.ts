/** Giving a state to a place, and taking it back; who did so is in the audit. */
import { fail } from '../../base/errors.js'
import { requireAnchored } from '../../governance/anchored.js'
import { appendAudit } from '../../governance/audit.js'
import { nowIso, type Gov, type Session } from '../../governance/context.js'
import { gatherBound } from '../../governance/machine-bound.js'
import { directoryOf } from '../../state/directory.js'
import type { FileStore } from '../../state/file-store.js'
import { parsePlaceAddress } from '../../state/place/address.js'
import type { Reaching } from '../../state/place/share.js'
import { isEnded, shareDirectory, unshareDirectory } from '../../state/place/sharing.js'
import type { Tx } from '../../state/types.js'
import { stateRules } from '../state-rules.js'
import type { SharedHere } from './machines-contract.js'
import { operatorOf, requireOperator, type Operator } from './operator.js'
import { factsOf } from './shared-here.js'
import { sharedOf } from './shared.js'

/** Recorded before it is done, so that whoever finds it half done knows who began it. */
const record = (
  gov: Gov, operator: Operator, { what, name, also }: {
    readonly what: string
    readonly name: string
    readonly also?: (tx: Tx) => void
  },
): Promise<void> =>
  gov.store.transact(what, (tx) => {
    const now = nowIso(gov)
    requireOperator(tx, now, operator)
    tx.mark()
    appendAudit(tx, now, {
      what, principal: operator.principal.principal_id, root: operator.root,
      subject: null, facts: { machine: name },
    })
    also?.(tx)
  })

/** Shares a directory. Throws `conflict` `shared_already`, and as `shareDirectory`. */
export const shareState = async (
  gov: Gov, session: Session, server: Reaching,
): Promise<SharedHere> => {
  if (gov.store.keptIn === 'place') {
    throw fail.conflict('shared_already', 'This state is at a server already.', {
      next: 'See where: `sallyport status`. `sallyport state unshare` takes it back first.',
    })
  }
  parsePlaceAddress(server.address, server.ca)
  const { state } = directoryOf(gov.store) as FileStore
  await record(gov, operatorOf(session), {
    what: 'state.shared', name: server.machineName,
    also: (tx) => gatherBound(tx, state.machine),
  })
  const store = await shareDirectory(gov.store, server)
  try {
    return factsOf(store)
  } finally {
    store.close()
  }
}

/** Whether this state was taken back before. */
export const isTakenBack = ({ store }: Gov): Promise<boolean> => isEnded(sharedOf(store))

/**
 * Takes a shared state back. Throws `rejected` `not_shared`, and as `unshareDirectory`. Where it
 * was cut off the server takes no record any more: it was recorded then.
 */
export const unshareState = async (gov: Gov, operator: Operator): Promise<SharedHere> => {
  const store = sharedOf(gov.store)
  if (!await isTakenBack(gov)) {
    requireAnchored(store)
    await record(gov, operator, { what: 'state.unshared', name: store.settings.machineName })
  }
  const before = factsOf(store)
  await unshareDirectory(store, (await stateRules()).referenced)
  return before
}
