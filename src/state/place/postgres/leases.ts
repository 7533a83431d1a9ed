/** Leases: rows with an end by the server's clock. */
import { randomUUID } from 'node:crypto'
import { textOf } from './connection.js'
import { askStanding, holderLiteral, mayChange, unhurried, type Asking } from './standing.js'

const takeBody = (asking: Asking): string => `,
ahead as (
  select from sallyport.leases, unnest($8::text[]) as prefix
  where store = $1 and ends > clock_timestamp() and starts_with(name, prefix)),
taken as (
  insert into sallyport.leases as lease (store, name, machine, holder, token, ends)
  select $1, $5::text, $2, ${holderLiteral(asking)}, $6::uuid,
    clock_timestamp() + $7::int * interval '1 ms'
  where ${mayChange} and not exists (select from ahead)
  on conflict (store, name) do update
    set machine = excluded.machine, holder = excluded.holder, token = excluded.token,
      ends = excluded.ends
    where lease.ends <= clock_timestamp()
      or lease.machine = excluded.machine and lease.holder = excluded.holder
  returning token)`

/** See `Place.take`. */
export const take = async (
  asking: Asking, name: string, ms: number, ahead: readonly string[],
): Promise<string | null> => {
  const row = await askStanding(asking, takeBody(asking),
    ', (select token::text from taken) as token', [name, randomUUID(), ms, ahead])
  return row['token'] === null ? null : textOf(row, 'token')
}

const mine = `store = $1 and machine = $2 and token = any($5::uuid[])`

const renewBody = `,
renewed as (
  update sallyport.leases set ends = clock_timestamp() + $6::int * interval '1 ms'
  where ${mine} and ends > clock_timestamp() and ${mayChange}
  returning token)`

/** See `Place.renew`. */
export const renew = async (
  asking: Asking, tokens: readonly string[], ms: number,
): Promise<readonly string[]> => {
  if (tokens.length === 0) return []
  const row = await askStanding(asking, renewBody,
    ', array(select token::text from renewed) as tokens', [tokens, ms])
  const renewed = new Set(row['tokens'] as readonly string[])
  return tokens.filter((token) => renewed.has(token))
}

/** See `Place.release`. */
export const release = async (asking: Asking, tokens: readonly string[]): Promise<void> => {
  if (tokens.length === 0) return
  await askStanding(unhurried(asking), `,
gone as (delete from sallyport.leases where ${mine} returning token)`,
  ', (select count(*) from gone) as gone', [tokens])
}
