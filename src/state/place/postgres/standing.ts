/**
 * What every statement asks first, in itself: whether this is the server, the store and a machine
 * that it may change anything for. An answer tells that beside what was asked, in one trip.
 */
import { formatVersion } from '../../paths.js'
import { machineRetired, serverChanged, stateUnshared, writtenByNewer } from '../errors.js'
import { runForm, type KnownRun } from '../known-run.js'
import type { Introduction } from '../place.js'
import { textOf, type Connection, type Row } from './connection.js'
import { runSql } from './tables.js'

/** What a place of one machine is asked with. */
export interface Asking {
  readonly connection: Connection
  readonly run: KnownRun
  readonly storeId: string
  readonly machine: Introduction
}

/** What a statement says of whoever asks. */
type Facts = Omit<Asking, 'connection'>

/** The same for one statement. */
type Asker = Facts & { readonly connection: Pick<Connection, 'ask'> }

/** The same for what nobody hurries for; see `Connection.askSoon`. */
export const unhurried = ({ connection, ...rest }: Asking): Asker =>
  ({ ...rest, connection: { ask: (question) => connection.askSoon(question) } })

const uuidForm = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/
/** Names of operations, stops, leases and blobs, as far as they are written into a text. */
const nameForm = /^[\w.:/-]{1,200}$/

/** A UUID as a literal of SQL; whatever else is a defect of the caller. */
export const uuidLiteral = (text: string): string => {
  if (!uuidForm.test(text)) throw new Error('an id that is none was to be asked for')
  return `'${text}'::uuid`
}

/** A plain name as a literal of SQL. */
export const nameLiteral = (text: string): string => {
  if (!nameForm.test(text)) throw new Error('a name that is none was to be asked for')
  return `'${text}'::text`
}

/** Bytes as a literal of SQL. */
export const bytesLiteral = (bytes: Buffer): string => `decode('${bytes.toString('hex')}', 'hex')`

/** Names of what a statement is asked with: places of values, or literals. */
interface Terms {
  readonly store: string
  readonly machine: string
  readonly writes: string
  readonly format: string
  /** The run that this machine knows. */
  readonly run: string
  readonly holder: string
}

const holderForm = /^[\da-zA-Z]{0,32}$/

/** Whoever asks, beside the id of the machine, as a literal of SQL. */
export const holderLiteral = ({ machine: { holder = '' } }: Facts): string => {
  if (!holderForm.test(holder)) throw new Error('a holder that is none was to be asked for')
  return `'${holder}'::text`
}

/** Whose a lease or a fence is, for who asks: the same id elsewhere is another one. */
export const whose = (asking: Facts): string =>
  `machine::text || case when holder = ${holderLiteral(asking)} then '' else '/' || holder end`

const runLiteral = ({ run }: Facts): string => {
  const known = run.known()
  if (known === null) return 'null::text'
  if (!runForm.test(known)) throw new Error('a run that is none was to be asked for')
  return `'${known}'::text`
}

/** Names of places of values; the first four are given by `firstValues`. */
export const placeTerms = (asking: Facts): Terms => ({
  store: '$1::uuid', machine: '$2::uuid', writes: '$3::int', format: '$4::int',
  run: runLiteral(asking), holder: holderLiteral(asking),
})

/** Values of the first four places of each statement. */
export const firstValues = ({ storeId, machine }: Facts): readonly unknown[] =>
  [storeId, machine.machine, machine.writes, formatVersion]

/** The same, written out. */
export const literalTerms = (asking: Facts): Terms => ({
  store: uuidLiteral(asking.storeId), machine: uuidLiteral(asking.machine.machine),
  writes: `${Math.trunc(asking.machine.writes)}::int`, format: `${formatVersion}::int`,
  run: runLiteral(asking), holder: holderLiteral(asking),
})

/** Begins what is several statements: each sees what was committed before, as set or not. */
export const beginText = 'begin isolation level read committed'

/** Has a commit that the server answers stand on its disk, whatever it is set to. */
export const durableSql = `set_config('synchronous_commit',
  case current_setting('synchronous_commit') when 'off' then 'on' when 'local' then 'on'
    else current_setting('synchronous_commit') end, true)`

/**
 * Named parts of a statement: `me` (a row once this machine has joined), `standing` (the store)
 * and `durable` (a commit that the server answers stands on its disk, whatever it is set to).
 * `locked`: whoever retires the machine waits for the statement, and it for whoever does.
 */
export const withStanding = (locked: boolean, terms: Terms): string => `with
me as materialized (
  select machine, retired from sallyport.machines
  where store = ${terms.store} and machine = ${terms.machine}
  ${locked ? 'for share' : ''}),
standing as materialized (
  select run = ${runSql} and run = coalesce(${terms.run}, run) as known, run, format, writes,
    writes <= ${terms.writes} and format <= ${terms.format} and ended is null as fits,
    ended is not null as ended
  from sallyport.stores where store = ${terms.store}),
durable as materialized (
  select ${durableSql} as set),
first as (
  select sequence from sallyport.records where store = ${terms.store} order by sequence limit 1)`

/** The condition under which something is changed. */
export const mayChange = `exists (select from me where retired is null)
  and exists (select from standing where known and fits)`

/** Columns of each answer that `requireStanding` judges. */
export const standingColumns = `(select known from standing) as known,
  (select run from standing) as run,
  (select format from standing) as format, (select writes from standing) as writes,
  (select ended from standing) as ended,
  exists (select from me where retired is null) as here,
  case when not exists (select from me) then (select sequence from first) end as unknown`

/** As many columns of rows that stand beside such an answer. */
export const noStanding = 'null, null, null, null, null, null, null'

/** Remembers the run that a row tells. */
export const noteRun = (known: KnownRun, row: Row): void => {
  const run = textOf(row, 'run')
  if (!runForm.test(run)) throw serverChanged('run')
  if (run !== known.known()) known.note(run)
}

/**
 * Rows of machines are never removed: one that is missing was lost with an older copy, unless the
 * state was taken back and shared anew since.
 */
const notHere = ({ unknown }: Row, { known = () => 0 }: Introduction): Error =>
  (unknown === null || Number(unknown) > known() ? machineRetired() : serverChanged('behind'))

/** Throws what an answer says about server, store or machine. */
export const requireStanding = (row: Row | undefined, { machine, run }: Facts): Row => {
  if (row === undefined || row['known'] === null) throw serverChanged('store_missing')
  if (row['known'] !== true) throw serverChanged('run')
  if (row['ended'] === true) throw stateUnshared()
  const [format, writes] = [Number(row['format']), Number(row['writes'])]
  if (format > formatVersion) {
    throw writtenByNewer({ format_version: format, known: formatVersion })
  }
  if (writes > machine.writes) throw writtenByNewer({ writes, known: machine.writes })
  if (row['here'] !== true) throw notHere(row, machine)
  if (run.known() === null) noteRun(run, row)
  return row
}

/**
 * Asks one statement that changes or tells something of the store. `body`: further named parts,
 * each with a comma before it; `columns`: what is answered; values begin at $5.
 */
export const askStanding = async (
  asking: Asker, body: string, columns: string, values: readonly unknown[], locked = true,
): Promise<Row> => {
  const [row] = await asking.connection.ask({
    text: `${withStanding(locked, placeTerms(asking))}${body} select ${standingColumns}${columns}`,
    values: [...firstValues(asking), ...values],
  })
  return requireStanding(row, asking)
}
