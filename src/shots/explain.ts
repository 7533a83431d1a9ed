/**
 * What became of one file and why, or what a scan would do with it. From rows and one look at the
 * file's facts: no content is read, no byte is changed, nobody is contacted.
 */
import { lstatSync, readdirSync, realpathSync, type BigIntStats } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import { closedObject, nullableText, text } from '../base/schema.js'
import { imageLimits, visualLimit } from '../images/image-limits.js'
import type { View } from '../state/types.js'
import { shotLimits } from './constants.js'
import { differenceUnits } from './explain-reasons.js'
import type { ShotsContext } from './context.js'
import { currentFacts, type CurrentFacts } from './observations/as-of-now.js'
import { listedOf, listedShape } from './observations/facts.js'
import { fileIdOf } from './observations/observation-store.js'
import { folderDigestOf } from './source/folder-digest.js'
import {
  shotCollections as c, type FileName, type Observation, type SeenFile,
} from './observations/observation-rows.js'
import { fileNameOf } from './scan/names.js'
import { needsReading } from './scan/needs-reading.js'
import { exactFactsOf } from './scan/read-once.js'
import { isSameFile } from './scan/same-file.js'
import { imageFolders } from './source/folder-machine.js'
import { ignoredOf } from './source/ignored.js'
import { isRecursive, savedSettings } from './source/settings.js'

/** What a scan of the folder would do with the file as it is now. */
const scanWould = [
  'skip_known', 'read', 'refuse_unread', 'not_look_at_it', 'find_nothing',
] as const

const explanationShape = v.strictObject({
  path: text,
  path_bytes_base64: nullableText,
  /** The folder whose rows were asked; null where no folder that is in force or known holds it. */
  root: nullableText,
  /** Whether it is the folder in force. */
  current_root: v.boolean(),
  /** What became of it when it was read; `never_seen` where it never was. */
  outcome: v.picklist(['ingested', 'duplicate', 'suppressed', 'rejected', 'never_seen']),
  reason: nullableText,
  /** Why the picture could not be looked into (`truncated`, …); null where it could. */
  decode_reason: nullableText,
  seen_at: nullableText,
  sha256: nullableText,
  /**
   * The visual gate: the largest difference of any cell to the representative, in levels of 255,
   * the limit up to which files are alike, and the side of a cell. Null where it never measured.
   */
  visual_gate: v.nullable(v.strictObject({
    measure: v.nullable(v.number()), limit: v.number(), cell_pixels: v.number(),
    /** Corner of the cell that differs most, in pixels from the top left; null for none. */
    cell: v.nullable(v.strictObject({ x_pixels: v.number(), y_pixels: v.number() })),
    /**
     * The two whole pictures, where they were compared: the SHA-256 of the representative's, and of
     * repeats the largest difference; null where they are none. A JPEG's is that of a coefficient.
     */
    compared: v.nullable(v.strictObject({
      representative_sha256: text, difference: v.nullable(v.number()),
      unit: v.picklist(differenceUnits),
    })),
    /**
     * What did not count: the areas, where they are still the ones that are ignored of its size;
     * null where every pixel counted.
     */
    ignored: v.nullable(v.strictObject({ in_force: v.boolean(), areas: v.array(text) })),
  })),
  /** The observation that it is, duplicates or was suppressed for. */
  observation: v.nullable(listedShape),
  now: v.strictObject({
    exists: v.boolean(),
    /** Size, a time or inode differ from what was read; null where nothing was. */
    changed: v.nullable(v.boolean()),
    scan_would: v.picklist(scanWould),
    why: text,
  }),
})
/** What became of one file, and what a scan would do with it now. */
export type Explanation = v.InferOutput<typeof explanationShape>

/** Explaining the file of an absolute path. */
export const shotsExplain = contract({
  name: 'shots.explain',
  input: closedObject({ path: v.string() }),
  output: explanationShape,
})

interface Found {
  /** Absolute, with the folder in the kernel's form. */
  readonly path: string
  readonly bytes: Buffer
  readonly stat: BigIntStats | null
}

const statOf = (path: Buffer): BigIntStats | null => {
  try {
    return lstatSync(path, { bigint: true })
  } catch {
    return null
  }
}

const realFolder = (folder: string): string => {
  try {
    return realpathSync.native(folder)
  } catch {
    return folder
  }
}

/** A name that is not UTF-8 reached us garbled: the folder is asked which one it may be. */
const nameBytesOf = (folder: string, name: string): Buffer => {
  const plain = Buffer.from(name)
  if (!name.includes('\ufffd')) return plain
  try {
    const names = readdirSync(Buffer.from(folder), { encoding: 'buffer' })
    return names.find((one) => one.toString('utf8') === name) ?? plain
  } catch {
    return plain
  }
}

/** The file itself is not followed where it is a link; its folder is. */
const lookAt = (path: string): Found => {
  const folder = realFolder(dirname(path))
  const name = nameBytesOf(folder, basename(path))
  const bytes = Buffer.concat([Buffer.from(join(folder, '/')), name])
  return { path: join(folder, basename(path)), bytes, stat: statOf(bytes) }
}

const nameBelow = (folder: string, { bytes }: Found): FileName =>
  fileNameOf(bytes.subarray(Buffer.byteLength(join(folder, '/'))).toString('latin1'))

const isBelow = (folder: string, path: string): boolean => {
  const rest = relative(folder, path)
  return rest !== '' && !rest.startsWith('..')
}

/** Folders that may have seen it: the one in force first, then known ones, the nearest first. */
const foldersFor = (view: View, found: Found, current: string | null): string[] => {
  const known = imageFolders(view).map(({ root }) => root)
    .sort((a, b) => b.length - a.length)
  return [...new Set([...current === null ? [] : [current], ...known])]
    .filter((folder) => isBelow(folder, found.path))
}

interface Seen {
  readonly folder: string | null
  readonly row: SeenFile | undefined
}

const seenOf = (view: View, found: Found, folders: readonly string[]): Seen => {
  for (const folder of folders) {
    const row = view.get(c.files, fileIdOf(folderDigestOf(folder), nameBelow(folder, found)))
    if (row !== undefined) return { folder, row }
  }
  return { folder: folders[0] ?? null, row: undefined }
}

const isChanged = (row: SeenFile, stat: BigIntStats): boolean =>
  !isSameFile(row, exactFactsOf(stat))

type Would = Pick<Explanation['now'], 'scan_would' | 'why'>

const extension = /\.(?:png|jpe?g)$/i
const ignore = (why: string): Would => ({ scan_would: 'not_look_at_it', why })

const unselected = (
  found: Found, stat: BigIntStats, folder: string | null, recursive: boolean,
): Would | null => {
  if (folder === null) return ignore('it lies below no image folder that is in force or known')
  if (stat.isSymbolicLink()) return ignore('it is a link, and links are not followed')
  if (!stat.isFile()) return ignore('it is not a regular file')
  const parts = relative(folder, found.path).split('/')
  if (!extension.test(basename(found.path))) {
    return ignore('its name does not end in .png, .jpg or .jpeg')
  }
  if (parts.some((part) => part.startsWith('.'))) {
    return ignore('its name, or that of a folder on the way, begins with a dot')
  }
  if (parts.length > 1 && !recursive) {
    return ignore('it lies in a subfolder, and recursive is off')
  }
  return parts.length - 1 > shotLimits.recursiveDepthMax
    ? ignore(`it lies deeper than ${shotLimits.recursiveDepthMax} folders`) : null
}

const whyRead = (again: boolean, changed: boolean | null): string => {
  if (again) return 'the image that it led to is archived, was missed or lies in another folder'
  return changed === true ? 'it changed since it was read' : 'it was never read'
}

/** What is known of a file, and the observation that it led to. */
interface Looked extends Seen {
  readonly observation: Observation | undefined
}

const wouldOf = (
  found: Found, { folder, row, observation }: Looked, recursive: boolean,
): Explanation['now'] => {
  const { stat } = found
  if (stat === null) {
    const why = 'there is no such file'
    return { exists: false, changed: null, scan_would: 'find_nothing', why }
  }
  const changed = row === undefined ? null : isChanged(row, stat)
  const facts = { exists: true, changed }
  const aside = unselected(found, stat, folder, recursive)
  if (aside !== null) return { ...facts, ...aside }
  const again = changed === false && row !== undefined && needsReading(row, observation)
  if (changed === false && !again) {
    return { ...facts, scan_would: 'skip_known', why: 'it is known and has not changed since' }
  }
  if (stat.size > BigInt(shotLimits.imageBytesMax)) {
    return {
      ...facts, scan_would: 'refuse_unread',
      why: `it has more than ${shotLimits.imageBytesMax} bytes`,
    }
  }
  return { ...facts, scan_would: 'read', why: whyRead(again, changed) }
}

/** Like images are of one format: that of the observation that the file led to. */
const unitOf = (observation: Observation | undefined): typeof differenceUnits[number] =>
  differenceUnits[observation?.format === 'jpeg' ? 1 : 0]

/** The areas that did not count, as far as they are known: a row keeps their digest alone. */
const ignoredFor = (
  view: View, row: SeenFile, observation: Observation | undefined,
): NonNullable<Explanation['visual_gate']>['ignored'] => {
  if (row.ignored_sha256 === undefined) return null
  const { ignore } = savedSettings(view)
  const { width = null, height = null } = observation ?? {}
  const inForce = ignoredOf(ignore)(width, height)?.sha256 === row.ignored_sha256
  const size = `${width}x${height}:`
  const areas = inForce ? (ignore ?? []).filter((area) => area.startsWith(size)) : []
  return { in_force: inForce, areas }
}

const gateOf = (
  view: View, row: SeenFile | undefined, observation: Observation | undefined,
): Explanation['visual_gate'] => {
  if (row === undefined || (row.measure === null && row.outcome !== 'suppressed')) return null
  const { cellPixels } = imageLimits
  const cell = row.cell === undefined
    ? null : { x_pixels: row.cell.x * cellPixels, y_pixels: row.cell.y * cellPixels }
  return {
    measure: row.measure, limit: visualLimit, cell_pixels: cellPixels, cell,
    compared: row.compared === undefined ? null : { ...row.compared, unit: unitOf(observation) },
    ignored: ignoredFor(view, row, observation),
  }
}

const nowOf = (
  view: View, found: Found, looked: Looked, { elsewhere }: CurrentFacts,
): Explanation['now'] => {
  const { folder } = looked
  if (folder !== null && elsewhere?.has(folderDigestOf(folder)) === true) {
    const why = 'its folder lies on another machine'
    return { exists: found.stat !== null, changed: null, ...ignore(why) }
  }
  return wouldOf(found, looked, isRecursive(savedSettings(view)))
}

/** Explains a file by its absolute path. */
export const explainPath = (ctx: ShotsContext, view: View, path: string): Explanation => {
  const now = currentFacts(ctx, view)
  const found = lookAt(path)
  const seen = seenOf(view, found, foldersFor(view, found, now.folder))
  const { row } = seen
  const observation = row?.observation_id === undefined || row.observation_id === null
    ? undefined : view.get(c.observations, row.observation_id)
  const exact = Buffer.from(found.path).equals(found.bytes)
  return {
    path: found.path,
    path_bytes_base64: exact ? null : found.bytes.toString('base64'),
    root: seen.folder,
    current_root: seen.folder !== null && seen.folder === now.folder,
    outcome: row?.outcome ?? 'never_seen',
    reason: row?.reason ?? null,
    decode_reason: row?.flaw ?? null,
    seen_at: row?.seen_at ?? null,
    sha256: row?.sha256 ?? null,
    visual_gate: gateOf(view, row, observation),
    observation: observation === undefined ? null : listedOf(observation, now),
    now: nowOf(view, found, { ...seen, observation }, now),
  }
}
