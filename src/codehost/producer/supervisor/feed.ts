/**
 * Gives git what the manifest names, one thing at a time, and compares every id with the approved
 * one. Contents go through one named pipe, opened anew for each: the next is written only behind
 * git's line for the last, since what is written ahead would be read as part of it.
 */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { GitStep } from '../git-command.js'
import { producerLimits } from '../producer-limits.js'
import type { ManifestTree, ProducerManifest } from '../manifest.js'
import type { PrefixReason } from '../shapes.js'
import type { GitChild } from './git-child.js'
import type { Input } from './input.js'
import type { System } from './system.js'

const { O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants

/** Within so many turns git has opened its end, or it takes its time. */
const quickTurns = 200
const pipeBytesMax = 1024 * 1024
const pipeBytesUsual = 64 * 1024

/** What was made so far. */
export interface Made {
  blobs: number
  trees: number
  commits: number
}

/** What feeding works with. */
interface Feed {
  readonly system: System
  readonly input: Input
  readonly manifest: ProducerManifest
  readonly children: Readonly<Record<GitStep, GitChild>>
  /** The named pipe as git is told it: from the stage. */
  readonly fifo: string
  readonly made: Made
  /** Why it has to end now, or null. */
  stopped(): PrefixReason | null
  at(step: string): Promise<void>
}

const errnoOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** Waits a little: first only for a turn, later for a while. */
const pause = (tries: number): Promise<unknown> => tries < quickTurns ? turn() : sleep(1)

/** Opens the pipe for writing once git reads from it; null where that is not to be. */
const openPipe = async (feed: Feed, git: GitChild): Promise<number | null> => {
  for (let tries = 0; !git.isOver && feed.stopped() === null; tries += 1) {
    try {
      const fd = openSync(feed.fifo, O_WRONLY | O_NONBLOCK | O_NOFOLLOW)
      if (fstatSync(fd).isFIFO()) return fd
      closeSync(fd)
      return null
    } catch (error) {
      if (errnoOf(error) !== 'ENXIO') return null
      await pause(tries)
    }
  }
  return null
}

/** Writes a content through the pipe; whether all of it went. */
const pour = async (feed: Feed, git: GitChild, bytes: Buffer): Promise<boolean> => {
  const fd = await openPipe(feed, git)
  if (fd === null) return false
  try {
    if (bytes.length > pipeBytesUsual) feed.system.growPipe(fd, pipeBytesMax)
    for (let [at, tries] = [0, 0]; at < bytes.length;) {
      try {
        at += writeSync(fd, bytes, at)
        tries = 0
      } catch (error) {
        if (errnoOf(error) !== 'EAGAIN') return false
        if (git.isOver || feed.stopped() !== null) return false
        await pause(tries += 1)
      }
    }
    return true
  } finally {
    closeSync(fd)
  }
}

/** Compares git's next line with the approved id; null where they are one. */
const expectId = async (git: GitChild, id: string): Promise<PrefixReason | null> => {
  const found = await git.line()
  if (found.line === null) return found.exceeded ? 'output_exceeded' : 'git_failed'
  return found.line === id ? null : 'id_differs'
}

const feedBlob = async (
  feed: Feed, [id, bytes]: ProducerManifest['files'][number],
): Promise<PrefixReason | null> => {
  const body = await feed.input.frame(producerLimits.fileBytesMax)
  if (body === null) return feed.stopped() ?? 'input_ended'
  if (body === 'too_long' || body.length !== bytes) return 'input_invalid'
  const git = feed.children.blobs
  await git.give(`${feed.fifo}\n`)
  const went = await pour(feed, git, body)
  body.fill(0)
  if (!went) return feed.stopped() ?? (git.isOver ? 'git_failed' : 'pipe_failed')
  return expectId(git, id)
}

const typeOf = (mode: string): string =>
  mode === '040000' ? 'tree' : mode === '160000' ? 'commit' : 'blob'

const recordOf = ({ entries }: ManifestTree): string =>
  `${entries.map(([mode, name, id]) => `${mode} ${typeOf(mode)} ${id}\t${name}\0`).join('')}\0`

const feedTree = async (feed: Feed, tree: ManifestTree): Promise<PrefixReason | null> => {
  await feed.children.trees.give(recordOf(tree))
  return expectId(feed.children.trees, tree.id)
}

const feedCommit = async (feed: Feed): Promise<PrefixReason | null> => {
  const { commit } = feed.children
  await commit.give(feed.manifest.commit.message)
  commit.finish()
  return expectId(commit, feed.manifest.commit.id)
}

/** Runs steps until one has a reason to end; counts those that have none. */
const each = async <T>(
  feed: Feed, what: keyof Made, items: readonly T[],
  step: (item: T) => Promise<PrefixReason | null>,
): Promise<PrefixReason | null> => {
  for (const item of items) {
    const reason = feed.stopped() ?? await step(item)
    if (reason !== null) return reason
    feed.made[what] += 1
    await feed.at(`${what}.${feed.made[what]}`)
  }
  return null
}

/** How git has to end once it is given nothing more. */
const ends = async (git: GitChild): Promise<PrefixReason | null> => {
  git.finish()
  const { code } = await git.closed
  if (git.hasMore) return 'output_exceeded'
  return code === 0 ? null : 'git_failed'
}

/** Feeds everything; null when all of it was made and every git ended well. */
export const feedAll = async (feed: Feed): Promise<PrefixReason | null> => {
  const { children: { blobs, trees, commit }, manifest } = feed
  return await each(feed, 'blobs', manifest.files, (file) => feedBlob(feed, file))
    ?? await ends(blobs)
    ?? await each(feed, 'trees', manifest.trees, (tree) => feedTree(feed, tree))
    ?? await ends(trees)
    ?? await each(feed, 'commits', [null], () => feedCommit(feed))
    ?? await ends(commit)
    // What comes behind the last content belongs to no command.
    ?? (await feed.input.take(1) === null ? null : 'input_invalid')
}
