/**
 * Folders of this machine in which screenshots lie already, for a form to offer. Nothing in them is
 * opened. GNOME and KDE put screenshots into `Screenshots` below the folder of pictures, and a
 * Mac's user can have them there; `grim` reads `GRIM_DEFAULT_DIR`, and tools of sway and Hyprland
 * `XDG_SCREENSHOTS_DIR`. A Mac comes with Desktop as the place of screenshots; it is not offered:
 * all else that lies there would be taken in.
 */
import { statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { SallyportError } from '../../base/errors.js'
import { judgeFolder, type FolderWorld } from './folder.js'
import { userDirsOf } from './user-dirs.js'

const namedByTools = ['XDG_SCREENSHOTS_DIR', 'GRIM_DEFAULT_DIR'] as const

const isFolder = (path: string): boolean => {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** Its canonical path; null where it may not be the image folder. */
const allowed = (world: FolderWorld, path: string): string | null => {
  try {
    return judgeFolder(world, path, 'settings')
  } catch (error) {
    if (error instanceof SallyportError) return null
    throw error
  }
}

/** Canonical paths of those that are there and may be the image folder; the likeliest first. */
export const foundFolders = (world: FolderWorld): readonly string[] => {
  const { env, home } = world
  const pictures = [...userDirsOf(world)('XDG_PICTURES_DIR'), join(home, 'Pictures')]
  const places = [
    ...namedByTools.map((name) => env[name] ?? ''),
    ...pictures.map((one) => join(one, 'Screenshots')),
  ]
  const found = places.filter((path) => isAbsolute(path) && isFolder(path))
    .map((path) => allowed(world, path)).filter((path) => path !== null)
  return [...new Set(found)]
}
