/**
 * Tables of a place. Each is keyed by the store first, so that many stores lie in one database. All
 * bodies are sealed, so none is compressed.
 */

/** Bytes of rows that one answer holds, beside the first row. */
export const answerBytes = 4 * 1024 * 1024

/** Milliseconds since 1970 of an SQL moment, as a number without a fraction. */
export const msOf = (moment: string): string => `floor(extract(epoch from ${moment}) * 1000)::text`

/**
 * Which run of which server answers: another one after a promotion, a restore to a point in time or
 * in a new cluster. Fails on a standby (55000), which is right.
 */
export const runSql = `(select system_identifier::text || '/'
  || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) from pg_control_system())`

/** The table that is made last. */
export const lastTable = 'sallyport.vouchers'

/** Makes what is missing, a statement each. Two machines may come at once: give it under a lock. */
export const tableStatements: readonly string[] = [
  'create schema if not exists sallyport',
  `create table if not exists sallyport.stores (
    store uuid primary key, format int not null, writes int not null, run text not null,
    founded timestamptz not null default clock_timestamp(), ended timestamptz, ended_by uuid)`,
  `create table if not exists sallyport.records (
    store uuid not null, sequence bigint not null, link bytea not null, body bytea not null,
    placed timestamptz not null default clock_timestamp(), primary key (store, sequence))`,
  'alter table sallyport.records alter column body set storage external',
  `create table if not exists sallyport.leases (
    store uuid not null, name text not null, machine uuid not null, holder text not null,
    token uuid not null, ends timestamptz not null, primary key (store, name))`,
  `create table if not exists sallyport.fences (
    store uuid not null, operation text not null, machine uuid not null, holder text not null,
    turn uuid not null, taken boolean not null, closed boolean not null, facts bytea not null,
    taken_at timestamptz not null default clock_timestamp(), given_at timestamptz,
    closed_at timestamptz, primary key (store, operation))`,
  `create table if not exists sallyport.stops (
    store uuid not null, id text not null, body bytea not null,
    placed timestamptz not null default clock_timestamp(), primary key (store, id))`,
  `create table if not exists sallyport.blob_names (
    store uuid not null, name text not null, attempt uuid not null, pieces int not null,
    placed timestamptz not null default clock_timestamp(), primary key (store, name))`,
  `create table if not exists sallyport.blobs (
    store uuid not null, name text not null, attempt uuid not null, piece int not null,
    body bytea not null, primary key (store, name, attempt, piece))`,
  'alter table sallyport.blobs alter column body set storage external',
  `create table if not exists sallyport.machines (
    store uuid not null, machine uuid not null, name text not null,
    joined timestamptz not null default clock_timestamp(),
    seen timestamptz not null default clock_timestamp(), retired timestamptz,
    sequence bigint not null default 0, primary key (store, machine))`,
  `create unique index if not exists machines_by_name
    on sallyport.machines (store, name) where retired is null`,
  `create table if not exists sallyport.vouchers (
    store uuid not null, run text not null, machine uuid not null, sequence bigint not null,
    link bytea not null, primary key (store, run, machine))`,
]
