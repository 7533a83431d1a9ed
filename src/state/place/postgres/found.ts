/** How a store begins at a server: its tables, where they are missing, and its first rows. */
import { fail } from '../../../base/errors.js'
import type { Founding } from '../place.js'
import { beginText, bytesLiteral, durableSql, uuidLiteral, type Asking } from './standing.js'
import { lastTable, runSql, tableStatements } from './tables.js'

/** Number of the lock under which tables are made: of the whole database, and of nothing else. */
const tablesLock = '7305809185330418539'

/** A text as a literal of SQL. */
const textLiteral = (text: string): string =>
  `convert_from(${bytesLiteral(Buffer.from(text))}, 'UTF8')`

/** Tables whose rows belong to a store; that of stores itself comes last. */
const tables = [
  'records', 'leases', 'fences', 'stops', 'blob_names', 'blobs', 'machines', 'vouchers', 'stores',
]

/**
 * Removes what nobody uses of the same store: one that was taken back into a directory, or that
 * this very machine founded and that came to nothing, with its first record and no other machine.
 */
const emptied = (store: string, machine: string): readonly string[] => [
  `create temporary table unused on commit drop as
    select store from sallyport.stores where store = ${store} and (ended is not null or (
      (select count(*) from sallyport.records where store = ${store}) = 1
      and (select count(*) = 1 and bool_and(machine = ${machine})
        from sallyport.machines where store = ${store})))`,
  ...tables.map((name) =>
    `delete from sallyport.${name} where store in (select store from unused)`),
]

/**
 * The rows that a store begins with come together or not at all. What it answers is whether they
 * are there as this very text would put them, so that it may be given again.
 */
const foundText = (
  storeId: string, { format, writes, machine, at }: Founding, hasTables: boolean,
): string => {
  const [store, id] = [uuidLiteral(storeId), uuidLiteral(machine.machine)]
  const number = Math.trunc(at.sequence)
  return [
    beginText,
    `select pg_advisory_xact_lock(${tablesLock})`,
    ...hasTables ? [] : tableStatements,
    `select ${durableSql}`,
    ...emptied(store, id),
    `with made as (
      insert into sallyport.stores (store, format, writes, run)
      values (${store}, ${Math.trunc(format)}, ${Math.trunc(writes)}, ${runSql})
      on conflict do nothing returning store),
    first as (
      insert into sallyport.records (store, sequence, link, body)
      select store, ${number}, ${bytesLiteral(at.link)}, ${bytesLiteral(at.body)}
      from made returning store)
    insert into sallyport.machines (store, machine, name, sequence)
    select store, ${id}, ${textLiteral(machine.name)}, ${number} from first`,
    'commit',
    `select exists (
      select from sallyport.machines where store = ${store} and machine = ${id})
    and (
      select count(*) = 1 and bool_and(sequence = ${number} and link = ${bytesLiteral(at.link)})
      from sallyport.records where store = ${store}) as ours`,
  ].join(';\n')
}

/** See `Place.found`. */
export const found = async ({ connection, storeId }: Asking, founding: Founding): Promise<void> => {
  // Who made them may be another role, and whoever changes a table waits for all that use it.
  const [tables] = await connection.ask({
    text: 'select to_regclass($1) is not null as there', values: [lastTable],
  })
  const text = foundText(storeId, founding, tables?.['there'] === true)
  const [row] = await connection.askPlain(text)
  if (row?.['ours'] === true) return
  throw fail.conflict('store_exists', 'The server has this state already.', {
    next: 'Join it by an invitation of one of its machines.',
  })
}
