/**
 * Naming devices whose captures may leave: under the consent to `gateway.vision` that is current,
 * by the default owner, whose devices they are, and from the next upload on. A device that is named
 * already keeps the number from which it is; one that is paired later is named by nobody until a
 * person does.
 */
import { fail, type SallyportError } from '../../base/errors.js'
import { everyEnd } from '../../governance/devices.js'
import type { Session } from '../../governance/context.js'
import { defaultPrincipal, requireDefaultPrincipal } from '../../governance/principals.js'
import type { CapturingDevice, StoredCaptures } from '../../observations/captures.js'
import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { routeStatusOf } from '../gates.js'
import type { NamedDevices, ShotSettingsChange } from '../source/settings.js'
import { namesInForce } from './gate.js'

type Named = Exclude<ShotSettingsChange['devices'], undefined>

const why = {
  unknown: 'You have no paired device of this id.',
  ended: 'The pairing of this device has ended.',
  egress_off: 'The pairing of this device does not allow egress to a cloud and to a model.',
  none: 'You have no paired device whose pairing allows egress to a cloud and to a model.',
} as const

const notNameable = (reason: keyof typeof why, device?: string): SallyportError =>
  fail.rejected('device_not_nameable', why[reason], {
    reason, next: 'See your devices with `sallyport edge list`. To pair one that may be named: '
      + '`sallyport edge pair --allow-cloud-egress --allow-model-egress`.',
    ...(device === undefined ? {} : { details: { device } }),
  })

const mayBeNamed = ({ stands, mayLeave }: CapturingDevice): boolean => stands && mayLeave

/** Devices of an owner that may be named as of a view. */
const nameableDevices = (
  shelf: StoredCaptures, view: View, owner: string,
): readonly CapturingDevice[] => shelf.devicesOf(view, owner).filter(mayBeNamed)

/**
 * What a form may offer to a person: nothing to another owner than the default one, and none
 * without a consent that they could be named under.
 */
export const offeredDevices = async (
  ctx: ShotsContext, session: Session,
): Promise<readonly CapturingDevice[]> => {
  const view = ctx.gov.store.read()
  const { principal: { principal_id: owner } } = session
  const mayName = defaultPrincipal(view).principal_id === owner
  if (!mayName || routeStatusOf(ctx, view).consentId === null) return []
  return nameableDevices(await ctx.captures(), view, owner)
}

const chosenOf = (
  shelf: StoredCaptures, view: View, owner: string, ids: Exclude<Named, null>,
): readonly CapturingDevice[] => {
  if (ids === 'all') {
    const all = nameableDevices(shelf, view, owner)
    if (all.length === 0) throw notNameable('none')
    return all
  }
  const devices = new Map(shelf.devicesOf(view, owner).map((one) => [one.deviceId, one]))
  return [...new Set(ids)].map((id) => {
    const device = devices.get(id)
    if (device === undefined) throw notNameable('unknown')
    if (!device.stands) throw notNameable('ended', id)
    if (!device.mayLeave) throw notNameable('egress_off', id)
    return device
  })
}

/** Ids of the devices whose names are in force as of a view. */
export const namedNow = (ctx: ShotsContext, view: View): readonly string[] =>
  namesInForce(view, routeStatusOf(ctx, view).consentId).map(({ device_id: id }) => id)

/**
 * What is saved where these are named; null where none is, which every owner may say. Throws
 * `unauthorized` `not_default_principal`: captures of another owner are taken in by nobody, and its
 * names would stand instead of those of the default owner. Throws `blocked` `devices_need_consent`
 * and `rejected` `device_not_nameable`.
 */
export const nameDevices = (
  ctx: ShotsContext, session: Session, view: View,
  { shelf, ids }: { readonly shelf: StoredCaptures, readonly ids: Named },
): NamedDevices | null => {
  if (ids === null || ids.length === 0) return null
  requireDefaultPrincipal(view, session, 'names devices')
  const { principal: { principal_id: owner } } = session
  const { consentId } = routeStatusOf(ctx, view)
  if (consentId === null) {
    throw fail.blocked('devices_need_consent',
      'Devices are named under a consent to gateway.vision, and there is none.', {
        next: 'Run `sallyport gateway setup --consent gateway.vision`, then name them.',
      })
  }
  const known = new Map(namesInForce(view, consentId)
    .map((one) => [one.device_id, one.above_sequence]))
  const named = chosenOf(shelf, view, owner, ids).map(({ deviceId: id, lastSequence }) =>
    ({ device_id: id, above_sequence: known.get(id) ?? lastSequence }))
  return {
    consent_id: consentId, owner, outlived: everyEnd(view),
    named: named.sort((a, b) => (a.device_id < b.device_id ? -1 : 1)),
  }
}
