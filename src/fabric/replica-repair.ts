/**
 * Repairing a replica of a shared state: its server has every record and every stored file, so that
 * nothing is lost that is damaged here, and what cannot be mended is fetched anew.
 */
import { resolve } from 'node:path'
import { systemClock } from '../base/clock.js'
import { countText } from '../base/counted.js'
import { SallyportError } from '../base/errors.js'
import { followWitness } from '../governance/policy/witness.js'
import { readAnchor } from '../state/anchor.js'
import type { CheckReport } from '../state/care/check.js'
import { rebuiltState } from '../state/care/rebuilt-state.js'
import { note } from '../state/care/repair-report.js'
import { salvage } from '../state/care/salvage.js'
import type { StatePlace } from '../state/care/use-case.js'
import { FileStore, type OpenOptions } from '../state/file-store.js'
import { nodeFiles } from '../state/files.js'
import { KeyRing, readKey } from '../state/keys.js'
import { keyPlaces, placesOf } from '../state/paths.js'
import { readPlaceFile } from '../state/place/place-file.js'
import { PlacedStore } from '../state/place/placed-store.js'
import { serverChanged } from '../state/place/errors.js'
import { placeOf } from '../state/place/share.js'
import { looseStateFile, type StateFile } from '../state/state-file.js'
import type { Problem, View } from '../state/types.js'

/** A replica that is to be repaired. */
export interface DamagedReplica {
  /** See `RepairOptions.unplaced`. */
  readonly unplaced: (records: number) => Error | null
  /**
   * Fetches what is not here, and gives back what the server has lost of stored files; what was
   * done. `problems`: what a check finds by now; `referenced`: stored files that rows name.
   */
  fetch(
    problems: CheckReport['problems'], referenced: (view: View) => ReadonlySet<string>,
  ): Promise<readonly Problem[]>
}

const stateAt = ({ dir, configDir }: StatePlace): StateFile | undefined => {
  const places = placesOf(resolve(dir))
  const state = looseStateFile(nodeFiles, places.state)
  if (state !== undefined) return state
  const copy = salvage(nodeFiles, places).standing?.manifest.state
  return copy && rebuiltState(nodeFiles, keyPlaces(resolve(configDir), copy.store_id).dir, copy)
}

/** Numbers of records: the last one at the place, and the last one that the anchor tells of. */
interface Known {
  readonly there: number
  readonly anchored: number
}

/** How far the place has come and this machine had, or why that cannot be told. */
const recordsAt = async (
  { configDir, clock = systemClock }: StatePlace, storeId: string,
): Promise<Known | SallyportError> => {
  try {
    const at = keyPlaces(resolve(configDir), storeId)
    const keys = new KeyRing(storeId, () => readKey(nodeFiles, at.key))
    const anchor = readAnchor(nodeFiles, at.anchor, keys, storeId)
    const place = placeOf(readPlaceFile(nodeFiles, at.dir, keys, storeId), storeId, { clock })
    try {
      const { sequence: there } = await place.facts()
      return { there, anchored: typeof anchor === 'string' ? 0 : anchor.sequence }
    } finally {
      await place.close()
    }
  } catch (error) {
    if (error instanceof SallyportError) return error
    throw error
  }
}

/** What lies there with other bytes is no better than what is here. */
const fetchFiles = async (
  { place, blobs }: PlacedStore, problems: CheckReport['problems'],
): Promise<readonly Problem[]> => {
  const lacking = [...new Set(problems
    .filter(({ code }) => code === 'evidence_missing' || code === 'artifact_damaged')
    .flatMap(({ subject }) => subject ?? []))]
  const untrue = new Set(await place.untrueBlobs(lacking))
  const there = lacking.filter((name) => !untrue.has(name))
  await blobs.fetchTrue(there)
  return there.length === 0 ? []
    : [note('artifacts_fetched',
      `Fetched from the server: ${countText(there.length, 'stored file')}.`)]
}

/** Another machine could not follow without them. What is here is known to be true by its name. */
const giveBack = async (
  { place, blobs }: PlacedStore, referenced: ReadonlySet<string>,
): Promise<readonly Problem[]> => {
  const untrue = (await place.untrueBlobs([...referenced])).filter((name) => blobs.isTrue(name))
  await place.removeBlobs(untrue)
  for (const name of untrue) await blobs.put(name)
  return untrue.length === 0 ? []
    : [note('artifacts_given_back',
      `Given back to the server: ${countText(untrue.length, 'stored file')}.`)]
}

/** What a repair needs to know of a replica; null of a state in a directory. */
export const replicaToRepair = async (site: StatePlace): Promise<DamagedReplica | null> => {
  const state = stateAt(site)
  if (state?.kept_in !== 'place') return null
  const known = await recordsAt(site, state.store_id)
  return {
    unplaced: (records) => {
      if (known instanceof SallyportError) return known
      // Where no log of it is left, the anchor alone tells how far the replica had come.
      return known.there < Math.max(records, known.anchored) ? serverChanged('behind') : null
    },
    async fetch(problems, referenced) {
      if (known instanceof SallyportError) return []
      const options: OpenOptions = { ...site, mode: 'write', onFollowed: followWitness }
      const store = new PlacedStore(new FileStore(options), options)
      try {
        const before = store.replica.end.sequence
        await store.fresh()
        const { sequence } = store.replica.end
        const files = [
          ...await fetchFiles(store, problems), ...await giveBack(store, referenced(store.read())),
        ]
        return before > 0 || sequence === 0 ? files
          : [note('replica_fetched', `Record 1 to ${sequence} were fetched from there.`), ...files]
      } finally {
        store.close()
      }
    },
  }
}
