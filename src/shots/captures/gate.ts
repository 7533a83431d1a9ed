/**
 * Whether what a device captured may be sent. Its pairing and its upload must each allow egress to
 * a cloud and to a model, the consent in force must name its device, and it must have come behind
 * that. Whoever ends the pairing ends all of it. Nothing here is open unless it was opened, and
 * nothing that was ever closed is opened again: a device that is named anew is named from then on.
 */
import { endedDevices, everyEnd } from '../../governance/devices.js'
import { defaultPrincipal } from '../../governance/principals.js'
import { collections } from '../../governance/rows.js'
import type { StoredCaptures } from '../../observations/captures.js'
import type { View } from '../../state/types.js'
import { fromDevice } from '../constants.js'
import {
  shotCollections, type CaptureOf, type Observation,
} from '../observations/observation-rows.js'
import { deviceOfPlace } from '../source/folder-digest.js'
import { savedSettings, type NamedDevices } from '../source/settings.js'

type NamedDevice = NamedDevices['named'][number]

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

const nameOf = (view: View, id: string): NamedDevice | undefined =>
  savedSettings(view).devices?.named.find(({ device_id: one }) => one === id)

/** Why nothing of a device may be sent, whatever its number; null where something may. */
const deviceReason = (
  view: View, { device_id: id, owner }: Pick<CaptureOf, 'device_id' | 'owner'>,
  consentId: string | null,
): 'device_ended' | 'device_not_named' | null => {
  if (view.get(endedDevices, id) !== undefined || isDisabled(view, owner)) return 'device_ended'
  const { devices } = savedSettings(view)
  if (!devices || nameOf(view, id) === undefined) return 'device_not_named'
  if (devices.outlived !== everyEnd(view)) return 'device_ended'
  return devices.consent_id === consentId && devices.owner === owner ? null : 'device_not_named'
}

/**
 * Why a capture may not be sent, by what screenshots know of it; null where it may be.
 * `consentId`: the consent to `gateway.vision` that is current, null where none is.
 */
export const captureReason = (
  view: View, capture: CaptureOf, consentId: string | null,
): CaptureReason | null => {
  if (capture.may_leave !== true) return fromDevice
  const reason = deviceReason(view, capture, consentId)
  if (reason !== null) return reason
  const above = nameOf(view, capture.device_id)?.above_sequence ?? Infinity
  return capture.sequence > above ? null : 'before_device_named'
}

/**
 * Names that are in force under a consent: settings keep those of an ended one, which are void, and
 * so are those of ended pairings.
 */
export const namesInForce = (view: View, consentId: string | null): readonly NamedDevice[] => {
  const { named, owner } = savedSettings(view).devices ?? { named: [], owner: '' }
  return named.filter(({ device_id }) =>
    deviceReason(view, { device_id, owner }, consentId) === null)
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

/**
 * The same of a place, by its digest: why nothing of the device that it is may be sent. Null where
 * something may, and for a folder. Captures are the default owner's alone.
 */
export const placeReason = (
  view: View, rootDigest: string, consentId: string | null,
): ReturnType<typeof deviceReason> => {
  const id = deviceOfPlace(view.get(shotCollections.folders, rootDigest)?.root ?? '')
  return id === null ? null
    : deviceReason(view, { device_id: id, owner: defaultPrincipal(view).principal_id }, consentId)
}
