/**
 * What a repair would fill from: the manifest before the newest, with its files and the logs that
 * lead on from it, and the second copy of a founded manifest. Nothing reads them while all is well,
 * so only a check can tell that they would not help.
 */
import { basename } from 'node:path'
import type { SegmentFacts } from '../segments/build.js'
import { firstManifest } from '../snapshot/founding.js'
import { looseManifest, manifestDigest, segmentsIn, type Manifest } from '../snapshot/manifest.js'
import { SegmentPool } from '../snapshot/pool.js'
import type { Problem } from '../types.js'
import { filling } from './all-rows.js'
import type { Salvage, Trace } from './salvage.js'
import type { Site } from './use-case.js'

const spare = (subject: string): Problem => ({
  code: 'spare_damaged', severity: 'damage', subject,
  message: 'What a repair would fill from is damaged: `sallyport state compact` replaces it.',
})

/** Whether the second copy of a founded manifest is what it must be. */
const hasCopy = ({ files, places }: Site, manifest: Manifest): boolean => {
  const digest = manifestDigest(manifest)
  if (manifestDigest(firstManifest(manifest.state)) === digest) return true
  const copy = looseManifest(files, places.founding(manifest.epoch + 1))
  return copy !== undefined && manifestDigest(copy) === digest
}

/** Names of what is wrong with the manifest before one that a fold made. */
const wrongBefore = (
  { files, places }: Site, found: Salvage & { readonly standing: Trace },
  isUntrue: (facts: SegmentFacts) => boolean,
): string[] => {
  const { standing: { manifest }, before, untrue, remade } = found
  const oldest = before?.manifest.number ?? 0
  const manifests = [...untrue, ...remade.map(({ number }) => number)]
    .filter((number) => number >= oldest).map((number) => `manifest ${number}`)
  const rows = filling(new SegmentPool(files, places, 0), found)
  if (before === undefined || rows === undefined) {
    return manifests.length > 0 ? manifests : [`manifest before ${manifest.number}`]
  }
  rows.close()
  const own = new Set(segmentsIn(manifest).map(({ name }) => name))
  const segments = segmentsIn(before.manifest)
    .filter((facts) => !own.has(facts.name) && isUntrue(facts)).map(({ name }) => name)
  return [...manifests, ...segments]
}

/**
 * What is wrong with the spare: for a founded manifest its second copy, else the manifest before.
 * `isUntrue` says whether a segment is not as its manifest names it.
 */
export const spareProblems = (
  site: Site, found: Salvage & { readonly standing: Trace },
  isUntrue: (facts: SegmentFacts) => boolean,
): readonly Problem[] => {
  const { standing: { manifest }, untrue, remade } = found
  const known = Math.max(0, ...untrue, ...remade.map(({ number }) => number))
  // The newest one is damaged: what stands is the spare.
  if (known >= manifest.number) return []
  if (!manifest.founding) return wrongBefore(site, found, isUntrue).map(spare)
  return hasCopy(site, manifest)
    ? [] : [spare(basename(site.places.founding(manifest.epoch + 1)))]
}
