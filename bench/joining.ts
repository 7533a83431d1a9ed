/** How long a machine takes to join a state of 100,000 records, and in how much memory. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import pg from 'pg'
import { openingAny, openStore } from '../src/state/store.js'
import type { PlacedStore } from '../src/state/place/placed-store.js'
import type { PlacedRecord } from '../src/state/place/place.js'
import type { CollectionSpec } from '../src/state/types.js'
import { startPostgres } from '../test/support/place/postgres.js'
import type { Teardown } from '../test/world/place.js'
import { runBeside } from './beside.js'
import { withEnding } from './ending.js'
import { median } from './pairs.js'
import { placeIn, withPlace, type BenchPlace } from './place.js'
import type { BenchRow } from './types.js'

const records = Number(process.env['SALLYPORT_JOIN_RECORDS'] ?? 100_000)
const recordBytes = 600
const rounds = 3
const [secondsMax, mibMax] = [5, 250]
/** Records that go to the server at a time. */
const lot = 1_000

const shape = v.strictObject({ id: v.string(), text: v.string() })
const rows: CollectionSpec<v.InferOutput<typeof shape>> = {
  name: 'fillers', schema: shape, partition: 'hash256',
}
const text = 'The quick brown fox jumps over the lazy dog. '.repeat(20).slice(0, recordBytes - 190)

/**
 * Records of one row each. They go to the server by the thousand, behind the back of the program:
 * how they came there is nothing that is measured.
 */
const fill = async (place: BenchPlace, url: string): Promise<number> => {
  const at = { dir: place.stateDir, configDir: place.configDir }
  const store = await openingAny(() => openStore({ ...at, mode: 'write' })) as PlacedStore
  const client = new pg.Client(url)
  await client.connect()
  let bytes = 0
  try {
    await store.fresh()
    for (let n = 0; n < records; n += lot) {
      const placed: PlacedRecord[] = []
      for (let i = n; i < Math.min(n + lot, records); i += 1) {
        const id = `fill_${String(i).padStart(7, '0')}`
        const { record } = store.replica.propose('bench', (tx) => tx.put(rows, id, { id, text }))
        if (record === null) throw new Error('a record was to be made')
        placed.push(store.seal.seal(record, record.before))
        bytes += record.payload.length
        await store.replica.takeIn('bench', [record])
      }
      await client.query(`insert into sallyport.records (store, sequence, link, body)
        select $1, * from unnest($2::bigint[], $3::bytea[], $4::bytea[])`, [
        store.storeId, placed.map(({ sequence }) => sequence), placed.map(({ link }) => link),
        placed.map(({ body }) => body),
      ])
    }
  } finally {
    store.close()
    await client.end()
  }
  return bytes / records
}

const measure = async (ending: Teardown, place: BenchPlace): Promise<BenchRow[]> => {
  const server = await startPostgres(ending, { settings: { fsync: 'on' } })
  const passphrase = join(place.dir, 'passphrase')
  writeFileSync(passphrase, 'goes by another way\n', { mode: 0o600 })
  const secret = ['--passphrase-file', passphrase]
  place.run('init', '--shared', server.url, '--machine-name', 'first')
  place.run('login')
  const bytes = await fill(place, server.url)
  const [times, peaks, work]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round += 1) {
    const invitation = join(place.dir, `invitation-${round}`)
    place.run('machine', 'invite', `m${round}`, '--to', invitation, ...secret)
    const at = placeIn(join(place.dir, `m${round}`))
    const line = at.line(['machine', 'join', invitation, ...secret])
    const { ms, peakMib, processorMs } = await runBeside(line)
    times.push(ms / 1_000)
    peaks.push(peakMib)
    work.push(processorMs / 1_000)
  }
  const name = `machine join, ${records} records of ${Math.round(bytes)} bytes`
  const [seconds, mib] = [median(times), Math.max(...peaks)]
  return [{
    name: `${name}, seconds`, ratio: seconds, target: `at most ${secondsMax}`,
    pass: seconds <= secondsMax,
    detail: `each: ${times.map((one) => one.toFixed(1)).join(', ')}; of processor time `
      + work.map((one) => one.toFixed(1)).join(', '),
  }, {
    name: `${name}, peak MiB`, ratio: mib, target: `at most ${mibMax}`, pass: mib <= mibMax,
    detail: `each: ${peaks.map((one) => one.toFixed(0)).join(', ')}`,
  }]
}

/** Time and memory of the real program. */
export const run = (): Promise<BenchRow[]> =>
  withEnding((ending) => withPlace((place) => measure(ending, place)))
