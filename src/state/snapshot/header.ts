/**
 * The first line of a log. Each follows from what the log goes on from: the log before it, or the
 * manifest that it was founded with. So an untrue line can be made again without loss.
 */
import { encodeLogHeader, type LogHeader } from '../log/format.js'
import { logFormatOf } from '../paths.js'
import { manifestDigest, type Manifest } from './manifest.js'

/** A header line and its length in bytes. */
interface HeaderLine {
  readonly header: LogHeader
  readonly end: number
}

/** What a log goes on from. */
export interface LogBase {
  readonly storeId: string
  readonly epoch: number
  readonly format: LogHeader['format_version']
  readonly sequence: number
  readonly chain: string
  /** SHA-256 of the manifest that it was founded with, or null. */
  readonly manifest: string | null
}

/** The header of a log that goes on from a base. */
export const headerOf = (
  { storeId, epoch, format, sequence, chain, manifest }: LogBase,
): HeaderLine => {
  const fields = {
    store_id: storeId,
    epoch,
    manifest_sha256: manifest,
    base_sequence: sequence,
    base_chain: chain,
  }
  const header: LogHeader = format === 2
    ? { schema: 'sallyport.log.v2', format_version: format, ...fields }
    : { schema: 'sallyport.log.v3', format_version: format, ...fields }
  return { header, end: encodeLogHeader(header).length }
}

/** The bases that the first log after a manifest may have. */
export const basesAfter = (manifest: Manifest): readonly LogBase[] => {
  const { store_id: storeId, epoch, sequence, chain } = manifest
  const format = logFormatOf(manifest.format_version)
  const base = { storeId, epoch: epoch + 1, format, sequence, chain }
  return [...(manifest.founding ? [] : [{ ...base, manifest: null }]),
    { ...base, manifest: manifestDigest(manifest) }]
}

export const goesOn = (header: LogHeader, base: LogBase): boolean =>
  header.store_id === base.storeId && header.epoch === base.epoch &&
  header.format_version === base.format &&
  header.base_sequence === base.sequence && header.base_chain === base.chain &&
  header.manifest_sha256 === base.manifest

/** The SHA-256 in hex and the newline behind it. */
const checksumBytes = 65

/**
 * The header that an untrue first line still vouches for: its text or its checksum is that of the
 * line that one of the bases gives. A line of which neither is left vouches for none.
 */
export const vouchedHeader = (found: Buffer, bases: readonly LogBase[]): HeaderLine | undefined =>
  bases.map(headerOf).find(({ header }) => {
    const line = encodeLogHeader(header)
    const text = line.length - checksumBytes
    const same = (from: number, to: number): boolean =>
      found.subarray(from, to).equals(line.subarray(from, to))
    return same(0, text) || same(text, line.length - 1)
  })
