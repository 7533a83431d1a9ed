/**
 * Whether what a device captured may be sent. Its pairing and its upload must each allow egress to
 * a cloud and to a model, the consent in force must name its device, and it must have come behind
 * that. Whoever ends the pairing ends all of it. Nothing here is open unless it was opened, and
 * nothing that was ever closed is opened again: a device that is named anew is named from then on.
 */
import { endedDevices, everyEnd } from '../../governance/devices.js'
import { collections } from '../../governance/rows.js'
import type { StoredCaptures } from '../../observations/captures.js'
import type { View } from '../../state/types.js'
import { fromDevice } from '../constants.js'
import type { CaptureOf, Observation } from '../observations/observation-rows.js'
import { devicePlace } from '../source/folder-digest.js'
import { savedSettings } from '../source/settings.js'

/** Why a capture stays here. */
export type CaptureReason =
  typeof fromDevice | 'device_not_named' | 'before_device_named' | 'device_ended'

/** Those that nothing takes away from a capture, whatever anybody sets or consents to. */
const final = [fromDevice, 'before_device_named', 'device_ended'] as const

/** Whether a reason of a row is one of a capture that stays here for good. */
export const isFinalOfCapture = (reason: string | null | undefined): boolean =>
  (final as readonly (string | null | undefined)[]).includes(reason)

const isDisabled = (view: View, principal: string): boolean =>
  view.get(collections.principals, principal)?.disabled_at !== null

/**
 * Why a capture may not be sent, by what screenshots know of it; null where it may be.
 * `consentId`: the consent to `gateway.vision` that is current, null where none is.
 */
export const captureReason = (
  view: View, { may_leave: mayLeave, device_id: id, owner, sequence }: CaptureOf,
  consentId: string | null,
): CaptureReason | null => {
  if (mayLeave !== true) return fromDevice
  if (view.get(endedDevices, id) !== undefined || isDisabled(view, owner)) return 'device_ended'
  const devices = savedSettings(view).devices ?? null
  const named = devices?.named.find(({ device_id: one }) => one === id)
  if (devices === null || named === undefined) return 'device_not_named'
  if (devices.outlived !== everyEnd(view)) return 'device_ended'
  if (devices.consent_id !== consentId || devices.owner !== owner) return 'device_not_named'
  return sequence > named.above_sequence ? null : 'before_device_named'
}

/** A capture and where it is stored. */
interface Shelved {
  readonly shelf: StoredCaptures
  readonly row: Pick<Observation, 'sha256'> & { readonly edge: CaptureOf }
}

/** The same, and by the rows of the edge themselves: what is judged before anything is sent. */
export const captureReasonNow = (
  view: View, { shelf, row: { edge, sha256 } }: Shelved, consentId: string | null,
): CaptureReason | null => {
  const reason = captureReason(view, edge, consentId)
  if (reason !== null) return reason
  const stored = shelf.standing(view, edge.artifact_id)
  const isThis = stored !== null && stored.deviceId === edge.device_id
    && stored.owner === edge.owner && stored.sequence === edge.sequence && stored.sha256 === sha256
  if (!isThis || !stored.mayLeave) return fromDevice
  return stored.stands ? null : 'device_ended'
}

/** Digests of the places that the named devices are. */
export const namedPlaces = (view: View): ReadonlySet<string> =>
  new Set((savedSettings(view).devices?.named ?? [])
    .map(({ device_id: id }) => devicePlace(id).folderDigest))
