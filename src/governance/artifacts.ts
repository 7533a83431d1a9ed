/** The registry of private artifacts. Rows hold digests and lengths only; content lies sealed. */
import { fail, SallyportError } from '../base/errors.js'
import { newId } from '../base/ids.js'
import type { ArtifactRef, PackReader, Store, Tx, View } from '../state/types.js'
import type { Gov } from './context.js'
import { collections, type ArtifactRow } from './rows.js'

/** What is registered about a stored artifact. */
interface ArtifactEntry {
  /** Left out: a new id. */
  readonly artifactId?: string
  /** Record type it is sealed under, for example `svc.alpha.text.input.v1`. */
  readonly label: string
  readonly ref: ArtifactRef
  readonly owner: string
  readonly taskId: string | null
  /** False for a result that is held back: nothing releases it before it is adopted. */
  readonly adopted: boolean
}

/** Registers stored content; it exists for readers from this transaction on. */
export const registerArtifact = (tx: Tx, now: string, entry: ArtifactEntry): ArtifactRow => {
  const row: ArtifactRow = {
    artifact_id: entry.artifactId ?? newId('art'),
    label: entry.label,
    ref: { ...entry.ref },
    owner: entry.owner,
    task_id: entry.taskId,
    adopted: entry.adopted,
    created_at: now,
  }
  if (tx.get(collections.artifacts, row.artifact_id) !== undefined) {
    throw fail.conflict('artifact_exists', 'An artifact of this id is registered already.')
  }
  tx.put(collections.artifacts, row.artifact_id, row)
  return row
}

const missing = () => fail.notFound('artifact_not_found', 'There is no such artifact.')

/**
 * Removes stored content that no row names any more, after the record that dropped it. A file that
 * will not go is no failure of what was recorded: `state check` counts it and a compaction sweeps.
 */
export const discardStored = (store: Pick<Store, 'artifacts'>, name: string | null): void => {
  if (name === null) return
  try {
    store.artifacts.remove(name)
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
  }
}

/**
 * Makes the function of a transaction out of one that says when its record names what was stored.
 * It may run more than once: what an earlier run said counts no more.
 */
export type Tried = <A extends readonly unknown[], R>(
  fn: (named: () => void, tx: Tx, ...given: A) => R,
) => (tx: Tx, ...given: A) => R

/**
 * Records stored content. What no record names leaves the disk, also on a refusal; once one was
 * about to it stays, also where the disk fails or nobody answers: then the record may stand.
 * @param stored names of files; more may be added meanwhile
 */
export const discardUnnamed = async <T>(
  store: Pick<Store, 'artifacts'>, stored: readonly (string | null)[],
  record: (tried: Tried) => Promise<T>,
): Promise<T> => {
  let isNamed = false
  const named = (): void => void (isNamed = true)
  try {
    return await record((fn) => (tx, ...given) => {
      isNamed = false
      return fn(named, tx, ...given)
    })
  } finally {
    if (!isNamed) for (const name of stored) discardStored(store, name)
  }
}

/** The row of an artifact. Throws `not_found`/`artifact_not_found`. */
export const requireArtifact = (view: View, artifactId: string): ArtifactRow => {
  const row = view.get(collections.artifacts, artifactId)
  if (row === undefined) throw missing()
  return row
}

/** Releases a held result to its task's readers. Nothing else of the row ever changes. */
export const adoptArtifact = (tx: Tx, artifactId: string): ArtifactRow => {
  const row: ArtifactRow = { ...requireArtifact(tx, artifactId), adopted: true }
  tx.put(collections.artifacts, artifactId, row)
  return row
}

/**
 * Drops an unadopted artifact's row. Returns the stored name, to be removed with
 * `store.artifacts.remove` once the transaction is durable; null when there is no such row.
 */
export const dropArtifact = (tx: Tx, artifactId: string): string | null => {
  const row = tx.get(collections.artifacts, artifactId)
  if (row === undefined) return null
  if (row.adopted) throw fail.conflict('artifact_adopted', 'An adopted artifact is never dropped.')
  tx.remove(collections.artifacts, artifactId)
  return row.ref.stored_sha256
}

/** The row of an artifact, if it may be read under a record type. */
const readable = (row: ArtifactRow | undefined, label: string, held: boolean): ArtifactRow => {
  if (row === undefined || row.label !== label || (!row.adopted && !held)) throw missing()
  return row
}

/**
 * The content of an artifact, verified against its row. Throws `not_found` for one that is
 * missing, of another record type, or not adopted (unless `held`); `damaged` when the sealed bytes
 * are missing, altered or not those of the row.
 */
export const readArtifact = (
  gov: Pick<Gov, 'store'>,
  view: View,
  artifactId: string,
  label: string,
  { held = false }: { readonly held?: boolean } = {},
): Buffer => readRegistered(gov, view.get(collections.artifacts, artifactId), label, { held })

/** The same of a row that was read; undefined: there is none. */
export const readRegistered = (
  gov: Pick<Gov, 'store'>, row: ArtifactRow | undefined, label: string,
  { held = false }: { readonly held?: boolean } = {},
): Buffer => gov.store.artifacts.read(label, readable(row, label, held).ref)

/**
 * Opens a registered pack (see `Artifacts.openPack`); close it when done. The checks are those of
 * `readArtifact`, body by body.
 */
export const openArtifactPack = (
  gov: Pick<Gov, 'store'>, view: View, artifactId: string, label: string,
  { held = false }: { readonly held?: boolean } = {},
): PackReader => {
  const row = view.get(collections.artifacts, artifactId)
  return gov.store.artifacts.openPack(label, readable(row, label, held).ref)
}

const rowsInPage = 256

/** Stored names that some row refers to; any other stored file belongs to no committed record. */
export const referencedArtifacts = (view: View): ReadonlySet<string> => {
  const names = new Set<string>()
  // A page at a time: of rows without number only the names are held.
  for (let after = ''; ;) {
    const page = view.range(collections.artifacts, { after, limit: rowsInPage })
    for (const { doc } of page) names.add(doc.ref.stored_sha256)
    if (page.length < rowsInPage) break
    after = page.at(-1)?.id ?? after
  }
  for (const { doc } of view.all(collections.credentials)) names.add(doc.artifact.stored_sha256)
  return names
}
