/**
 * Which folder is the image folder, and whether it may be one. First present wins: environment,
 * saved setting, default below the sealed workspace (S-051 to S-053); a folder given to one scan
 * comes before all. Too broad are the filesystem root, home, Desktop, Downloads, the workspace
 * root and the program's own folders, every folder that holds one of them, and everything inside
 * the own ones (S-057 to S-059). Names are compared in the form that the kernel gives them and by
 * device and inode, so that `..`, links, bind mounts and letter case hide nothing. A folder that
 * is refused is an error, never a reason to try the next source.
 */
import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { fail, type SallyportError } from '../../base/errors.js'
import { accountHome } from './account-home.js'
import { defaultFolder, shotLimits } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { folderDigestOf } from './folder-digest.js'
import { configuredFolder, type SavedShotSettings, type SettingSource } from './settings.js'
import { userDirsOf } from './user-dirs.js'

/** What the rule needs of the world. */
export type FolderWorld = Pick<ShotsContext, 'env' | 'home' | 'workspace' | 'ownFolders'>

/** Which source named the folder; `input` is a folder given to one scan. */
type FolderSource = 'input' | SettingSource

/** A folder that may be the image folder; `folder` is its canonical, absolute path. */
export interface ResolvedFolder {
  readonly folder: string
  readonly folderDigest: string
  readonly source: FolderSource
  /** True where a saved folder would count: nothing in the environment overrides it (S-111). */
  readonly editable: boolean
}

/** Why a folder is too broad: which place it is, holds or lies in. */
type BroadPlace =
  | 'filesystem_root' | 'home' | 'desktop' | 'downloads' | 'workspace' | 'own_folder'

interface Place {
  readonly name: BroadPlace
  readonly path: string
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

const realOf = (path: string): string => {
  const bytes = realpathSync.native(path, 'buffer')
  const text = bytes.toString('utf8')
  if (Buffer.from(text, 'utf8').equals(bytes)) return text
  throw folderError('folder_name_not_utf8', 'has a name that is not UTF-8')
}

const folderError = (code: string, what: string): SallyportError =>
  fail.rejected(code, `The screenshot folder ${what}.`, {
    next: 'Give the absolute path of the folder that holds the screenshots.',
  })

/** As the kernel names it; of what is not there (yet), the nearest part that is, and the rest. */
const canonicalOf = (text: string): string => {
  try {
    return realOf(text)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ELOOP') throw folderError('folder_unreachable', 'leads back to itself')
    if (code === 'ENAMETOOLONG') throw folderError('folder_name_too_long', 'has too long a name')
    if (code === 'ENOTDIR') throw folderError('folder_not_directory', 'is not a folder')
    if (code !== 'ENOENT' && code !== 'EACCES' && code !== 'EPERM') throw error
  }
  const plain = resolve(text)
  const parent = dirname(plain)
  return parent === plain ? plain : join(canonicalOf(parent), basename(plain))
}

/** The same without a complaint: a place that cannot be reached is known by its name alone. */
const quietly = (path: string): string => {
  try {
    return canonicalOf(path)
  } catch {
    return resolve(path)
  }
}

/** The folder and everything above it. */
const chainOf = (path: string): string[] => {
  const parent = dirname(path)
  return parent === path ? [path] : [path, ...chainOf(parent)]
}

/** Device and inode of a path; null for what is not there. */
type Identify = (path: string) => string | null

const identityOf: Identify = (path) => {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return null
  }
}

/** Desktop and Downloads as the desktop's own settings file names them. */
const userDirs = (world: FolderWorld): Place[] => {
  const named = userDirsOf(world)
  return [
    ...named('XDG_DESKTOP_DIR').map((path): Place => ({ name: 'desktop', path })),
    ...named('XDG_DOWNLOAD_DIR').map((path): Place => ({ name: 'downloads', path })),
  ]
}

/** Homes: the one of this run, and that of the account when a variable names another. */
const homesOf = ({ env, home }: FolderWorld): string[] => {
  const homes = [home, env['HOME'] ?? '', accountHome() ?? '']
  return [...new Set(homes.filter((one) => isAbsolute(one)))]
}

const placesOf = (world: FolderWorld): Place[] => [
  { name: 'filesystem_root', path: '/' },
  ...homesOf(world).flatMap((home): Place[] => [
    { name: 'home', path: home },
    { name: 'desktop', path: join(home, 'Desktop') },
    { name: 'downloads', path: join(home, 'Downloads') },
  ]),
  ...userDirs(world),
  { name: 'workspace', path: world.workspace },
  ...world.ownFolders.map((path): Place => ({ name: 'own_folder', path })),
]

const present = (ids: (string | null)[]): string[] => ids.filter((id) => id !== null)

/** A folder in all the ways in which two of them can turn out to be the same. */
interface Forms {
  /** Names, canonical and as written. */
  readonly names: ReadonlySet<string>
  readonly ids: ReadonlySet<string>
}

const formsOf = (paths: readonly string[], identify: Identify): Forms => ({
  // A name that is not there may still be another spelling of one: letter case decides nothing.
  names: new Set(paths.flatMap((path) =>
    (identify(path) === null ? [path, path.toLowerCase()] : [path]))),
  ids: new Set(present(paths.map(identify))),
})

const meet = (a: Forms, b: Forms): boolean =>
  [...a.names].some((name) => b.names.has(name)) || [...a.ids].some((id) => b.ids.has(id))

/** Looks at each path once: most of what lies above one place lies above the others, too. */
const identifyOnce = (): Identify => {
  const seen = new Map<string, string | null>()
  return (path) => {
    const known = seen.get(path)
    if (known !== undefined) return known
    const identity = identityOf(path)
    seen.set(path, identity)
    return identity
  }
}

/** Which place makes a folder too broad; null where none does. */
const broadPlaceOf = (world: FolderWorld, folder: string): BroadPlace | null => {
  const written = [...new Set([resolve(folder), canonicalOf(folder)])]
  const identify = identifyOnce()
  const itself = formsOf(written, identify)
  const within = formsOf(written.flatMap(chainOf), identify)
  for (const { name, path } of placesOf(world)) {
    const forms = [...new Set([resolve(path), quietly(path)])]
    if (meet(itself, formsOf(forms.flatMap(chainOf), identify))) return name
    if (name === 'own_folder' && meet(within, formsOf(forms, identify))) return name
  }
  return null
}

const placeTexts: Readonly<Record<BroadPlace, string>> = {
  filesystem_root: 'the root of the file system',
  home: 'the home folder, or a folder that holds it',
  desktop: 'the Desktop folder, or a folder that holds it',
  downloads: 'the Downloads folder, or a folder that holds it',
  workspace: 'the workspace root, or a folder that holds it',
  own_folder: "one of the program's own folders, or holds one or lies in one",
}

const sourceTexts: Readonly<Record<FolderSource, string>> = {
  input: 'The folder that was given',
  environment: 'The folder that the environment names',
  settings: 'The saved screenshot folder',
  default: 'The default screenshot folder',
}

/**
 * The canonical path of a folder that may be the image folder; it need not be there yet. Throws
 * `rejected`: `broad_root`, `folder_relative`, `folder_invalid`, `folder_not_directory`, ….
 */
export const judgeFolder = (world: FolderWorld, text: string, source: FolderSource): string => {
  if (text === '' || text.includes('\0')) throw folderError('folder_invalid', 'is not a path')
  if (Buffer.byteLength(text) > shotLimits.nameBytesMax) {
    throw folderError('folder_name_too_long', 'has too long a name')
  }
  if (!isAbsolute(text)) throw folderError('folder_relative', 'must be an absolute path')
  const broad = broadPlaceOf(world, text)
  if (broad !== null) {
    throw fail.rejected('broad_root', `${sourceTexts[source]} is ${placeTexts[broad]}.`, {
      reason: 'rule',
      next: 'Choose a folder of its own for screenshots; a folder below these is fine.',
      details: { source, broad },
    })
  }
  return canonicalOf(text)
}

const sourceOf = (
  world: FolderWorld, saved: SavedShotSettings, folder: string | undefined,
): { readonly text: string; readonly source: FolderSource } => {
  if (folder !== undefined) return { text: folder, source: 'input' }
  const configured = configuredFolder(saved, world.env)
  const text = configured.text ?? join(world.workspace, defaultFolder)
  return { text, source: configured.source }
}

/** Whether a saved folder would count (S-111). */
export const folderEditable = ({ env }: Pick<FolderWorld, 'env'>): boolean =>
  (env['SVC_SCREENSHOT_FOLDER'] ?? '') === ''

/** The folder that is in force, there or not. Throws `rejected` where it may not be one. */
export const locateFolder = (
  world: FolderWorld, saved: SavedShotSettings, input: { readonly folder?: string } = {},
): ResolvedFolder => {
  const { text, source } = sourceOf(world, saved, input.folder)
  const folder = judgeFolder(world, text, source)
  return { folder, folderDigest: folderDigestOf(folder), source, editable: folderEditable(world) }
}

/** What stands in the way of reading a folder: `folder_missing`, …; null when it is a folder. */
export const folderProblem = (folder: string): string | null => {
  try {
    return statSync(folder).isDirectory() ? null : 'folder_not_directory'
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT') return 'folder_missing'
    return code === 'ENOTDIR' ? 'folder_not_directory' : 'folder_unreadable'
  }
}

const problemTexts: Readonly<Record<string, string>> = {
  folder_missing: 'is not there (yet)',
  folder_not_directory: 'is not a folder',
  folder_unreadable: 'cannot be read',
  folder_unmounted: 'is empty, on another disk than its images were; is that one mounted',
}

/**
 * Refuses a folder that cannot be read in the place of a saved one that can: by a mistyped name
 * every scan would stop. Throws `rejected` `folder_missing`, ….
 */
export const requireNoWorse = (saved: string | null, folder: string): void => {
  if (saved === null || saved === folder || folderProblem(saved) !== null) return
  const problem = folderProblem(folder)
  if (problem === null) return
  const what = problemTexts[problem] ?? 'cannot be used'
  throw fail.rejected(problem, `The folder that was given ${what}.`, {
    reason: problem, next: 'Make it first. Until then the saved one stays.',
  })
}

/** Whether a reason is one that `folderProblem` gives. */
export const isFolderProblem = (reason: string): boolean => Object.hasOwn(problemTexts, reason)

/** The one failure of every verb over a folder with such a problem; `source` null: not told. */
export const folderFailure = (problem: string, source: FolderSource | null): SallyportError =>
  fail.rejected(problem, `${source === null ? 'The screenshot folder' : sourceTexts[source]} ${
    problemTexts[problem] ?? 'cannot be used'}.`, {
    reason: problem,
    next: problem === 'folder_unmounted'
      ? 'Mount that disk. Where the folder is another one by now, an image in it ends this.'
      : source === 'default'
      ? 'Make the folder, or name another: `sallyport shots setup --folder DIR`.'
      : 'Look at what is in force: `sallyport shots status`.',
    details: { source },
  })
