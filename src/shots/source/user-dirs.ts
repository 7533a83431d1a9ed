/** Folders of a user's own as the desktop's settings name them (freedesktop.org, xdg-user-dirs). */
import { readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { baseFolderIfNamed } from '../../base/user-folders.js'
import type { ShotsContext } from '../context.js'

const bytesMax = 65_536

const settingsOf = (world: Pick<ShotsContext, 'env' | 'home'>): string => {
  const folder = baseFolderIfNamed(world, 'XDG_CONFIG_HOME')
  try {
    // Without a folder the name is empty, which no file has.
    const bytes = readFileSync(folder === null ? '' : join(folder, 'user-dirs.dirs'))
    return bytes.subarray(0, bytesMax).toString('utf8')
  } catch {
    // Most systems without a desktop have none.
    return ''
  }
}

/** A folder by the name that both give it. */
type UserDir = 'XDG_DESKTOP_DIR' | 'XDG_DOWNLOAD_DIR' | 'XDG_PICTURES_DIR'

/** Absolute paths that the environment and `user-dirs.dirs`, read once, give such folders. */
export const userDirsOf = (
  world: Pick<ShotsContext, 'env' | 'home'>,
): (variable: UserDir) => readonly string[] => {
  const text = settingsOf(world)
  return (variable) => {
    const [, saved] = new RegExp(`^\\s*${variable}="(.*)"\\s*$`, 'm').exec(text) ?? []
    return [world.env[variable], saved].filter((one) => one !== undefined)
      .map((one) => one.replace(/\\(.)/g, '$1'))
      .map((one) => one.replace(/^\$(?:HOME|\{HOME\})(?=\/|$)/, world.home))
      .filter((path) => isAbsolute(path))
  }
}
