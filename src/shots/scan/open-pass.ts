/** The walk that a scan begins with, or why there is none. */
import { isoFromMs } from '../../base/clock.js'
import type { ShotsContext } from '../context.js'
import { transactCounted } from '../locked.js'
import { folderRow } from '../observations/observation-store.js'
import { shotCollections as c } from '../observations/observation-rows.js'
import {
  folderFailure, folderProblem, locateFolder, type ResolvedFolder,
} from '../source/folder.js'
import { requireFolderHere, takeFolder } from '../source/folder-machine.js'
import { ingestSettings } from '../source/settings.js'
import { makeExaminer } from './examiner.js'
import { loadKnownIndex } from './known-index.js'
import { writeLastTick } from './last-tick.js'
import { Pass } from './pass.js'
import { sortFiles } from './sort-files.js'
import { folderProblemNow } from './unmounted.js'
import { walkImageFolder, type Listing } from './walk.js'

/** How one scan is asked for. */
export interface ScanOptions {
  /** A folder instead of the configured one. */
  readonly folder?: string
  /** Files that may be read for the first time. */
  readonly limit?: number
  /** Names below the folder that notices were about since it was last asked, latin1. */
  readonly hints?: () => readonly string[]
  /** Told which subfolders were entered, latin1; null: none are, without recursion. */
  readonly onFolders?: (folders: readonly string[] | null) => void
}

/** A scan that cannot begin is told by `status` too; the same failure is written down once. */
const recordFailure = async (
  { gov }: ShotsContext, resolved: ResolvedFolder, reason: string,
): Promise<void> => {
  const { folder, folderDigest } = resolved
  const known = gov.store.read().get(c.folders, folderDigest)?.last_scan
  const now = isoFromMs(gov.clock.wallMs())
  writeLastTick(gov.store.runDir, folderDigest, { at: now, status: 'failed', scanned: 0 })
  if (known?.status === 'failed' && known.reason === reason) return
  await transactCounted(gov, 'shots scan', (tx) => {
    takeFolder(gov.store, tx, resolved)
    tx.put(c.folders, folderDigest, {
      ...folderRow(tx, folder, now),
      last_scan: { at: now, status: 'failed', reason, receipt_id: null },
    })
  })
}

const walked = (
  ctx: ShotsContext, resolved: ResolvedFolder, recursive: boolean,
): Listing | string => {
  const { folder } = resolved
  const problem = folderProblemNow(ctx, resolved)
  if (problem !== null) return problem
  try {
    return walkImageFolder(folder, recursive)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!/^E[A-Z0-9]+$/.test(code)) throw error
    return folderProblem(folder) ?? 'folder_unreadable'
  }
}

/** A walk that scans may work off, and what it was made with. */
export interface OpenPass {
  readonly resolved: ResolvedFolder
  readonly recursive: boolean
  readonly pass: Pass
}

/**
 * Walks a folder. Throws `rejected` where the folder may not be scanned, is another machine's, is
 * not there or cannot be read, `damaged` where the state is. Whoever opens a pass closes it.
 */
export const openPass = async (ctx: ShotsContext, options: ScanOptions = {}): Promise<OpenPass> => {
  const { store } = ctx.gov
  const view = store.read()
  const { saved, recursive } = ingestSettings(view, ctx.env)
  const input = options.folder === undefined ? {} : { folder: options.folder }
  const resolved = locateFolder(ctx, saved, input)
  const { folder, folderDigest } = resolved
  requireFolderHere(store, view, resolved)
  const listing = walked(ctx, resolved, recursive)
  if (typeof listing === 'string') {
    await recordFailure(ctx, resolved, listing)
    throw folderFailure(listing, resolved.source)
  }
  options.onFolders?.(recursive ? listing.folders : null)
  await ctx.gov.observer.at('scan.walked')
  const index = loadKnownIndex(store.runDir, view, store.storeId, folderDigest)
  const hints = new Set(options.hints?.() ?? [])
  const sorted = sortFiles(listing, { view, folder, folderDigest, index, hints })
  return { resolved, recursive, pass: new Pass(folder, listing, sorted, makeExaminer) }
}
