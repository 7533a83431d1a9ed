/**
 * Blobs in pieces. Each try to put one has pieces of its own; the row with the blob's name comes
 * last and names the try that is whole. What a try that was cut off left is removed with the next.
 */
import { randomUUID } from 'node:crypto'
import { fail } from '../../../base/errors.js'
import {
  askStanding, firstValues, mayChange, noStanding, placeTerms, requireStanding, standingColumns,
  withStanding, type Asking,
} from './standing.js'
import { answerBytes } from './tables.js'

/** Bytes of pieces that go in one trip, beside the last piece. */
const tripBytes = 1024 * 1024

/** See `Place.hasBlobs`. */
export const hasBlobs = async (
  asking: Asking, names: readonly string[],
): Promise<readonly string[]> => {
  if (names.length === 0) return []
  const row = await askStanding(asking, '', `, array(
    select name from sallyport.blob_names where store = $1 and name = any($5::text[])) as names`,
  [names], false)
  const whole = new Set(row['names'] as readonly string[])
  return names.filter((name) => whole.has(name))
}

/** Blobs that one question is about: the server reads all of their bytes for it. */
const namesAtOnce = 20

const untrueColumn = `, array(
    select wanted from unnest($5::text[]) as wanted where not exists (
      select from sallyport.blob_names as named where store = $1 and name = wanted and wanted = (
        select encode(sha256(coalesce(string_agg(body, ''::bytea order by piece), '')), 'hex')
        from sallyport.blobs
        where store = $1 and name = wanted and attempt = named.attempt
        having count(*) = named.pieces and coalesce(max(piece), -1) = named.pieces - 1))) as names`

/** See `Place.untrueBlobs`. */
export const untrueBlobs = async (
  asking: Asking, names: readonly string[],
): Promise<readonly string[]> => {
  const untrue: string[] = []
  for (let at = 0; at < names.length; at += namesAtOnce) {
    const row = await askStanding(
      asking, '', untrueColumn, [names.slice(at, at + namesAtOnce)], false)
    untrue.push(...row['names'] as readonly string[])
  }
  return untrue
}

const addPieces = async (
  asking: Asking, name: string, attempt: string, first: number, pieces: readonly Buffer[],
): Promise<void> => {
  await askStanding(asking, `,
added as (
  insert into sallyport.blobs (store, name, attempt, piece, body)
  select $1, $5::text, $6::uuid, $7::int + number - 1, body
  from unnest($8::bytea[]) with ordinality as given (body, number) where ${mayChange}
  on conflict do nothing returning piece)`, ', (select count(*) from added) as added',
  [name, attempt, first, pieces])
}

/** Pieces are counted under a lock: whoever removes them meanwhile comes before or behind. */
const wholeBody = `,
there as materialized (
  select piece from sallyport.blobs where store = $1 and name = $5 and attempt = $6::uuid
  for share),
named as (
  insert into sallyport.blob_names (store, name, attempt, pieces)
  select $1, $5::text, $6::uuid, $7::int from durable
  where ${mayChange} and (select count(*) from there) = $7
  on conflict do nothing returning attempt)`

const removed = (): Error =>
  fail.conflict('blob_removed', 'A stored file was removed from the server.', {
    next: 'Run the command again.',
  })

const torn = (): Error =>
  fail.damaged('blob_torn', 'A stored file has a gap at the server.', {
    next: 'Run `sallyport state check`.',
  })

/** Removes pieces of a blob that no name row names. */
const sweep = async (asking: Asking, name: string): Promise<boolean> => {
  const row = await askStanding(asking, `,
swept as (
  delete from sallyport.blobs where store = $1 and name = $5::text and attempt <>
    (select attempt from sallyport.blob_names where store = $1 and name = $5)
  returning piece)`, `, (select count(*) from swept) as swept,
  exists (select from sallyport.blob_names where store = $1 and name = $5) as whole`, [name])
  return row['whole'] === true
}

const oneBody = `,
named as (
  insert into sallyport.blob_names (store, name, attempt, pieces)
  select $1, $5::text, $6::uuid, 1 from durable where ${mayChange}
  on conflict do nothing returning attempt),
added as (
  insert into sallyport.blobs (store, name, attempt, piece, body)
  select $1, $5, attempt, 0, $7::bytea from named returning piece),
swept as (
  delete from sallyport.blobs where store = $1 and name = $5 and exists (select from named)
  returning piece)`

/** Puts a blob of one piece in one trip. Whether it is known to lie there. */
const putOne = async (asking: Asking, name: string, piece: Buffer): Promise<boolean> => {
  const row = await askStanding(asking, oneBody, `, (select count(*) from added) = 1
    or exists (select from sallyport.blob_names where store = $1 and name = $5) as whole,
    (select count(*) from swept) as swept`, [name, randomUUID(), piece])
  return row['whole'] === true
}

/** See `Place.putBlob`. `conflict` `blob_removed` where it was removed meanwhile. */
export const putBlob = async (
  asking: Asking, name: string, pieces: Buffer | AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<void> => {
  if (!Buffer.isBuffer(pieces)) return putPieces(asking, name, pieces)
  // Somebody else may be putting it: that one's try is waited for.
  if (!await putOne(asking, name, pieces)) await putPieces(asking, name, [pieces])
}

const putPieces = async (
  asking: Asking, name: string, pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<void> => {
  if ((await hasBlobs(asking, [name])).length > 0) return
  const attempt = randomUUID()
  let waiting: Buffer[] = []
  let [bytes, count] = [0, 0]
  const send = async (): Promise<void> => {
    if (waiting.length > 0) await addPieces(asking, name, attempt, count, waiting)
    count += waiting.length
    waiting = []
    bytes = 0
  }
  for await (const piece of pieces) {
    // Whoever gives pieces may use the memory again.
    waiting.push(Buffer.from(piece))
    bytes += piece.length
    if (bytes >= tripBytes) await send()
  }
  await send()
  await askStanding(asking, wholeBody, ', (select count(*) from named) as named',
    [name, attempt, count])
  if (await sweep(asking, name)) return
  throw removed()
}

/** Pieces as rows: the driver reads an array letter by letter. */
const piecesText = (asking: Asking): string => `${withStanding(false, placeTerms(asking))},
blob as (
  select attempt, pieces from sallyport.blob_names where store = $1 and name = $5::text),
wanted as (
  select piece, body from sallyport.blobs
  where store = $1 and name = $5 and attempt = (select attempt from blob) and piece >= $6::int
  order by piece limit 64),
sized as (
  select *, sum(octet_length(body)) over (order by piece) - octet_length(body) as before
  from wanted)
select null::int as piece, null::bytea as body, (select pieces from blob) as pieces,
  (select attempt::text from blob) as attempt, ${standingColumns}
union all select piece, body, null, null, ${noStanding} from sized where before < $7::int`

/** See `Place.getBlob`. `damaged` `blob_torn`; `conflict` `blob_removed` while it was read. */
export async function* getBlob(asking: Asking, name: string): AsyncGenerator<Buffer> {
  let [next, count] = [0, 1]
  // Who puts it anew may have cut it into other pieces; of one try there are never more.
  let attempt: unknown
  while (next < count) {
    const rows = await asking.connection.ask({
      text: piecesText(asking), values: [...firstValues(asking), name, next, answerBytes],
    })
    const head = requireStanding(rows.find(({ piece }) => piece === null), asking)
    if (attempt !== undefined && head['attempt'] !== attempt) throw removed()
    const isFirst = attempt === undefined
    attempt = head['attempt']
    if (attempt === null) return
    if (isFirst) count = Number(head['pieces'])
    const pieces = rows.filter(({ piece }) => piece !== null && Number(piece) < count)
      .sort((a, b) => Number(a['piece']) - Number(b['piece']))
    for (const { piece, body } of pieces) {
      if (Number(piece) !== next) throw torn()
      yield body as Buffer
      next += 1
    }
    if (pieces.length === 0 && next < count) throw torn()
  }
}

/** See `Place.removeBlobs`. */
export const removeBlobs = async (asking: Asking, names: readonly string[]): Promise<void> => {
  if (names.length === 0) return
  await askStanding(asking, `,
unnamed as (
  delete from sallyport.blob_names where store = $1 and name = any($5::text[]) and ${mayChange}
  returning name),
emptied as (
  delete from sallyport.blobs where store = $1 and name = any($5::text[]) and ${mayChange}
  returning piece)`,
  ', (select count(*) from unnamed) as unnamed, (select count(*) from emptied) as emptied', [names])
}

/** See `Place.oldBlobs`. What came just now may be named by a record that is about to be placed. */
export const oldBlobs = async (
  asking: Asking, after: string, limit: number,
): Promise<readonly string[]> => {
  const row = await askStanding(asking, '', `, array(
    select name from sallyport.blob_names where store = $1 and name > $5::text
      and placed < clock_timestamp() - interval '1 day' order by name limit $6::int) as names`,
  [after, limit], false)
  return row['names'] as readonly string[]
}

/** See `Place.keepBlob`: it is never old. */
export const keepBlob = async (asking: Asking, name: string): Promise<void> => {
  await askStanding(asking, `,
kept as (
  update sallyport.blob_names set placed = 'infinity' where store = $1 and name = $5::text
    and ${mayChange}
  returning name)`, ', (select count(*) from kept) as kept', [name])
}
