/** Writes what was asked for of a day, each file new and for its owner alone. */
import { isoFromMs } from '../../base/clock.js'
import type { ShotsContext } from '../context.js'
import { reportPath, writeReportFiles } from '../report/file.js'
import type { DayDocument } from './told-day-contract.js'
import { episodesCalendar, episodesCsv } from './files.js'
import { readDay, type DayAsked } from './read-day.js'

/** Which day, and the files to write of it; relative paths begin at `cwd`. */
interface DayOrder extends DayAsked {
  readonly csv?: string | undefined
  readonly ical?: string | undefined
  readonly cwd: string
}

/**
 * Reads a day and writes its files, all or none. Throws what `readDay`, `reportPath` and
 * `writeReportFiles` throw.
 */
export const tellDay = (ctx: ShotsContext, order: DayOrder): DayDocument => {
  const { store, clock } = ctx.gov
  const view = store.read()
  const placeOf = (path: string | undefined): string | null =>
    (path === undefined ? null : reportPath(ctx, view, { path, cwd: order.cwd, name: null }))
  const [csv, ical] = [placeOf(order.csv), placeOf(order.ical)]
  const told = readDay(ctx, order)
  const now = isoFromMs(clock.wallMs())
  writeReportFiles([
    ...(csv === null ? [] : [{ path: csv, text: episodesCsv(told) }]),
    ...(ical === null ? []
      : [{ path: ical, text: episodesCalendar(told, { storeId: store.storeId, now }) }]),
  ])
  return { ...told, csv_file: csv, ical_file: ical }
}
