/** Founds a generation: a manifest that no fold made, and the log that brings it into force. */
import { isoFromMs } from '../../base/clock.js'
import type { Files } from '../files.js'
import type { Places } from '../paths.js'
import { publishFounded } from '../snapshot/founding.js'
import type { Manifest, Mark, Run } from '../snapshot/manifest.js'
import type { StateFile } from '../state-file.js'

/** What a founded generation begins with. */
interface Founding {
  readonly state: StateFile
  /** Of its documents: that of a state whose format is still to be changed is an older one. */
  readonly format: number
  /** Number of its manifest: above every other in the directory. */
  readonly number: number
  /** Number of its log: the same. */
  readonly epoch: number
  readonly sequence: number
  readonly chain: string
  readonly marks: readonly Mark[]
  readonly markFloor: number
  readonly nextRun: number
  /** Newest first; their files are written already. */
  readonly runs: readonly Run[]
  readonly nowMs: number
}

/**
 * Publishes a founded generation: its files' names, its manifest, its log. The rename of the log
 * decides: a manifest without it never came into force. Both locks must be held.
 */
export const publishFounding = (files: Files, places: Places, founding: Founding): void => {
  const { state, number, epoch, sequence, chain } = founding
  const manifest: Manifest = {
    schema: 'sallyport.manifest.v2',
    format_version: founding.format,
    store_id: state.store_id,
    number,
    epoch: epoch - 1,
    founding: true,
    sequence,
    chain,
    marks: founding.marks.slice(-2),
    mark_floor: founding.markFloor,
    written_at: isoFromMs(founding.nowMs),
    state,
    next_run: founding.nextRun,
    runs: [...founding.runs],
    merges: [],
  }
  publishFounded(files, places, manifest)
}
