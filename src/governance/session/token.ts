/**
 * The session token: 32 random bytes as base64url text. A row keeps only its keyed digest; the
 * token itself lies in one file of mode 600 (`run/session`, or where `login --token-file` says)
 * or in the environment of a CI run, and is never printed.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { errnoOf, fullDisk } from '../../base/errno.js'
import { fail } from '../../base/errors.js'
import { ioFailure } from '../../state/files.js'
import type { Store } from '../../state/types.js'
import { readPrivate, sweepPrivate, writePrivate } from './private-file.js'

const tokenBytes = 32
const tokenForm = /^[A-Za-z0-9_-]{43}$/
/** A token and what an editor may have put around it. */
const fileBytesMax = 1_024
const digestLabel = 'session.token'

export const newToken = (): string => randomBytes(tokenBytes).toString('base64url')

export const isToken = (text: string): boolean => tokenForm.test(text)

/** Keyed digest of a token: what a root's row keeps. */
export const tokenDigest = (store: Store, token: string): string =>
  store.keyedDigest(digestLabel, Buffer.from(token, 'ascii'))

/** Compares two hex digests in constant time. */
export const sameDigest = (a: string, b: string): boolean => {
  const left = Buffer.from(a, 'ascii')
  const right = Buffer.from(b, 'ascii')
  return left.length === right.length && timingSafeEqual(left, right)
}

/** Where the terminal's own token lies. */
export const tokenPath = (dir: string): string => join(dir, 'run', 'session')

/**
 * Writes a token to a file of mode 600, replacing what was there in one step. What a process that
 * died left beside it goes: it may be a token that still opens its session.
 */
export const saveToken = (path: string, token: string): void => {
  sweepPrivate(path)
  try {
    writePrivate(path, `${token}\n`)
  } catch (cause) {
    throw fullDisk(cause, 'writing the session token')
      ?? fail.failed('token_not_written', 'The session token could not be written to its file.', {
        next: 'Check that the folder of the token file can be written to, then log in again.',
        cause,
      })
  }
}

/** What the system says of links, sockets and pipes, and where no folder leads to the file. */
const noFile = new Set(['ELOOP', 'ENXIO', 'ENODEV', 'ENOTDIR'])

/**
 * The token in a file, or null when there is none of the right form, also in a pipe, a device or a
 * file that is too long to hold one: the next login puts a file of its own there. Throws `failed`
 * where the disk does not tell: a session that cannot be read has not ended because of that.
 */
export const loadToken = (path: string): string | null => {
  try {
    const text = readPrivate(path, fileBytesMax)?.trim() ?? ''
    return isToken(text) ? text : null
  } catch (error) {
    if (noFile.has(errnoOf(error))) return null
    throw ioFailure(error, 'reading the session token')
  }
}

const holdsToken = (path: string, token: string): boolean => {
  try {
    return loadToken(path) === token
  } catch {
    // Its session has ended: what lies there opens nothing any more.
    return false
  }
}

/**
 * Removes a token file if it holds exactly this token: another login's token is left alone, unless
 * it was only half-way to its file when its process died.
 */
export const dropToken = (path: string, token: string): boolean => {
  sweepPrivate(path)
  if (!holdsToken(path, token)) return false
  rmSync(path, { force: true })
  return true
}
