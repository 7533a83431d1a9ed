/** What is told about a server: asked for people, never decided by. */
import type { Clock } from '../../../base/clock.js'
import type { PlaceFacts } from '../place.js'
import { textOf } from './connection.js'
import { askStanding, type Asking } from './standing.js'
import { msOf } from './tables.js'

/**
 * Standbys as far as this role may see them: how they are is told to `pg_monitor` alone, that there
 * are some to everybody.
 */
const standbySql = `(select case when count(*) = 0 then 'none'
  when bool_or(sync_state in ('sync', 'quorum')) then 'synchronous'
  when bool_or(sync_state is null) then 'unknown' else 'asynchronous' end
  from pg_stat_replication)`

/** See `Place.facts`. The clocks are compared in the middle of the trip. */
export const facts = async (asking: Asking, clock: Clock, known = 0): Promise<PlaceFacts> => {
  // A connection that has to be made first is no part of a trip.
  await asking.connection.reach()
  const [wallMs, beganMs] = [clock.wallMs(), clock.monotonicMs()]
  const row = await askStanding(asking, '', `, ${msOf('clock_timestamp()')} as now,
    split_part(current_setting('server_version'), ' ', 1) as version, ${standbySql} as standby,
    (select max(sequence) from sallyport.records where store = $1) as last,
    (select link from sallyport.records where store = $1 and sequence = $5::bigint) as link`,
  [known], false)
  const awayMs = clock.monotonicMs() - beganMs
  return {
    server: `PostgreSQL ${textOf(row, 'version')}`,
    tls: asking.connection.tls,
    awayMs: Math.round(awayMs * 10) / 10,
    clockApartMs: Math.round(Number(row['now']) - (wallMs + awayMs / 2)),
    standby: row['standby'] as PlaceFacts['standby'],
    sequence: Number(row['last']),
    link: row['link'] as Buffer | null,
  }
}
