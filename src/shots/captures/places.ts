/**
 * Which groups of images passes look at: those of the folder in force, and what the devices that a
 * consent names captured. What of a device is in a pass stays to be judged one by one.
 */
import { fromDevice } from '../constants.js'
import type { CountKey } from '../observations/observation-rows.js'
import type { View } from '../../state/types.js'
import type { RouteStatus } from '../gates.js'
import { isFinalOfCapture, placeReason } from './gate.js'

/** A rule over groups. */
type Meant = (key: CountKey) => boolean

/** Rows that wait to be sent: those of devices that are named no more are told so by the pass. */
export const isWaitingHere = (folderDigest: string): Meant => (key) =>
  key.root_digest === folderDigest || key.edge === true

/**
 * Rows that may be taken up: of the folder, and of devices whose names are in force, where nothing
 * is for good.
 */
export const isTakenUp = (
  view: View, { consentId }: Pick<RouteStatus, 'consentId'>, folderDigest: string,
): Meant => (key) => key.root_digest === folderDigest
  || (key.edge === true && !isFinalOfCapture(key.reason)
    && placeReason(view, key.root_digest, consentId) === null)

/** The same, and rows of devices that do not say yet why nothing of their device is taken up. */
export const isLookedAt = (
  view: View, { consentId }: Pick<RouteStatus, 'consentId'>, folderDigest: string,
): Meant => (key) => key.root_digest === folderDigest
  || (key.edge === true && !isFinalOfCapture(key.reason)
    && placeReason(view, key.root_digest, consentId) !== key.reason)

/** Rows that somebody may wonder about: of the folder, and what a device may have sent at all. */
export const isAskedAbout = (folderDigest: string): Meant => (key) =>
  key.root_digest === folderDigest || (key.edge === true && key.reason !== fromDevice)
