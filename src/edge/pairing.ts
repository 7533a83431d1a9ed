/**
 * Pairing: an operator offers a code of 128 bits, a device redeems it once within ten minutes and
 * gets a credential of its own. A wrong try ends no code: nobody guesses one, and whoever could end
 * those of others by wrong ones would.
 */
import { randomBytes } from 'node:crypto'
import { canonicalJson } from '../base/canonical.js'
import { isoFromMs, msFromIso } from '../base/clock.js'
import { fail } from '../base/errors.js'
import { newId } from '../base/ids.js'
import { requireSound } from '../governance/anchored.js'
import { appendAudit } from '../governance/audit.js'
import { nowIso, type Gov, type Session } from '../governance/context.js'
import { everyEnd } from '../governance/devices.js'
import { orUndefined } from '../governance/judge/fact.js'
import {
  clockStepBackMsMax, liveRoot, mayLive, requireRootRow,
} from '../governance/session/live.js'
import { askedThrough, stopNow, type Recorded } from '../governance/stops/act.js'
import { deviceStop } from '../governance/stops/stop.js'
import { rowsUnder } from '../state/indexes.js'
import type { Store, Tx, View } from '../state/types.js'
import { edgeLimits } from './constants.js'
import type { LimitWishes } from './edge-contract.js'
import { credentialDigest, newCredential, sameText } from './credential.js'
import { deviceFacts, type DeviceFacts } from './device-facts.js'
import { limitsOf } from './edge-limits.js'
import { codesByDigest, edgeCollections, type EdgeCode, type EdgeDevice } from './edge-rows.js'

/** What the text of a pairing begins with. */
export const pairingPrefix = 'sallyport-pair-v1.'

const codeBytes = 16
const codeLabel = 'edge.code'

const codeDigest = (store: Store, code: string): string =>
  store.keyedDigest(codeLabel, Buffer.from(code, 'utf8'))

/** A pairing that is offered, and where the device finds the service. */
interface PairingOffer {
  readonly name?: string | undefined
  readonly limits?: LimitWishes | undefined
  /** Of the service: `https://127.0.0.1:PORT`, or its place for machines elsewhere. */
  readonly origin: string
  /** Of the service's public key: `sha256/…`. */
  readonly pin: string
}

/** Whether a code may still be used; a clock that was set back lengthens no life. */
const isOpen = ({ issued_at, expires_at }: EdgeCode, now: string): boolean =>
  now < expires_at
  && msFromIso(now) >= msFromIso(issued_at) - clockStepBackMsMax

const codesIn = (view: View): readonly EdgeCode[] =>
  view.all(edgeCollections.codes).map(({ doc }) => doc)

/**
 * Whether a code may still be used: it dies with the session that offered it, also where that has
 * idled away.
 */
const isUsable = (view: View, gov: Gov) => (code: EdgeCode): boolean =>
  isOpen(code, nowIso(gov)) && orUndefined(() => liveRoot(view, gov, code.root)) !== undefined

/** Codes that a device may still use, of every owner, as far as is known at this machine. */
export const openCodes = (view: View, gov: Gov): readonly EdgeCode[] =>
  codesIn(view).filter((code) => isOpen(code, nowIso(gov)) && mayLive(view, gov, code.root))

/**
 * Removes codes that nothing makes usable again, and answers the others. A session that seems to
 * have idled away may be used at another machine, which alone knows of that.
 */
const sweepCodes = (tx: Tx, now: string): readonly EdgeCode[] => {
  const usable: EdgeCode[] = []
  for (const code of codesIn(tx)) {
    const root = orUndefined(() => requireRootRow(tx, now, code.root))
    if (isOpen(code, now) && root !== undefined) usable.push(code)
    else tx.remove(edgeCollections.codes, code.code_id)
  }
  return usable
}

const requireRoom = (tx: Tx): void => {
  const standing = tx.all(edgeCollections.devices)
    .filter(({ doc }) => deviceFacts(tx, doc).ended === null)
  if (standing.length < edgeLimits.devicesMax) return
  throw fail.conflict('edge_devices_full', 'As many devices are paired as may be.', {
    details: { devices_max: edgeLimits.devicesMax },
    next: 'End a pairing that is not used: `sallyport edge revoke DEVICE`.',
  })
}

/**
 * Offers a pairing of the operator's own. `pairing` is the one line that the device needs; it holds
 * the code and belongs into a private file. Throws `unauthorized`, `conflict` `edge_codes_full`,
 * `edge_devices_full`.
 */
export const offerPairing = async (gov: Gov, session: Session, offer: PairingOffer): Promise<{
  readonly pairing: string; readonly code: EdgeCode; readonly origin: string
}> => {
  const { store } = gov
  const secret = randomBytes(codeBytes).toString('base64url')
  const code = await store.transact('edge pair', (tx) => {
    const now = nowIso(gov)
    const { principal, root } = requireRootRow(tx, now, session.root.root_id)
    if (sweepCodes(tx, now).length >= edgeLimits.codesMax) {
      throw fail.conflict('edge_codes_full', 'As many pairing codes are open as may be.', {
        details: { codes_max: edgeLimits.codesMax },
        next: 'Use one of them, or wait: a code ends after 10 minutes.',
      })
    }
    requireRoom(tx)
    const row: EdgeCode = {
      code_id: newId('edge_code'), owner: principal.principal_id, root: root.root_id,
      name: offer.name ?? null, digest: codeDigest(store, secret), limits: limitsOf(offer.limits),
      issued_at: now, expires_at: isoFromMs(msFromIso(now) + edgeLimits.codeMs), tries: 0,
    }
    tx.put(edgeCollections.codes, row.code_id, row)
    appendAudit(tx, now, {
      what: 'edge.code_offered', principal: row.owner, root: row.root, subject: row.code_id,
      facts: { cloud_egress: row.limits.cloud_egress, model_egress: row.limits.model_egress },
    })
    return row
  })
  const { origin, pin } = offer
  const line = Buffer.from(canonicalJson({ origin, pin, code: secret })).toString('base64url')
  return { pairing: `${pairingPrefix}${line}`, code, origin }
}

const refused = () =>
  fail.unauthorized('edge_code_refused', 'This pairing code opens nothing.', {
    next: 'Ask for a new one: `sallyport edge pair`.',
  })

/** The open code of these digits whose session still stands; undefined for any other. */
const usable = (view: View, gov: Gov, digest: string): EdgeCode | undefined => {
  const found = rowsUnder(view, edgeCollections.codes, codesByDigest, {
    under: [digest],
  }).at(-1)?.doc
  return found !== undefined && sameText(found.digest, digest) && isUsable(view, gov)(found)
    ? found : undefined
}

const paired = (tx: Tx, now: string, code: EdgeCode, name: string, digest: string): EdgeDevice => {
  const device: EdgeDevice = {
    device_id: newId('edge_dev'), owner: code.owner, name: code.name ?? name,
    credential_digest: digest, limits: code.limits, last_sequence: 0, last_upload_at: null,
    stored: { items: 0, bytes: 0 }, paired_at: now, outlived: everyEnd(tx),
  }
  tx.remove(edgeCollections.codes, code.code_id)
  tx.put(edgeCollections.devices, device.device_id, device)
  // An old copy must not forget that the code was used.
  tx.mark()
  appendAudit(tx, now, {
    what: 'edge.paired', principal: code.owner, root: code.root, subject: device.device_id,
    facts: { code: code.code_id },
  })
  return device
}

/**
 * Redeems a code, once. The credential is in the answer and nowhere else. Throws `unauthorized`
 * `edge_code_refused`, the same for a code that is wrong, used, expired, ended, or whose session
 * has ended; `conflict` `edge_devices_full`.
 */
export const redeemPairing = async (
  gov: Gov, request: { readonly code: string; readonly device_name: string },
): Promise<{ readonly device: EdgeDevice; readonly credential: string }> => {
  const { store } = gov
  requireSound(store)
  const digest = codeDigest(store, request.code)
  const credential = newCredential()
  // A wrong code takes no lock and writes nothing, however often it comes.
  if (usable(store.read(), gov, digest) === undefined) throw refused()
  const device = await store.transact('edge redeem', (tx) => {
    const code = usable(tx, gov, digest)
    if (code === undefined) return null
    requireRoom(tx)
    return paired(tx, nowIso(gov), code, request.device_name, credentialDigest(store, credential))
  })
  if (device === null) throw refused()
  return { device, credential }
}

/** The operator's devices, newest first; with those whose pairing has ended. */
export const listDevices = (view: View, session: Session): readonly DeviceFacts[] =>
  view.all(edgeCollections.devices)
    .filter(({ doc }) => doc.owner === session.principal.principal_id)
    .map(({ doc }) => deviceFacts(view, doc))
    .reverse()

const requireDevice = (view: View, id: string): EdgeDevice => {
  const device = view.get(edgeCollections.devices, id)
  if (device !== undefined) return device
  throw fail.notFound('edge_device_not_found', 'There is no paired device with this id.', {
    next: 'Run `sallyport edge list`.',
  })
}

/**
 * Ends a pairing: in force at once, also for a body that another process is reading, and without
 * the state's lock. It may be any owner's, as with sessions: ending only ever stops something.
 * Throws `not_found` `edge_device_not_found`, and what `stopNow` throws.
 */
export const revokeDevice = async (gov: Gov, session: Session, deviceId: string): Promise<{
  readonly device: DeviceFacts
  readonly ended: boolean
  /** Whether whoever asks is its owner. */
  readonly isOwn: boolean
  readonly recorded: Recorded | null
}> => {
  const facts = (): DeviceFacts => {
    const view = gov.store.read()
    return deviceFacts(view, requireDevice(view, deviceId))
  }
  const done = await stopNow(gov, () => {
    requireRootRow(gov.store.read(), nowIso(gov), session.root.root_id)
    return {
      aim: { kind: deviceStop, target: deviceId }, by: askedThrough('edge revoke', session),
      isDone: facts().ended !== null,
    }
  })
  const { device, ended } = facts()
  const isOwn = device.owner === session.principal.principal_id
  if (done === null) return { device: { device, ended }, ended: false, isOwn, recorded: null }
  const inForce = ended ?? {
    ended_at: done.stop.at, reason: 'revoked' as const, principal: done.stop.by.principal,
    root: done.stop.by.root,
  }
  return { device: { device, ended: inForce }, ended: true, isOwn, recorded: done.recorded }
}
