/** The first line of a log, made again from the manifest that it names. */
import { hash } from 'node:crypto'
import type { Files } from '../files.js'
import { readWhole } from '../files.js'
import { fileBytesMax } from '../limits.js'
import type { LogHeader } from '../log/format.js'
import { encodeLogHeader } from '../log/format.js'
import type { Places } from '../paths.js'
import { looseManifest } from './snapshot.js'

/** A header line and its length in bytes. */
export interface HeaderLine {
  readonly header: LogHeader
  readonly end: number
}

/** The header that an epoch's log must have; undefined where its manifest cannot be read. */
export const rebuiltHeader = (
  files: Files, places: Places, epoch: number,
): HeaderLine | undefined => {
  const manifest = looseManifest(files, places.manifest(epoch))
  const bytes = readWhole(files, places.manifest(epoch), fileBytesMax.manifest)
  if (manifest === undefined || bytes === undefined || manifest.epoch !== epoch) return undefined
  const header: LogHeader = {
    schema: 'sallyport.log.v1',
    format_version: 1,
    store_id: manifest.store_id,
    epoch,
    manifest_sha256: hash('sha256', bytes),
    base_sequence: manifest.sequence,
    base_chain: manifest.chain,
  }
  return { header, end: encodeLogHeader(header).length }
}
