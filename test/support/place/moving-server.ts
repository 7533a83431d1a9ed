/** A server whose clock a test moves on: the function that tells it the time is one of ours. */
import type { Teardown } from '../../world/place.js'
import { startPostgres, type Postgres } from './postgres.js'

/** A server with a clock to move. */
export interface MovingServer extends Postgres {
  /** Lets its time go on, milliseconds; who has a lease has renewed it meanwhile. */
  pass(ms: number): Promise<void>
}

/** Starts one. */
export const movingServer = async (t: Teardown): Promise<MovingServer> => {
  const server = await startPostgres(t)
  await server.query('create table public.moved as select 0::bigint as ms')
  await server.query(`create function public.clock_timestamp() returns timestamptz
    language sql volatile as $$
      select pg_catalog.clock_timestamp() + (select ms from public.moved) * interval '1 ms' $$`)
  // What is asked for by its name alone is found there first.
  await server.query('alter role current_user set search_path = public, pg_catalog')
  return {
    ...server,
    async pass(ms) {
      await server.query('update public.moved set ms = ms + $1', [ms])
      await server.query("update sallyport.leases set ends = ends + $1 * interval '1 ms'", [ms])
    },
  }
}
