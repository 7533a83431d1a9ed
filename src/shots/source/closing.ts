/** What a change of the settings closes, for stops: what leaves under them ends with the save. */
import type { SaveAim } from '../../governance/stops/stop.js'
import { closedSwitch } from '../gates.js'
import { devicePlace } from './folder-digest.js'
import { isRecursive, type SavedShotSettings } from './settings.js'

/** What lies below a folder and not in it, as stops name it. */
export const belowFolder = (digest: string): string => `${digest}/`

/** Folders that images may leave from, by their digests. */
export interface FoldersInUse {
  /** The one that settings mean where the environment names none; null where none may be it. */
  saved(settings: SavedShotSettings): string | null
  /** All that images were taken in from: the environment names one for this process alone. */
  readonly known: readonly string[]
}

const below = (digest: string): SaveAim => ({ kind: 'folder', target: belowFolder(digest) })

/** Devices that are named no more, or under another consent, as the places that they are. */
const devicesLeft = (before: SavedShotSettings, after: SavedShotSettings): readonly SaveAim[] => {
  const stays = after.devices?.consent_id === before.devices?.consent_id
    && after.devices?.owner === before.devices?.owner
  const kept = new Set(stays ? after.devices?.named.map(({ device_id: id }) => id) : [])
  return (before.devices?.named ?? []).filter(({ device_id: id }) => !kept.has(id))
    .map(({ device_id: id }) => ({ kind: 'folder', target: devicePlace(id).folderDigest }))
}

/** What leaves under no settings with a closed switch: images and texts alike. */
export const closedUnder = (settings: SavedShotSettings): readonly SaveAim[] =>
  (closedSwitch(settings) === null ? [] : [{ kind: 'shots_purpose', target: null }])

/**
 * What the settings of after let less leave than those of before.
 */
export const closedBySettings = (
  before: SavedShotSettings, after: SavedShotSettings, folders: FoldersInUse,
): readonly SaveAim[] => {
  if (closedSwitch(before) !== null) return []
  if (closedSwitch(after) !== null) return closedUnder(after)
  const digest = folders.saved(before)
  const left: SaveAim[] = digest === null || digest === folders.saved(after)
    ? [] : [{ kind: 'folder', target: digest }, below(digest)]
  const ends = isRecursive(before) && !isRecursive(after)
  return [...left, ...(ends ? folders.known.map(below) : []), ...devicesLeft(before, after)]
}
