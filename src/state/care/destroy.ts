/**
 * Removing a whole state directory, whatever is in it that this program made. First a note takes
 * the place of STATE, in one rename: before it there is a whole state, behind it none. The note
 * goes last, when the removal of all else is durable, so that a run that was cut off is known for
 * what it is and goes on. Key, anchor and stops lie elsewhere and are not touched.
 */
import { join, relative } from 'node:path'
import { isoFromMs } from '../../base/clock.js'
import { fail, type SallyportError } from '../../base/errors.js'
import { destructionAt, encodeDestruction } from '../destruction.js'
import { errnoOf, orIoFailure, publish, removeFile, syncDir } from '../files.js'
import { whileAlone } from '../fold-lock.js'
import { entriesBelow } from '../own-entries.js'
import { partsOf } from '../paths.js'
import { siteOf, type Site, type StatePlace } from './use-case.js'

/** What the removal asks and tells. */
export interface DestroyOptions extends StatePlace {
  readonly storeId: string
  /**
   * Judges once more, while nobody else writes or folds, and closes what is open of the state; what
   * it throws leaves the state as it was.
   */
  readonly lastLook: () => void
  /** Is told of each step. */
  readonly at: (step: string) => Promise<void>
}

/** What was removed, and what was not. */
export interface Destroyed {
  readonly files: number
  readonly bytes: number
  /** Entries of somebody else, which stay. */
  readonly foreign: readonly string[]
  /** Whether the directory itself went. */
  readonly directory: boolean
}

const what = 'destroying the state'

/** Throws `locked` `lock_held`, what `lastLook` throws, `failed` `destruction_unfinished`, disk. */
export const destroyState = async (options: DestroyOptions): Promise<Destroyed> => {
  const site = siteOf(options)
  const { files, places, clock } = site
  return whileAlone(site, 'state destroy', async () => {
    options.lastLook()
    if (destructionAt(files, site.dir) === undefined) {
      const note = { store_id: options.storeId, begun_at: isoFromMs(clock.wallMs()) }
      orIoFailure(what, () => publish(files, places.state, encodeDestruction(note)))
    }
    await options.at('begun')
    return await removeAll(site, options.at)
  })
}

/** What stays although it is ours, and why. */
interface Kept {
  readonly name: string
  readonly errno: string
}

/** Runs one removal; what the system says where it does not go. */
const refusalOf = (remove: () => void): string | null => {
  try {
    remove()
    return null
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === '') throw error
    return errno === 'ENOENT' ? null : errno
  }
}

/** The two that keep others out, and the note: they go last. */
const lastOnes = ['fold', 'lock', 'STATE'] as const

const isLast = (name: string): boolean => (lastOnes as readonly string[]).includes(name)

/**
 * What keeps the removal from its end. A folder that holds something of somebody else does not,
 * save one that a directory is taken for a state by.
 */
const hindering = ({ files, places, dir }: Site, kept: readonly Kept[]): readonly Kept[] => [
  ...kept.filter(({ errno }) => errno !== 'ENOTEMPTY'),
  ...partsOf(places).filter((path) => path !== places.state && files.stat(path) !== undefined)
    .map((path) => ({ name: relative(dir, path), errno: 'ENOTEMPTY' })),
]

/** Most names that a refusal lists. */
const namedMax = 20

const listed = (names: readonly string[]): string => names.slice(0, namedMax).join(', ')

const unfinished = (kept: readonly Kept[], foreign: readonly string[]): SallyportError =>
  fail.failed('destruction_unfinished', 'The state was destroyed in part: some of it is left.', {
    next: 'Look at what is named, move away what is not Sallyport\'s, then run '
      + '`sallyport state destroy` again: it goes on.',
    details: {
      errno: kept[0]?.errno ?? '', left: listed(kept.map(({ name }) => name)),
      left_in_all: kept.length, foreign: listed(foreign),
    },
  })

/** Our entries, inner ones first, each tried once. */
const removeEntries = async (
  { files, dir }: Site, at: DestroyOptions['at'], gone: { files: number; bytes: number },
  kept: Kept[], foreign: string[],
): Promise<void> => {
  for (const { name, kind, bytes, isOwn } of entriesBelow(files, dir)) {
    if (!isOwn) foreign.push(name)
    if (!isOwn || isLast(name)) continue
    const path = join(dir, name)
    const errno = refusalOf(() => (kind === 'dir' ? files.rmdir(path) : files.unlink(path)))
    if (errno !== null) kept.push({ name, errno })
    else if (kind === 'file') [gone.files, gone.bytes] = [gone.files + 1, gone.bytes + bytes]
    if (!name.includes('/')) await at(`gone_${name}`)
  }
}

/** Where even a folder cannot be listed, that folder is what is left. */
const unlisted = (error: unknown, dir: string): Kept => {
  const errno = errnoOf(error)
  if (errno === '') throw error
  const { path } = error as NodeJS.ErrnoException
  return { name: path === undefined ? '.' : relative(dir, path), errno }
}

const removeAll = async (site: Site, at: DestroyOptions['at']): Promise<Destroyed> => {
  const { files, dir } = site
  const [kept, foreign]: [Kept[], string[]] = [[], []]
  const gone = { files: 0, bytes: 0 }
  try {
    await removeEntries(site, at, gone, kept, foreign)
  } catch (error) {
    kept.unshift(unlisted(error, dir))
  }
  const left = hindering(site, kept)
  if (left.length > 0) throw unfinished(left, foreign)
  orIoFailure(what, () => syncDir(files, dir))
  await at('emptied')
  for (const name of lastOnes) orIoFailure(what, () => removeFile(files, join(dir, name)))
  orIoFailure(what, () => syncDir(files, dir))
  await at('ended')
  return { ...gone, foreign, directory: removeDirectory(site) }
}

/** The directory itself, unless something is left in it, or it is a link or somebody's mount. */
const removeDirectory = ({ files, dir }: Site): boolean => {
  if (files.stat(dir)?.kind !== 'dir' || files.list(dir).length > 0) return false
  return refusalOf(() => files.rmdir(dir)) === null
}
