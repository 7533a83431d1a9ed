/**
 * What is in an image folder: regular files whose extension says that they may be an image (S-001).
 * Links are not followed, names that begin with a dot are left out, and nothing is opened. A folder
 * of 100,000 files is walked with one `lstat` a file and no object kept for any of them.
 */
import {
  closeSync, constants, fstatSync, lstatSync, openSync, opendirSync, statSync, type Dir,
  type Dirent,
} from 'node:fs'
import { thisPlatform } from '../../base/platform/this-platform.js'
import { shotLimits } from '../constants.js'
import { nameAlone, pathBelow } from './names.js'

/** Facts of a file that say whether it is still the one that was read. */
export interface FileStamp {
  readonly size: number
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly ino: number
}

const fields = 4
const firstCapacity = 1_024

/** Files of one walk, in the order in which the file system named them. */
export class Listing {
  /** Paths below the folder, latin1. */
  readonly names: string[] = []
  /** Files that could not be looked at: they are told, never guessed about. */
  readonly unreadable = new Set<string>()
  /** Subfolders that were entered, latin1, by their paths below the image folder. */
  readonly folders: string[] = []
  #stamps = new Float64Array(firstCapacity * fields)

  get count(): number {
    return this.names.length
  }

  add(name: string, { size, mtimeMs, ctimeMs, ino }: FileStamp): void {
    const at = this.names.length * fields
    if (at + fields > this.#stamps.length) {
      const larger = new Float64Array(this.#stamps.length * 2)
      larger.set(this.#stamps)
      this.#stamps = larger
    }
    this.#stamps[at] = size
    this.#stamps[at + 1] = mtimeMs
    this.#stamps[at + 2] = ctimeMs
    this.#stamps[at + 3] = ino
    this.names.push(name)
  }

  /** It was read when it had these facts. */
  restamp(file: number, { size, mtimeMs, ctimeMs, ino }: FileStamp): void {
    this.#stamps.set([size, mtimeMs, ctimeMs, ino], file * fields)
  }

  nameOf(file: number): string {
    return this.names[file] as string
  }

  stampOf(file: number): FileStamp {
    const at = file * fields
    return {
      size: this.#stamps[at] as number,
      mtimeMs: this.#stamps[at + 1] as number,
      ctimeMs: this.#stamps[at + 2] as number,
      ino: this.#stamps[at + 3] as number,
    }
  }

  /** Newest time of a last change of content among the files, ms; null for none. */
  get newestMs(): number | null {
    let newest: number | null = null
    for (let file = 0; file < this.count; file += 1) {
      const ms = this.#stamps[file * fields + 1] as number
      if (newest === null || ms > newest) newest = ms
    }
    return newest
  }

  /** The four numbers of each file after one another: size, both times, inode. */
  get stamps(): Float64Array {
    return this.#stamps
  }
}

const imageName = /\.(?:png|jpe?g)$/i

/** Whether a name may be an image's, by its extension in any letter case (S-001). */
export const isImageName = (name: string): boolean => imageName.test(name)

/** Whether a walk leaves a name out: it begins with a dot. */
export const isHidden = (name: string): boolean => name.charCodeAt(0) === 0x2e

/** What system calls take for an entry of the folder that is being read. */
type PathOf = (name: string) => string | Buffer

const addFile = (listing: Listing, name: string, path: string | Buffer): void => {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat?.isFile() === true) listing.add(name, stat)
  } catch {
    listing.unreadable.add(name)
  }
}

type Kind = 'file' | 'folder' | 'other'

/** Some file systems do not say in the folder what an entry is: then it is looked at. */
const kindOf = (entry: Dirent, pathOf: PathOf): Kind => {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  const told = entry.isSymbolicLink() || entry.isFIFO() || entry.isSocket()
    || entry.isBlockDevice() || entry.isCharacterDevice()
  if (told) return 'other'
  const stat = lstatSync(pathOf(entry.name), { throwIfNoEntry: false })
  if (stat?.isFile() === true) return 'file'
  return stat?.isDirectory() === true ? 'folder' : 'other'
}

const namesAtOnce = 4_096

/** Entries come unsorted and a few thousand at a time: sorting 100,000 names costs much. */
const openFolder = (path: string | Buffer): Dir =>
  opendirSync(path, { encoding: 'latin1', bufferSize: namesAtOnce })

/** One walk. */
interface Walk {
  readonly listing: Listing
  readonly folder: string
  /** Whether folders may be entered: a name alone is looked up a fifth cheaper than its path. */
  readonly enters: boolean
}

/** Makes a folder the working one; false where that is not to be had. */
const enter = (path: string | Buffer): boolean => {
  if (typeof path !== 'string') return false
  try {
    process.chdir(path)
    return true
  } catch {
    return false
  }
}

const walkFolder = (walk: Walk, below: string, depthMax: number): void => {
  const { listing, folder } = walk
  const folders: string[] = []
  const path = below === '' ? folder : pathBelow(folder, below)
  const inside = walk.enters && enter(path)
  const pathOf: PathOf = inside
    ? nameAlone : (name) => pathBelow(folder, below === '' ? name : `${below}/${name}`)
  // The folder that was entered and no other: what stands in its place by now is not looked at.
  const opened = openFolder(inside ? '.' : path)
  try {
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
      if (isHidden(entry.name)) continue
      const name = below === '' ? entry.name : `${below}/${entry.name}`
      const image = isImageName(entry.name)
      if (!image && depthMax === 0) continue
      const kind = kindOf(entry, pathOf)
      if (kind === 'file' && image) addFile(listing, name, pathOf(entry.name))
      if (kind === 'folder' && depthMax > 0) folders.push(name)
    }
  } finally {
    opened.closeSync()
  }
  for (const name of folders) {
    listing.folders.push(name)
    try {
      walkFolder(walk, name, depthMax - 1)
    } catch {
      listing.unreadable.add(name)
    }
  }
}

/** The working folder, held open, where the system lets one go back to it; else null. */
const holdPlace = (): { readonly fd: number; readonly place: string } | null => {
  let fd: number
  try {
    fd = openSync('.', constants.O_RDONLY | constants.O_DIRECTORY)
  } catch {
    return null
  }
  try {
    const place = thisPlatform.placeOf(fd)
    if (place !== null) {
      const [held, there] = [fstatSync(fd), statSync(place)]
      if (held.ino === there.ino && held.dev === there.dev) return { fd, place }
    }
  } catch {
    // Every file is looked up by its whole path then.
  }
  closeSync(fd)
  return null
}

/**
 * Lists an image folder. `recursive` enters subfolders to a depth of eight. Throws the system's
 * error when the folder itself cannot be read; a subfolder that cannot is among `unreadable`. The
 * process's working folder is another one meanwhile; every path of the program is absolute, and
 * nothing else runs until this returns.
 */
export const walkImageFolder = (folder: string, recursive: boolean): Listing => {
  const listing = new Listing()
  const held = holdPlace()
  try {
    const walk = { listing, folder, enters: held !== null }
    walkFolder(walk, '', recursive ? shotLimits.recursiveDepthMax : 0)
  } finally {
    if (held !== null) {
      enter(held.place)
      closeSync(held.fd)
    }
  }
  return listing
}
