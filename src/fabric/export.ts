/**
 * Every live document of one owner, of one moment, in the order of the keyspace. What an owner may
 * not read by a command is not given out, and of a secret no more than that it is there.
 */
import { routeCollection } from '../contact/routes.js'
import type { CapabilityRows, Registry } from '../governance/capability.js'
import type { Gov, Session } from '../governance/context.js'
import { connectionCollection } from '../governance/connections/connection-rows.js'
import {
  exportedOfGovernance, isOwnDecision, isOwnOperation, nobodys, own, type Exported, type Taker,
} from '../governance/exported.js'
import { machineBoundCollection } from '../governance/machine-bound.js'
import { formatVersion } from '../state/paths.js'
import { capabilities } from './capabilities.js'
import type { ExportLine } from './export-contract.js'

/** What no capability answers for alone. */
const exportedOfAll: readonly Exported[] = [
  ...exportedOfGovernance,
  own(connectionCollection, (doc, { owner }) => doc.owner === owner),
  nobodys(machineBoundCollection),
  own(routeCollection, (doc, taker) => isOwnOperation(taker, doc.operation_id)
    || (doc.decision_id !== null && isOwnDecision(taker, doc.decision_id))),
]

const rowsOf = (registry: Registry): Promise<readonly CapabilityRows[]> =>
  Promise.all(registry.map((one) => one.rows()))

/** What is given out of each collection, in the order of their names. */
export const exportedBy = async (registry: Registry = capabilities): Promise<readonly Exported[]> =>
  [...exportedOfAll, ...(await rowsOf(registry)).flatMap(({ exported }) => exported ?? [])]
    .sort((a, b) => (a.collection < b.collection ? -1 : 1))

/**
 * The documents of whoever is logged in: a line that says what follows, a line each, and one that
 * says how many there were. Throws `damaged` where one cannot be read.
 */
export async function* exportOwn(
  gov: Gov, session: Session, registry: Registry = capabilities,
): AsyncGenerator<ExportLine, void, undefined> {
  const view = gov.store.read()
  const owner = session.principal.principal_id
  const operations = new Set((await rowsOf(registry))
    .flatMap(({ operationsOf }) => [...operationsOf?.(view, owner) ?? []]))
  const taker: Taker = { view, owner, operations }
  yield {
    line: 'begin', store_id: gov.store.storeId, owner, sequence: view.sequence,
    format_version: formatVersion,
  }
  let documents = 0
  for (const exported of await exportedBy(registry)) {
    for (const { collection, id, document } of exported.documents(taker)) {
      documents += 1
      yield { line: 'document', collection, id, document: { ...document } }
    }
  }
  yield { line: 'end', documents }
}
