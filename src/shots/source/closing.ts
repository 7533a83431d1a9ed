/** What a change of the settings closes, for stops: what leaves under them ends with the save. */
import type { SaveAim } from '../../governance/stops/stop.js'
import { closedSwitch } from '../gates.js'
import { folderDigestOf } from './folder-digest.js'
import { isRecursive, type SavedShotSettings } from './settings.js'

/** What lies below a folder and not in it, as stops name it. */
export const belowFolder = (digest: string): string => `${digest}/`

/**
 * What the settings of after let less leave than those of before. A switch is one of images and
 * texts alike. Pure.
 */
export const closedBySettings = (
  before: SavedShotSettings, after: SavedShotSettings,
): readonly SaveAim[] => {
  if (closedSwitch(before) !== null) return []
  if (closedSwitch(after) !== null) return [{ kind: 'shots_purpose', target: null }]
  const { screenshot_folder: folder } = before
  if (folder === null) return []
  const digest = folderDigestOf(folder)
  const below: SaveAim = { kind: 'folder', target: belowFolder(digest) }
  if (folder !== after.screenshot_folder) return [{ kind: 'folder', target: digest }, below]
  return isRecursive(before) && !isRecursive(after) ? [below] : []
}
