/** Captures of paired devices as observations: what is stored, and what is taken in of it. */
import type { StoredCaptures } from '../../../src/observations/captures.js'
import { ioFailure } from '../../../src/state/files.js'
import type { ShotsContext } from '../../../src/shots/context.js'
import { takeInCaptures, type TakenIn } from '../../../src/shots/captures/take-in.js'
import { devicePlace } from '../../../src/shots/source/folder-digest.js'
import type { EdgeParty } from '../../../src/edge/credential.js'
import type { EdgeArtifact } from '../../../src/edge/edge-rows.js'
import type { Gov } from '../../../src/governance/context.js'
import type { LimitWishes } from '../../../src/edge/edge-contract.js'
import {
  shotCollections as c, type Observation, type SeenFile,
} from '../../../src/shots/observations/observation-rows.js'
import type { ImageWorld } from '../../world/world.js'
import { after } from '../observations.js'
import { headOf, pairDevice, send } from './uploading.js'

/** A paired device whose uploads are numbered. */
export interface Camera {
  readonly id: string
  readonly party: EdgeParty
  readonly gov: Gov
  /** Stores a picture, captured so many milliseconds after the first. */
  store(body: Uint8Array, afterMs?: number, more?: object): Promise<EdgeArtifact>
}

/** Pairs a device of the owner of the session. */
export const cameraOf = async (
  world: ImageWorld, limits: LimitWishes = {}, session = world.session(),
): Promise<Camera> => {
  const gov: Gov = { ...world.gov, store: world.open('write') }
  const { party } = await pairDevice(gov, session, limits)
  let sequence = 0
  return {
    id: party.device.device_id, party, gov,
    store: (body, afterMs = sequence * 60_000, more = {}) => {
      sequence += 1
      const at = { captured_at: after(afterMs), ...more }
      return send(gov, party, headOf(body, sequence, at), body)
    },
  }
}

/** Takes in what waits; `at` is told every step. */
export const takeIn = async (
  world: ImageWorld, at?: (step: string) => unknown,
): Promise<TakenIn> => {
  const ctx = world.ctx('write')
  try {
    const observer = { at: async (step: string): Promise<void> => void await at?.(step) }
    return await takeInCaptures({ ...ctx, gov: { ...ctx.gov, observer } })
  } finally {
    ctx.gov.store.close()
  }
}

/** Observations of captures, oldest capture first. */
export const captured = (world: ImageWorld): Observation[] =>
  world.rows().filter(({ source }) => source === 'edge')
    .sort((a, b) => (a.captured_at < b.captured_at ? -1 : 1))

/** What became of each capture of a device, by the id of the upload. */
export const becameOf = (world: ImageWorld, deviceId: string): ReadonlyMap<string, SeenFile> => {
  const { folderDigest } = devicePlace(deviceId)
  return new Map(world.view().all(c.files).map(({ doc }) => doc)
    .filter(({ root_digest: digest }) => digest === folderDigest)
    .map((doc) => [doc.name.text, doc]))
}

/** The same context, where the disk does not give these uploads. */
export const withheldIn = (ctx: ShotsContext, ids: readonly string[]): ShotsContext => ({
  ...ctx,
  captures: async (): Promise<StoredCaptures> => {
    const shelf = await ctx.captures()
    return {
      ...shelf,
      read: (store, view, id) => {
        if (!ids.includes(id)) return shelf.read(store, view, id)
        throw ioFailure(Object.assign(new Error('no'), { code: 'EIO' }), 'artifact')
      },
    }
  },
})
