/** A capture device in a folder of its own, and what lies on its disk. */
import { createHash, randomUUID } from 'node:crypto'
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock, isoFromMs, type Clock } from '../../../src/base/clock.js'
import { openDeviceFolder } from '../../../src/edge/device/folder.js'
import { defaultSettings } from '../../../src/edge/device/settings.js'
import type { SpoolLimits } from '../../../src/edge/device/settings.js'
import { encodeCapture } from '../../../src/edge/device/spool/item.js'
import type { Capture } from '../../../src/edge/device/spool/item.js'
import { Spool } from '../../../src/edge/device/spool/spool.js'
import type { SpoolDeps } from '../../../src/edge/device/spool/spool.js'
import { nodeFiles } from '../../../src/state/files.js'
import type { Files } from '../../../src/state/files.js'
import { greyPng } from '../png.js'

/** A picture that differs with its number. */
export const pictureOf = (number: number): Buffer =>
  greyPng(8, 8, (x, y) => (x * 31 + y * 17 + number * 7) % 256)

/** A capture of these bytes. */
export const captureOf = (bytes: Buffer, requestId: string = randomUUID()): Capture => ({
  bytes,
  facts: {
    schema: 'sallyport.edge.spooled.v1', request_id: requestId,
    captured_at: isoFromMs(systemClock.wallMs()),
    sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length,
    mime: 'image/png', cloud_egress: false, model_egress: false, purpose: 'screenshot',
    source: null, file_name: 'shot.png', source_path: '/home/ann/shot.png',
  },
})

/** Bytes that a capture takes in the spool. */
export const sizeOf = (capture: Capture): number => encodeCapture(capture).length

/** The spool of a folder. */
export const spoolAt = (
  dir: string,
  { files = nodeFiles, clock = systemClock, limits = {}, ...over }:
    { files?: Files; clock?: Clock; limits?: Partial<SpoolLimits> } & Partial<
      Omit<SpoolDeps, 'files' | 'clock' | 'limits'>> = {},
): Spool => new Spool({
  files, clock, places: openDeviceFolder(nodeFiles, dir), waitMs: 10_000,
  limits: { ...defaultSettings.limits, ...limits },
  signal: new AbortController().signal, at: () => undefined, ...over,
})

/** Every file and folder below a folder, by their paths; each file on the disk once. */
export const onDisk = (dir: string) => {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
    .map(({ entry, path }) => ({ path, name: entry.name, facts: lstatSync(path) }))
  const seen = new Set<number>()
  const pictures = entries.filter(({ path, facts }) =>
    facts.isFile() && /\/(queue|aside|fresh|ids)\//.test(path)
    && !seen.has(facts.ino) && seen.add(facts.ino) !== undefined)
  return {
    entries,
    /** Files that hold a capture, whole or not. */
    items: pictures.length,
    bytes: pictures.reduce((sum, { facts }) => sum + facts.size, 0),
  }
}

/** Takes everything out in order; gives the request ids. */
export const drained = async (spool: Spool): Promise<string[]> => {
  const ids: string[] = []
  for (;;) {
    const { entry } = await spool.front()
    if (entry === null) return ids
    const capture = spool.read(entry)
    if (typeof capture === 'string') throw new Error(`an item is ${capture}`)
    ids.push(capture.facts.request_id)
    await spool.remove(entry)
  }
}
