/** Copies of files and folders through the one file layer; every copy is synced. */
import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { fail } from '../../base/errors.js'
import {
  namesIn, readRange, syncDir, temporaryName, withFile, writeAll, type Files,
} from '../files.js'

const chunkBytes = 1024 * 1024

/**
 * Copies the first `size` bytes (all of them by default) of a file to a new file and answers its
 * length and SHA-256. The target must not exist.
 */
export const copyFile = (
  files: Files, from: string, to: string, size?: number,
): { readonly bytes: number; readonly sha256: string } =>
  withFile(files, from, 'read', (source) =>
    withFile(files, to, 'create', (target) => {
      const digest = createHash('sha256')
      const until = size ?? Number.POSITIVE_INFINITY
      let at = 0
      while (at < until) {
        const chunk = readRange(files, source, at, Math.min(chunkBytes, until - at))
        if (chunk.length === 0) break
        writeAll(files, target, chunk, at)
        digest.update(chunk)
        at += chunk.length
      }
      files.sync(target)
      return { bytes: at, sha256: digest.digest('hex') }
    }))

/**
 * Copies a file to a place where nothing is, durably. A copy that is cut off leaves a temporary
 * file and never half of one under its name: the next try would take that for a whole one.
 */
export const placeCopy = (files: Files, from: string, to: string): void => {
  const temporary = join(dirname(to), temporaryName())
  copyFile(files, from, temporary)
  files.rename(temporary, to)
  syncDir(files, dirname(to))
}

/** Length and SHA-256 of a file. */
export const digestFile = (
  files: Files, path: string,
): { readonly bytes: number; readonly sha256: string } =>
  withFile(files, path, 'read', (fd) => {
    const digest = createHash('sha256')
    let at = 0
    for (;;) {
      const chunk = readRange(files, fd, at, chunkBytes)
      if (chunk.length === 0) break
      digest.update(chunk)
      at += chunk.length
    }
    return { bytes: at, sha256: digest.digest('hex') }
  })

/** Paths of all regular files below a folder, relative to it, sorted; links are refused. */
export const filesBelow = (files: Files, root: string, below = ''): string[] => {
  const found: string[] = []
  for (const name of namesIn(files, join(root, below))) {
    const path = below === '' ? name : `${below}/${name}`
    const facts = files.stat(join(root, path))
    if (facts?.kind === 'dir') found.push(...filesBelow(files, root, path))
    else if (facts?.kind === 'file') found.push(path)
    else if (facts !== undefined) {
      throw fail.rejected('not_a_file', 'A folder to be copied holds a link or a special file.', {
        next: 'Remove it and run the command again.',
      })
    }
  }
  return found
}

/**
 * Copies a folder's files into a new folder, which is made; empty folders are made too. A file
 * whose name says that it never changes (`fixed`) is linked: a copy as well, and it costs nothing.
 */
export const copyTree = (
  files: Files, from: string, to: string, fixed: (name: string) => boolean = () => false,
): void => {
  files.mkdir(to)
  for (const name of files.list(from)) {
    const kind = files.stat(join(from, name))?.kind
    if (kind === 'dir') copyTree(files, join(from, name), join(to, name), fixed)
    else if (kind === 'file' && fixed(name)) files.link(join(from, name), join(to, name))
    else if (kind === 'file') copyFile(files, join(from, name), join(to, name))
  }
  syncDir(files, to)
}

/** Whether a stored file lies at a path with the bytes that its name says. */
export const isTrueFile = (files: Files, path: string): boolean =>
  files.stat(path)?.kind === 'file' && digestFile(files, path).sha256 === basename(path)
