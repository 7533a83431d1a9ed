/** Files of a stage that the supervisor writes: made exclusively, no link followed, synced. */
import { closeSync, constants, fsyncSync, linkSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { canonicalJson, sha256Hex } from '../../../base/canonical.js'
import { markerName, stageNames, temporaryMark } from '../producer-limits.js'
import { macOf } from '../mac.js'
import type { StartRecord, TerminalMarker } from '../shapes.js'

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_DIRECTORY } = constants
const ownerOnly = 0o600

/** Announces the steps within. */
type At = (step: string) => Promise<void>

const syncFolder = (): void => {
  const fd = openSync('.', O_RDONLY | O_DIRECTORY)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

const writeNew = (name: string, bytes: Buffer): void => {
  const fd = openSync(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, ownerOnly)
  try {
    // A disk that takes part of so little is full.
    if (writeSync(fd, bytes) !== bytes.length) throw new RangeError('short write')
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

const bytesOf = (token: string, record: object): Buffer =>
  Buffer.from(canonicalJson({ ...record, mac: macOf(token, record) }))

/** Writes the start record; durable when it returns. Answers the SHA-256 of its bytes. */
export const writeStart = async (
  token: string, record: Omit<StartRecord, 'mac'>, at: At,
): Promise<string> => {
  const bytes = bytesOf(token, record)
  writeNew(stageNames.start, bytes)
  await at('start.written')
  syncFolder()
  await at('start.synced')
  return sha256Hex(bytes)
}

/**
 * Publishes the marker under the SHA-256 of its bytes; durable when it returns. It has its name
 * only when it is whole; whatever stands there already, a link too, refuses it.
 */
export const writeMarker = async (
  token: string, marker: Omit<TerminalMarker, 'mac'>, at: At,
): Promise<string> => {
  const bytes = bytesOf(token, marker)
  const sha256 = sha256Hex(bytes)
  const name = markerName(sha256)
  const temporary = `${temporaryMark}${name}`
  writeNew(temporary, bytes)
  await at('marker.written')
  linkSync(temporary, name)
  await at('marker.linked')
  unlinkSync(temporary)
  syncFolder()
  await at('marker.synced')
  return sha256
}
