/**
 * Reads everything and says what is wrong. Takes no lock and changes no byte; a finding that may
 * be another process at work is looked at again before it is reported.
 */
import { join } from 'node:path'
import { SallyportError } from '../../base/errors.js'
import { storedPath } from '../artifact-folder.js'
import { storedNames } from '../artifacts.js'
import { pendingProblems } from './check-pending.js'
import { placeProblems } from './check-places.js'
import { digestFile } from './copy.js'
import { checkGeneration, damage, notice } from './check-generation.js'
import { readEnd } from '../ended-at.js'
import { isTemporary, readWhole, namesIn, type Files } from '../files.js'
import { fileBytesMax } from '../limits.js'
import { formatVersion, keyPlaces, oldestFormatVersion } from '../paths.js'
import { keptArtifacts } from './kept.js'
import { salvage } from './salvage.js'
import { refuseDestroyed } from '../destruction.js'
import {
  decodeStateFile, readStateFile, tooNew, tooOld, isStateIn, type StateFile,
} from '../state-file.js'
import { FileStore } from '../file-store.js'
import type { AnchorStatus, CollectionSpec, Problem, View } from '../types.js'
import { careFailure } from './unreadable.js'
import { siteOf, type Site, type StatePlace } from './use-case.js'

/** What to check beside the directory itself. */
export interface CheckOptions extends StatePlace {
  /** Every known collection: stored documents must have its shape. */
  readonly specs?: readonly CollectionSpec<unknown>[]
  /** Rules of upper layers over the documents (a ledger that balances, a chained audit, …). */
  readonly extra?: readonly ((view: View) => readonly Problem[])[]
  /** Names of stored artifacts that the documents refer to. */
  readonly referenced?: (view: View) => ReadonlySet<string>
}

/** What a check found. `ok`: nothing but notices and torn ends, which the next write cuts. */
export interface CheckReport {
  readonly ok: boolean
  readonly store_id: string | null
  readonly epoch: number | null
  readonly sequence: number | null
  readonly log_records: number
  readonly documents: number
  readonly artifacts: number
  readonly anchor: AnchorStatus | null
  readonly problems: readonly Problem[]
}

/** Whether nothing but notices was found, and torn ends, which the next write cuts. */
export const isSound = (problems: readonly Problem[]): boolean =>
  problems.every(({ severity }) => severity === 'notice' || severity === 'torn')

const attemptsMax = 3

/** Whole collections pass by: blocks that were kept for long would only be garbage that is old. */
const cachedBytes = 1024 * 1024

/** Checks a state directory. `no_state` when there is none; anything else is in the report. */
export const checkState = (options: CheckOptions): CheckReport => {
  const site = siteOf(options)
  try {
    for (let attempt = 1; ; attempt += 1) {
      const before = fingerprint(site)
      const report = checkOnce(site, options)
      if (report.ok || attempt >= attemptsMax || fingerprint(site) === before) return report
    }
  } catch (error) {
    throw careFailure(error, 'checking the state', site)
  }
}

/** Changes whenever a process commits or folds. */
const fingerprint = ({ files, places }: Site): string =>
  [places.wal, places.collections].flatMap((folder) => {
    if (files.stat(folder)?.kind !== 'dir') return []
    return files.list(folder)
      .map((name) => `${name}:${files.stat(join(folder, name))?.size ?? 0}`)
  }).join(',')

const checkOnce = (site: Site, options: CheckOptions): CheckReport => {
  const misplaced = placeProblems(site)
  if (misplaced.length > 0) return unread(misplaced)
  const problems: Problem[] = []
  const state = checkStateFile(site, problems)
  if (state !== undefined && state.format_version < oldestFormatVersion) {
    noteFailure(tooOld(state.format_version), problems)
    return { ...unread(problems), store_id: state.store_id }
  }
  if (state !== undefined && state.format_version > formatVersion) {
    // What this program does not know is no damage: no repair of this version may look at it.
    noteFailure(tooNew(state.format_version), problems)
    return { ...unread(problems), store_id: state.store_id }
  }
  checkModes(site, problems)
  problems.push(...pendingProblems(site))
  checkKeyFolder(site, state?.store_id, problems)
  const { files, places } = site
  const ended = readEnd(files, places)
  const found = salvage(files, places)
  const isReplica = state?.kept_in === 'place'
  const generation = checkGeneration(
    site, { found, ended, isReplica }, options.specs ?? [], problems)
  checkLeftovers(site, problems)
  const artifacts = checkArtifacts(site, problems)
  checkKept(site, problems)
  const anchor = state === undefined ? null : checkWithStore(site, options, problems)
  return {
    ok: isSound(problems),
    ...generation,
    store_id: state?.store_id ?? generation.store_id,
    artifacts,
    anchor,
    problems,
  }
}

const checkStateFile = ({ files, places }: Site, problems: Problem[]): StateFile | undefined => {
  const bytes = readWhole(files, places.state, fileBytesMax.state)
  if (bytes === undefined && !isStateIn(files, places)) readStateFile(files, places.state)
  refuseDestroyed(bytes)
  const state = bytes === undefined ? undefined : decodeStateFile(bytes)
  if (state === undefined) {
    problems.push(damage('state_file_damaged', 'STATE is missing or untrue.', 'STATE'))
  }
  return state
}

const checkModes = ({ files, dir, places }: Site, problems: Problem[]): void => {
  for (const [path, mode] of [
    [dir, 0o700], [places.state, 0o600], [places.wal, 0o700], [places.collections, 0o700],
    [places.artifacts, 0o700], [places.run, 0o700], [places.witness, 0o600], [places.lock, 0o600],
  ] as const) {
    const facts = files.stat(path)
    const name = path === dir ? '.' : path.slice(dir.length + 1)
    if (facts === undefined) {
      if (path !== places.state) {
        problems.push(notice('entry_missing', 'An entry of the state directory is missing.', name))
      }
    } else if ((facts.mode & ~mode) !== 0) {
      problems.push(notice('mode_open', 'Others than the owner may reach an entry.', name))
    }
  }
}

/** The modes that `doctor` names too, and what dead processes left beside key and anchor. */
const checkKeyFolder = (
  { files, configDir }: Site, storeId: string | undefined, problems: Problem[],
): void => {
  const { dir, key, anchor } = keyPlaces(configDir, storeId ?? '')
  const own = storeId === undefined ? [] : [[key, 0o600], [anchor, 0o600]] as const
  for (const [path, mode] of [[configDir, 0o700], [dir, 0o700], ...own] as const) {
    const facts = files.stat(path)
    if (facts === undefined || (facts.mode & ~mode) === 0) continue
    const name = path === configDir ? 'key folder' : path.slice(configDir.length + 1)
    problems.push(notice('mode_open', 'Others than the owner may reach an entry.', name))
  }
  const left = temporariesIn(files, dir).length
  if (left > 0) {
    const text = `${left} temporary files of dead processes remain.`
    problems.push(notice('key_leftovers', text, 'keys'))
  }
}

/** The report on a directory of which nothing more can be read. */
const unread = (problems: readonly Problem[]): CheckReport => ({
  ok: false, store_id: null, epoch: null, sequence: null, log_records: 0,
  documents: 0, artifacts: 0, anchor: null, problems,
})

const temporariesIn = (files: Files, dir: string): string[] =>
  namesIn(files, dir).filter(isTemporary)

const checkLeftovers = ({ files, places }: Site, problems: Problem[]): void => {
  const left = [places.wal, places.collections].flatMap((dir) => temporariesIn(files, dir)).length
  if (left > 0) {
    problems.push(notice('leftovers', `${left} temporary files of dead processes remain.`))
  }
}

const checkArtifacts = ({ files, places }: Site, problems: Problem[]): number => {
  const names = storedNames(files, places.artifacts)
  for (const name of names) {
    const path = storedPath(places.artifacts, name)
    const kind = files.stat(path)?.kind
    if (kind === undefined) continue
    if (kind !== 'file' || digestFile(files, path).sha256 !== name) {
      problems.push(damage('artifact_damaged', 'A stored artifact does not match its name.', name))
    }
  }
  return names.length
}

/** What a person may look through and remove by name; nothing else ever removes it. */
const checkKept = ({ files, dir }: Site, problems: Problem[]): void => {
  const kept = keptArtifacts(dir, files).length
  if (kept > 0) {
    problems.push(notice('artifacts_kept',
      `${kept} artifacts without a record are kept aside: \`sallyport state prune --show\` lists `
        + 'them.'))
  }
}

const anchorProblem = (status: AnchorStatus): Problem => ({
  code: `anchor_${status}`,
  severity: 'blocked',
  message: `The anchor outside the state directory says: ${status}. Nothing may be contacted.`,
})

const tornAnchor: Problem = {
  code: 'anchor_torn', severity: 'torn',
  message: 'A slot of the anchor was torn while a mark was written; the next write completes it.',
}

/** The checks that need an opened store: key, profile, anchor, witness, rules of upper layers. */
const checkWithStore = (
  site: Site, options: CheckOptions, problems: Problem[],
): AnchorStatus | null => {
  let store: FileStore
  try {
    store = new FileStore({ ...options, mode: 'read', cachedBytes })
  } catch (error) {
    return noteFailure(error, problems)
  }
  try {
    const keyAt = keyPlaces(site.configDir, store.storeId).key
    if (site.files.stat(keyAt) === undefined) {
      problems.push({
        code: 'key_missing', severity: 'blocked', message: 'The key file is missing.',
      })
    } else {
      noteFailures(problems, () => store.profile)
    }
    const { status, torn } = store.anchor()
    if (status !== 'ok') problems.push(anchorProblem(status))
    else if (torn) problems.push(tornAnchor)
    if (store.witness.torn()) {
      problems.push({
        code: 'witness_torn', severity: 'torn', message: 'The witness log ends in a torn line.',
      })
    }
    const view = store.read()
    for (const extra of options.extra ?? []) {
      noteFailures(problems, () => problems.push(...extra(view)))
    }
    if (options.referenced !== undefined) {
      const { referenced } = options
      const named = (): ReadonlySet<string> => referenced(store.read())
      noteFailures(problems, () => checkReferences(site, named, problems))
    }
    return status
  } catch (error) {
    return noteFailure(error, problems)
  } finally {
    store.close()
  }
}

/** Notes what the program found itself; what the disk says may pass, and is thrown. */
const noteFailure = (error: unknown, problems: Problem[]): null => {
  if (!(error instanceof SallyportError) || error.kind === 'failed') throw error
  if (!problems.some(({ code }) => code === error.code)) {
    const severity = error.kind === 'blocked' ? 'blocked' : 'damage'
    problems.push({ ...damage(error.code, error.message), severity })
  }
  return null
}

const noteFailures = (problems: Problem[], fn: () => unknown): void => {
  try {
    fn()
  } catch (error) {
    noteFailure(error, problems)
  }
}

/** `named`: what the documents refer to at this moment. */
const checkReferences = (
  { files, places }: Site, named: () => ReadonlySet<string>, problems: Problem[],
): void => {
  const referenced = named()
  const stored = new Set(storedNames(files, places.artifacts))
  const lacking = [...referenced].filter((name) => !stored.has(name))
  // Others go on meanwhile: a row may be gone by now, and its file with it.
  const still = lacking.length === 0 ? referenced : named()
  for (const name of lacking.filter((one) => still.has(one))) {
    problems.push(damage('evidence_missing', 'A referenced artifact is missing.', name))
  }
  const orphans = [...stored].filter((name) => !referenced.has(name)).length
  if (orphans > 0) {
    problems.push(notice('artifact_orphans', `${orphans} stored artifacts have no record.`))
  }
}
