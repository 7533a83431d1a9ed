/** The rows of one shared state at its server, to be put back as often as one likes. */
import type { Postgres } from './postgres.js'

const tables = [
  'stores', 'records', 'leases', 'fences', 'stops', 'blob_names', 'blobs', 'machines', 'vouchers',
] as const

const idForm = /^[0-9a-f-]{36}$/

/** Copies what a server has of a store; what it gives puts that back. Nobody may be connected. */
export const keptRows = async (
  { query }: Pick<Postgres, 'query'>, storeId: string,
): Promise<() => Promise<void>> => {
  if (!idForm.test(storeId)) throw new TypeError('not the id of a store')
  const mine = `where store = '${storeId}'`
  await query(['create schema if not exists kept', ...tables.flatMap((table) => [
    `create table if not exists kept.${table} (like sallyport.${table})`,
    `insert into kept.${table} select * from sallyport.${table} ${mine}`,
  ])].join(';'))
  const back = tables.flatMap((table) => [
    `delete from sallyport.${table} ${mine}`,
    `insert into sallyport.${table} select * from kept.${table} ${mine}`,
  ]).join(';')
  return async () => void await query(back)
}
