/** The stage of a folder of images. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { silentObserver } from '../../src/base/observer.js'
import { storedCaptures } from '../../src/edge/stored-captures.js'
import { gatewayContext } from '../../src/fabric/places.js'
import { nowIso, type Gov } from '../../src/governance/context.js'
import { deploymentProfile } from '../../src/governance/profile.js'
import type { ShotsContext } from '../../src/shots/context.js'
import { putObservation } from '../../src/shots/observations/observation-store.js'
import { shotCollections, type Observation } from '../../src/shots/observations/observation-rows.js'
import { must } from '../support/must.js'
import type { SignedIn } from './session.js'
import type { Stateful } from './state.js'
import type { Placed } from './world.js'

/** A folder for images, and the rows about them. */
export interface Images {
  /** The folder of images, empty at first. */
  readonly folder: string
  /** The workspace that `init` sealed. */
  readonly workspace: string
  /** What use cases work with, over a store of its own. */
  ctx(mode?: 'read' | 'write'): ShotsContext
  /** Writes a file into the folder, with that modification time; gives its path. */
  file(name: string, bytes: Uint8Array, modified?: string): string
  /** Puts rows into the store as a scan would have. */
  put(...rows: readonly Observation[]): Promise<void>
  /** Every observation. */
  rows(): Observation[]
}

/** Settings under which analysis is allowed as far as settings go. */
export const openSettings = [
  '--analysis', 'on', '--cloud-upload', 'on', '--fallbacks', 'deny', '--data-collection', 'deny',
  '--zdr', 'on', '--budget-microusd', '1000000', '--budget-requests', '100',
  '--request-cost-bound-microusd', '100000',
] as const

/** How the folder is set. */
export interface ImagesOptions {
  /** False leaves the folder out of the settings. */
  readonly saved?: boolean
  /** More flags of `shots setup`. */
  readonly settings?: readonly string[]
}

/** Analysis is allowed as far as settings go. */
export const allowed: ImagesOptions = { settings: openSettings }

/** A folder of images. */
export const images = async (
  world: Placed & Stateful & SignedIn, { saved = true, settings = [] }: ImagesOptions,
): Promise<Images> => {
  const { place, clock, open } = world
  const folder = place.path('shots')
  mkdirSync(folder, { recursive: true })
  if (saved) {
    must(await world.run(['shots', 'config', 'set', '--json', '--folder', folder, ...settings]))
  }
  const ctx = (mode: 'read' | 'write' = 'read'): ShotsContext => {
    const store = open(mode)
    const gov: Gov = { store, clock, observer: silentObserver, face: 'job' }
    const { signal } = new AbortController()
    const client = async () => ({
      request: async () => {
        throw new Error('this test contacts nobody')
      },
    })
    return {
      gov, signal, env: place.env,
      workspace: deploymentProfile(store).workspace,
      home: place.env['HOME'] as string,
      ownFolders: [place.stateDir, place.configDir],
      gateway: gatewayContext(gov, { client, signal }),
      captures: async () => storedCaptures,
    }
  }
  return {
    folder, ctx,
    workspace: deploymentProfile(open()).workspace,
    file: (name, bytes, modified = '2026-11-20T10:00:00.000Z') => {
      const path = join(folder, name)
      writeFileSync(path, bytes)
      utimesSync(path, new Date(modified), new Date(modified))
      return path
    },
    put: async (...rows) => {
      const { gov } = ctx('write')
      await gov.store.transact('test', (tx) => {
        for (const row of rows) putObservation(tx, nowIso(gov), row)
      })
      gov.store.close()
    },
    rows: () => open().read().all(shotCollections.observations).map(({ doc }) => doc),
  }
}
