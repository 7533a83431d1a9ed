/** Where a shell finds the ids that it completes: the lists that show them, asked as it is used. */
import { globalFlags } from '../globals.js'
import type { DescribedVerb } from '../tree.js'
import { camelCase, type IdName } from '../verb.js'

/** How ids of a kind begin, and the words of the list whose first column they are. */
const kinds: Readonly<Record<IdName, readonly [begins: string, list: string]>> = {
  task: ['task_', 'task list'],
  operation: ['op_', 'ledger reservations'],
  goal: ['goal_', 'goal list'],
  session: ['root_', 'session list'],
  connection: ['cnn_', 'codehost connections'],
  audit: ['aud_', 'audit list'],
  observation: ['obs_', 'shots list'],
  'observation or path': ['obs_', 'shots list'],
  digest: ['epi_', 'shots list --digests'],
  device: ['edge_dev_', 'edge list'],
  capture: ['edge_art_', 'edge artifacts'],
  job: ['job_', 'codehost jobs'],
  'job or folder': ['job_', 'codehost jobs'],
  closure: ['cls_', 'codehost recover closures'],
}

/** Stands for the list that what was typed so far says by how it begins. */
export const listByBeginning = 'any'

/** The list of a word that begins with none of the others: what people ask about most. */
export const listOfAll = kinds.task[1]

/** The others, by how their ids begin; none of a device or capture begins as another's. */
export const listsByBeginning: readonly (readonly [begins: string, list: string])[] =
  [...new Map(Object.values(kinds))].filter(([, list]) => list !== listOfAll)

/** The list of what an argument or a flag (`--goal`) takes; null where that is no id. */
export const listFor = ({ meta }: DescribedVerb, taker: string): string | null => {
  const field = camelCase(taker.replace(/^--/, ''))
  if (meta.name === 'explain' && field === 'id') return listByBeginning
  const kind = meta.ids?.[field]
  return kind === undefined ? null : typeof kind === 'string' ? kinds[kind][1] : listByBeginning
}

/** Whether an id may be given, or a folder or file in its place. */
export const mayBePath = ({ meta }: DescribedVerb, taker: string): boolean =>
  String(meta.ids?.[camelCase(taker)]).endsWith(' or path')
  || String(meta.ids?.[camelCase(taker)]).endsWith(' or folder')

/** Flags that say which state is meant: a list that is asked for ids has them, too. */
export const placeFlags: readonly string[] =
  globalFlags.map(({ long }) => long).filter((long) => /^--(at|state-dir|config-dir)$/.test(long))

/** What asks for a list, before its words: nobody is asked anything, and nothing is waited for. */
export const asking = '--no-input --wait 0'

/** What tells an id from other lines, for grep. */
export const idForm = '^[a-z_]*_[0-9a-f]{8}-'
