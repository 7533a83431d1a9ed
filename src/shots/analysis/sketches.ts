/**
 * Sketches of images that were described, sealed, one file for each folder. They only save looking:
 * the rows say what was described, and what is kept of none is made again from its file.
 */
import * as v from 'valibot'
import { count, sha256 } from '../../base/schema.js'
import { SallyportError } from '../../base/errors.js'
import { parseStrictJson } from '../../base/strict-json.js'
import { sketchCellsOf, type Sketch } from '../../images/sketch.js'
import {
  discardStored, dropArtifact, readArtifact, registerArtifact,
} from '../../governance/artifacts.js'
import { nowIso } from '../../governance/context.js'
import type { View } from '../../state/types.js'
import { shotLabels } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { transactCounted } from '../locked.js'

/** Sketches by the SHA-256 of what they are of. */
export type Sketches = ReadonlyMap<string, Sketch>

/** Bytes of all that is kept of a folder. */
const bytesMax = 4_194_304
const depthMax = 5

/** Owner that they are registered under: no person's. */
const sketchesOwner = 'screenshot_folder_analysis'

const keptShape = v.strictObject({
  sketches: v.array(v.strictObject({
    sha256, format: v.picklist(['png', 'jpeg']), width: count, height: count,
    /** Cells in 1/64 of a level, two bytes each, big end first; base64. */
    planes: v.pipe(v.array(v.pipe(v.string(), v.base64())), v.minLength(1), v.maxLength(2)),
  })),
})
type Kept = v.InferOutput<typeof keptShape>['sketches'][number]

const artifactIdOf = (folderDigest: string): string => `art_sketches_${folderDigest}`

const textOf = (plane: Uint16Array): string => {
  const bytes = Buffer.alloc(2 * plane.length)
  for (const [i, level] of plane.entries()) bytes.writeUInt16BE(level, 2 * i)
  return bytes.toString('base64')
}

const planeOf = (text: string): Uint16Array => {
  const bytes = Buffer.from(text, 'base64')
  return Uint16Array.from({ length: bytes.length >> 1 }, (_, i) => bytes.readUInt16BE(2 * i))
}

const sketchFrom = ({ format, width, height, planes }: Kept): Sketch | null => {
  const sketch = { format, width, height, planes: planes.map(planeOf) }
  const cells = sketchCellsOf(width, height)
  return sketch.planes.every((plane) => plane.length === cells) ? sketch : null
}

/** The bytes that are kept: the first ones that fit. */
const encode = (sketches: Sketches): Buffer => {
  const kept: string[] = []
  let left = bytesMax - 64
  for (const [hash, { format, width, height, planes }] of sketches) {
    const one = JSON.stringify({ sha256: hash, format, width, height, planes: planes.map(textOf) })
    left -= one.length + 1
    if (left < 0) break
    kept.push(one)
  }
  return Buffer.from(`{"sketches":[${kept.join(',')}]}`)
}

/** Reads what is kept of a folder; nothing where that is none, or does not open. */
export const readSketches = (
  { gov }: Pick<ShotsContext, 'gov'>, view: View, folderDigest: string,
): Map<string, Sketch> => {
  const sketches = new Map<string, Sketch>()
  try {
    const bytes = readArtifact(
      gov, view, artifactIdOf(folderDigest), shotLabels.sketches, { held: true })
    const kept = v.safeParse(keptShape, parseStrictJson(bytes, { bytesMax, depthMax }))
    for (const one of kept.success ? kept.output.sketches : []) {
      const sketch = sketchFrom(one)
      if (sketch !== null) sketches.set(one.sha256, sketch)
    }
  } catch (error) {
    // They are made again; `state check` says what is wrong with the file.
    if (!(error instanceof SallyportError)) throw error
  }
  return sketches
}

/**
 * Keeps these of a folder in place of those of before, in their order as far as they fit. A lock or
 * room on the disk that cannot be had leaves those of before, which costs a look at the files.
 */
export const keepSketches = async (
  { gov }: Pick<ShotsContext, 'gov'>, folderDigest: string, sketches: Sketches,
): Promise<void> => {
  const artifactId = artifactIdOf(folderDigest)
  const label = shotLabels.sketches
  try {
    const bytes = encode(sketches)
    const old = await transactCounted(gov, 'shots analyze', (tx) => {
      const ref = gov.store.artifacts.write(label, bytes)
      const before = dropArtifact(tx, artifactId)
      registerArtifact(tx, nowIso(gov), {
        artifactId, label, ref, owner: sketchesOwner, taskId: null, adopted: false,
      })
      return before
    })
    discardStored(gov.store, old)
  } catch (error) {
    if (!(error instanceof SallyportError) || error.kind === 'damaged') throw error
  }
}
