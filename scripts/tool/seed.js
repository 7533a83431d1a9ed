// The seed of a run: every choice that a test leaves to chance follows from it.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { seedMax } from './asked.js'
import { root } from './run.js'

/** The commit that is checked out; null where there is none. */
const commit = () => {
  const asked = ['rev-parse', 'HEAD']
  const { status, stdout } = spawnSync('git', asked, { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}

/** A seed made of a text. */
const seedOf = (text) => createHash('sha256').update(text).digest().readUInt32BE(0) % (seedMax + 1)

/**
 * The seed of this run, and where it is from: given, of the commit, or, without git, of the lock of
 * what is installed. Another commit tries other cells; the same one tries the same.
 * @param {number | null} given
 * @returns {{ seed: number, from: string }}
 */
export const seedOfRun = (given) => {
  if (given !== null) return { seed: given, from: 'given' }
  const head = commit()
  if (head !== null) return { seed: seedOf(head), from: `of commit ${head.slice(0, 8)}` }
  return { seed: seedOf(readFileSync(`${root}/package-lock.json`)), from: 'of package-lock.json' }
}
