/** What a destruction would take, and what it would leave. Changes no byte. */
import { openJobCount, unreadJobCount } from '../../codehost/jobs/list.js'
import type { Registry } from '../../governance/capability.js'
import type { Gov } from '../../governance/context.js'
import { ledgerStatus } from '../../governance/ledger/find-reservation.js'
import { collections } from '../../governance/rows.js'
import { keepFewBlocks } from '../../state/care/forget.js'
import { each } from '../../state/each.js'
import { nodeFiles, orIoFailure } from '../../state/files.js'
import { entriesBelow } from '../../state/own-entries.js'
import { keyPlaces } from '../../state/paths.js'
import type { CollectionSpec, View } from '../../state/types.js'
import { capabilities } from '../capabilities.js'
import { stateRules } from '../state-rules.js'
import type { OpenSum, StateDestroyDocument, Stays } from './destroy-contract.js'

const rowsIn = (view: View, spec: CollectionSpec<unknown>): number => {
  const rows = each(view, spec)
  let count = 0
  while (rows.next().done !== true) count += 1
  return count
}

/** What nobody knows the end of. */
export const openSum = (view: View): OpenSum => {
  const { ledger, open: { reserved, contacted, unknown } } = ledgerStatus(view)
  return {
    reserved, contacted, unknown,
    effects: openJobCount(view, 'unknown_external_effect') + unreadJobCount(view),
    microusd: ledger === null ? 0 : ledger.held_microusd + ledger.unknown_microusd,
  }
}

type Files = Pick<StateDestroyDocument, 'artifacts' | 'artifact_bytes' | 'files' | 'bytes'>

/** Our files below a directory, and the names of what is somebody else's. */
export const filesOf = (dir: string): Files & { readonly foreign: readonly string[] } =>
  orIoFailure('looking through the state', () => {
    const sums = { artifacts: 0, artifact_bytes: 0, files: 0, bytes: 0 }
    const foreign: string[] = []
    for (const { name, kind, bytes, isOwn } of entriesBelow(nodeFiles, dir)) {
      if (!isOwn) foreign.push(name)
      if (!isOwn || kind === 'dir') continue
      sums.files += 1
      sums.bytes += bytes
      if (!name.startsWith('artifacts/')) continue
      sums.artifacts += 1
      sums.artifact_bytes += bytes
    }
    return { ...sums, foreign }
  })

/** Where something lies that stays, at most so many of it. */
const whereMax = 20

/** What only a face can find: timers and the name of the state. */
export interface Around {
  readonly name: string | null
  /** Unit files or lines of a crontab; null where nobody can say. */
  readonly timers: readonly string[] | null
}

const always = (configDir: string, storeId: string): readonly Stays[] => {
  const { key, anchor } = keyPlaces(configDir, storeId)
  return [{
    what: 'key_and_anchor', where: [key, anchor], command: null,
    text: 'The key and the anchor stay: a backup that is restored holds the whole ceiling by '
      + 'them. Without the key no backup opens again.',
  }, {
    what: 'backups', where: [], command: null,
    text: 'Backups, exports and reports elsewhere keep what they hold.',
  }, {
    what: 'images', where: [], command: null,
    text: 'Screenshots are yours: they were only ever read.',
  }, {
    what: 'blocks', where: [], command: null,
    text: 'The disk may keep deleted blocks: revoke keys where you got them.',
  }]
}

const timersStay = (timers: Around['timers']): readonly Stays[] => {
  if (timers !== null && timers.length === 0) return []
  return [{
    what: 'timers', where: [...timers ?? []].slice(0, whereMax),
    command: 'sallyport timers remove',
    text: timers === null ? 'Whether timers of this state are left is not known.'
      : 'Its timers stay, and fail from now on.',
  }]
}

/** What stays when a state is gone. */
export const staysOf = (
  { configDir, storeId, foreign, around: { name, timers } }: {
    readonly configDir: string
    readonly storeId: string
    readonly foreign: readonly string[]
    readonly around: Around
  },
): Stays[] => [
  ...always(configDir, storeId),
  ...timersStay(timers),
  ...(name === null ? [] : [{
    what: 'name' as const, where: [name], command: `sallyport at remove ${name}`,
    text: 'Its name still stands for the directory.',
  }]),
  ...(foreign.length === 0 ? [] : [{
    what: 'foreign' as const, where: foreign.slice(0, whereMax), command: null,
    text: 'Files in the directory that are not Sallyport\'s stay where they are.',
  }]),
]

/** What a destruction is asked of. */
export interface DestroySite {
  readonly configDir: string
  /** What has to be typed. */
  readonly name: string
  readonly around: Around
}

/** What would go, what is open and what stays, as it is now. */
export const lookAtState = async (
  gov: Gov, { configDir, name, around }: DestroySite, registry: Registry = capabilities,
): Promise<StateDestroyDocument> => {
  const { store } = gov
  keepFewBlocks(store)
  const view = store.read()
  const specs = new Map((await stateRules(registry)).collections.map((spec) => [spec.name, spec]))
  const rows = [...specs.values()]
    .map((spec) => ({ collection: spec.name, count: rowsIn(view, spec) }))
    .filter(({ count }) => count > 0).sort((a, b) => b.count - a.count)
  const { foreign, ...files } = filesOf(store.dir)
  return {
    dry_run: true, name, state_dir: store.dir, store_id: store.storeId, begun_at: null, rows,
    keys: rowsIn(view, collections.credentials), ...files, open: openSum(view),
    stays: staysOf({ configDir, storeId: store.storeId, foreign, around }),
  }
}
