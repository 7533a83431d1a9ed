/**
 * A world for tests of the screenshot source: a state directory with an owner who is logged in, a
 * folder for images, and ways to put files there and rows into the store.
 */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import type { Test } from 'tap'
import { isoFromMs, systemClock, type Clock } from '../../src/base/clock.js'
import { sha256Hex } from '../../src/base/canonical.js'
import { newId } from '../../src/base/ids.js'
import { silentObserver } from '../../src/base/observer.js'
import { gatewayContext } from '../../src/fabric/places.js'
import { nowIso, type Gov } from '../../src/governance/context.js'
import { deploymentProfile } from '../../src/governance/profile.js'
import { analysisPromptVersion, analysisSchemaVersion } from '../../src/shots/constants.js'
import type { ShotsContext } from '../../src/shots/context.js'
import { putObservation } from '../../src/shots/observations/observation-store.js'
import { folderDigestOf } from '../../src/shots/source/folder-digest.js'
import { shotCollections, type Observation, type PayloadRef }
  from '../../src/shots/observations/rows.js'
import { openStore } from '../../src/state/store.js'
import type { Store, View } from '../../src/state/types.js'
import { must, withGateway, type GatewayRig } from '../gateway/rig.js'
import { sallyport, type Place, type Ran, type RunOptions } from '../harness.js'

/** How a world is made. */
export interface WorldOptions {
  /** Time of the runs and of `ctx`; the machine's own unless said. */
  readonly clock?: Clock
  /** Added to the environment of every run and of `ctx`. */
  readonly env?: Readonly<Record<string, string>>
}

/** A world that goes when its test is over. */
export interface World {
  readonly place: Place
  /** The saved image folder, empty at first; no image is in it. */
  readonly folder: string
  /** The workspace that `init` sealed. */
  readonly workspace: string
  /** Runs one line in this process. */
  run(argv: readonly string[], options?: RunOptions): Promise<Ran>
  open(mode?: 'read' | 'write'): Store
  view(): View
  /** What use cases work with, over a store of its own. */
  ctx(mode?: 'read' | 'write'): ShotsContext
  /** Writes a file into the image folder, with that modification time; gives its path. */
  file(name: string, bytes: Uint8Array, modified?: string): string
  /** Puts rows into the store as a scan would have. */
  put(...rows: readonly Observation[]): Promise<void>
  /** Every observation. */
  rows(): Observation[]
}

const folderOf = (place: Place): string => {
  const folder = place.path('shots')
  mkdirSync(folder, { recursive: true })
  return folder
}

const worldOf = (
  t: { teardown(fn: () => void): void }, place: Place, run: World['run'], options: WorldOptions,
): World => {
  const { clock = systemClock, env = {} } = options
  const folder = folderOf(place)
  const open = (mode: 'read' | 'write' = 'read'): Store => {
    const store = openStore({ dir: place.stateDir, configDir: place.configDir, mode, clock })
    t.teardown(() => store.close())
    return store
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
      gov, signal, env: { ...place.env, ...env },
      workspace: deploymentProfile(store).workspace,
      home: place.env['HOME'] as string,
      ownFolders: [place.stateDir, place.configDir],
      gateway: gatewayContext(gov, { client, signal }),
    }
  }
  return {
    place, folder, open, ctx,
    workspace: deploymentProfile(open()).workspace,
    run: (argv, more = {}) => run(argv, { clock, ...more, env: { ...env, ...more.env } }),
    view: () => open().read(),
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

/** A world without a gateway route; the image folder is not saved as a setting. */
export const makeBareWorld = async (t: Test, options: WorldOptions = {}): Promise<World> => {
  const place = sallyport(t)
  const more = options.clock === undefined ? {} : { clock: options.clock }
  must(await place.run(['init', '--json'], more))
  must(await place.run(['login', '--json'], more))
  return worldOf(t, place, place.run, options)
}

/** The same with the image folder saved. */
export const makeWorld = async (t: Test, options: WorldOptions = {}): Promise<World> => {
  const world = await makeBareWorld(t, options)
  must(await world.run(['shots', 'config', 'set', '--folder', world.folder, '--json']))
  return world
}

/** Settings under which analysis is allowed as far as settings go. */
export const openSettings = [
  '--analysis', 'on', '--cloud-upload', 'on', '--fallbacks', 'deny', '--data-collection', 'deny',
  '--zdr', 'on', '--budget-microusd', '1000000', '--budget-requests', '100',
  '--request-cost-bound-microusd', '100000',
] as const

/** A world with the sandbox as its gateway. */
export interface GatewayWorld extends World {
  readonly rig: GatewayRig
}

/**
 * A world whose gateway is the sandbox: slots `screenshot` and `report` are set up and consented
 * to, the image folder and the controls are saved. No capability was proved yet.
 */
export const makeGatewayWorld = async (
  t: Test, options: WorldOptions = {},
): Promise<GatewayWorld> => {
  const rig = await withGateway(t, { bare: true })
  const slot = (name: string) => ({
    model: `gateway/acme/${name}-1`, upstream_allow: ['acme-host', 'other-host'],
  })
  writeFileSync(rig.place.path('config.json'), JSON.stringify({
    gateway: {
      api_key: 'MARK-GATEWAY-KEY-0123456789', spend_ceiling_microusd: 10_000_000,
      cloud_egress_acknowledged: true,
      consents: ['gateway.report', 'gateway.digest', 'gateway.vision'],
      slots: { report: slot('report'), screenshot: slot('screenshot') },
    },
    expected_policy_revision: (await rig.show()).policy_revision,
  }))
  const path = rig.place.path('config.json')
  must(await rig.run(['config', 'save', '--json', '--from', path]))
  const world = worldOf(t, rig.place, rig.run, options)
  must(await world.run([
    'shots', 'config', 'set', '--json', '--folder', world.folder, ...openSettings,
  ]))
  return { ...world, rig }
}

const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

/** Grey value (0..255) of a pixel. */
export type Shade = (x: number, y: number) => number

/** A PNG of one grey channel; pictures of different `seed` look nothing alike. */
export const greyPng = (
  width: number, height: number, shade: number | Shade, level = 6,
): Buffer => {
  const of: Shade = typeof shade === 'function' ? shade
    : (x, y) => ((((x >> 4) + 3 * (y >> 4)) * 37 + shade * 101) * 53) & 0xff
  const rows = Buffer.alloc(height * (width + 1))
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) rows[y * (width + 1) + 1 + x] = of(x, y)
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level })), chunk('IEND', Buffer.alloc(0)),
  ])
}

/** A row as a scan writes one; `name` is its file's, and `root` its image folder. */
export const observationOf = (
  folder: string, name: string, changes: Partial<Observation> = {},
): Observation => {
  const at = changes.captured_at ?? '2026-11-20T10:00:00.000Z'
  return {
    observation_id: newId('obs'),
    source: 'screenshot_folder',
    root: folder,
    root_digest: folderDigestOf(folder),
    sha256: sha256Hex(`${folder}/${name}`),
    bytes: 1234, format: 'png', width: 64, height: 48,
    captured_at: at, captured_in_future: false, observed_at: at,
    paths: [{ name: { text: name, bytes_base64: null }, modified_at: at }],
    screenshot_visual_run: null,
    analysis_status: 'blocked', classification: null, archived_at: null,
    analyzer: {
      reason: 'analysis_off', detail: null, attempts: 0, input_digest: null, operation_id: null,
      contact: 'none', reanalyze_reason: null, updated_at: null,
    },
    payload: null,
    ...changes,
  }
}

/** What a row knows of a payload; no artifact is behind it. */
export const payloadRefOf = (changes: Partial<PayloadRef> = {}): PayloadRef => ({
  artifact_id: 'art_none', sha256: sha256Hex('payload'),
  model: 'gateway/acme/screenshot-1', reply_model: 'acme/screenshot-1',
  prompt_version: analysisPromptVersion, schema_version: analysisSchemaVersion,
  analyzed_at: '2026-11-20T10:05:00.000Z', operation_id: 'op_none', cost_microusd: 100,
  earlier: false,
  ...changes,
})

/** ISO text so many milliseconds after 2026-11-20T10:00:00Z. */
export const after = (ms: number): string => isoFromMs(Date.UTC(2026, 10, 20, 10) + ms)
