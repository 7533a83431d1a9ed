/**
 * To a format with other indexes or counts than the one before: the runs stay as they are, and the
 * entries that are missing come to lie over them as a run of their own.
 */
import { fail } from '../../base/errors.js'
import { bytesOf } from '../snapshot/manifest.js'
import { nextNumber, SegmentWriter } from '../snapshot/fold.js'
import type { StateFile } from '../state-file.js'
import { publishFounding } from './found.js'
import { marksAfter } from './log-records.js'
import { reindex, type Layout } from './reindex.js'
import { badFiles, gather } from './rows.js'
import { recordsOf, salvage, type Salvage, type Trace } from './salvage.js'
import type { Site } from './use-case.js'

const needsRepair = (): Error =>
  fail.damaged('migration_refused', 'Only an undamaged state can change its format.', {
    next: 'Run `sallyport state repair` first.',
  })

/** Entries take less than their rows, and pieces of them lie there twice while they are sorted. */
const roomFactor = 1.1

const requireRoom = ({ files, dir }: Site, { manifest, logs }: Trace): void => {
  const rows = manifest.runs.reduce((sum, run) => sum + bytesOf(run), 0)
  const records = logs.reduce((sum, { end }) => sum + end, 0)
  const needed = Math.ceil(roomFactor * (rows + records))
  const free = files.freeBytes(dir)
  if (free >= needed) return
  throw fail.failed('disk_full', 'The disk has too little room to change the format.', {
    next: 'Free some space and run the command again.',
    details: { bytes_needed: needed, bytes_free: free },
  })
}

const requireSound = (site: Site, found: Salvage & { readonly standing: Trace }): void => {
  const { standing, untrue, remade } = found
  const wrong = standing.broken !== null || remade.length > 0
    || (untrue.at(-1) ?? 0) > standing.manifest.number
    || standing.logs.some(({ headerState }) => headerState !== 'true')
  if (wrong) throw needsRepair()
  const gathered = gather(site.files, site.places, found)
  try {
    if (gathered.lost.length > 0 || badFiles(gathered).size > 0) throw needsRepair()
  } finally {
    gathered.rows.close()
  }
}

/** A step to the format `to`; see `Migration.prepare`. */
export const toIndexes = (to: number) => (
  site: Site, layout: Layout,
): ((state: StateFile) => void) => {
  const { files, places, clock } = site
  const found = salvage(files, places)
  const { standing } = found
  if (standing === undefined) throw needsRepair()
  requireSound(site, { ...found, standing })
  requireRoom(site, standing)
  return (state) => {
    const { manifest, head } = standing
    const number = nextNumber(files, places)
    const writer = new SegmentWriter(files, places, number)
    const gathered = gather(files, places, { ...found, standing })
    const own = gathered.rows.over.sorted()
    gathered.rows.close()
    const first = own.length === 0 ? [] : writer.writeAll(own)
    const runs = [
      ...(first.length === 0 ? [] : [{ id: manifest.next_run, level: 0, files: first }]),
      ...manifest.runs,
    ]
    const indexed = reindex(files, places, runs, manifest.next_run + 1, layout, writer)
    writer.whole(() => publishFounding(files, places, {
      state, number, ...head, format: to, runs: indexed.runs, nextRun: indexed.nextRun,
      epoch: Math.max(found.newestLog, standing.logs.at(-1)?.epoch ?? 0) + 1,
      marks: marksAfter(recordsOf(standing), manifest.marks), markFloor: manifest.mark_floor,
      nowMs: clock.wallMs(),
    }))
  }
}
