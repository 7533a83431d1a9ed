/**
 * The stage of one producer: a bare repository written by hand, since `git init` would copy
 * templates, with what is bound beside it. Regular files only; the folder is its owner's alone.
 */
import {
  chmodSync, closeSync, constants, lstatSync, openSync, readFileSync, readdirSync,
} from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { canonicalJson, sha256Hex } from '../../base/canonical.js'
import { fail } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import {
  ensureDir, ioFailure, nodeFiles, removeFile, removeTree, syncDir, withFile, writeAll,
} from '../../state/files.js'
import { requireOwnFolders } from '../../state/folders.js'
import type { CommitDraft } from '../git/commit.js'
import { emptyTree } from '../git/tree.js'
import { gitArguments, gitEnvironment, supervisorEnvironment } from './git-command.js'
import { inventoryOf } from './inventory.js'
import { isolationClaim, markerDigest, recoveryContract, stageNames } from './producer-limits.js'
import { manifestBytes, type ProducerManifest } from './manifest.js'
import type { ProducerBinding, ProducerJob } from './shapes.js'
import type { ProducerTools } from './tools.js'

export const stagePath = (stateDir: string, jobId: string): string =>
  join(stateDir, 'stages', jobId)

/** The named pipe of a job, where it stands while its producer runs. */
const fifoPath = (stateDir: string, jobId: string): string =>
  join(stateDir, 'run', `${jobId}.fifo`)

/**
 * Removes the named pipe of a job. A git whose supervisor was killed may wait for somebody to write
 * to it, and would wait for ever: it is let go first.
 */
export const removeFifo = (stateDir: string, jobId: string): void => {
  const path = fifoPath(stateDir, jobId)
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants
    closeSync(openSync(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW))
  } catch {
    // Nobody waits, or it is gone.
  }
  removeFile(nodeFiles, path)
}

const gitFolders = [
  'objects', 'objects/info', 'objects/pack', 'refs', 'refs/heads', 'refs/tags',
] as const

const gitFiles = {
  HEAD: 'ref: refs/heads/none\n',
  config: '[core]\n\trepositoryformatversion = 0\n\tbare = true\n',
} as const

const writeNew = (path: string, bytes: Uint8Array): void =>
  withFile(nodeFiles, path, 'create', (fd) => {
    writeAll(nodeFiles, fd, bytes, 0)
    nodeFiles.sync(fd)
  })

/**
 * git asks what type a parent has, and nothing else of it. The base's own bytes are not to be had
 * from a host, so a commit of nothing stands under its id; whoever read it would see that it is not
 * what it is called.
 */
const standIn = (): Buffer => {
  const body = `tree ${emptyTree.id}\n`
  return deflateSync(Buffer.from(`commit ${body.length}\0${body}`))
}

interface StageInput {
  readonly tools: ProducerTools
  readonly job: ProducerJob
  readonly manifest: ProducerManifest
  readonly commit: CommitDraft
  /** The token of the producer's id (see `producerToken`). */
  readonly tokenOf: (producerId: string) => string
}

const writeRepository = (dir: string, parents: readonly string[]): void => {
  for (const folder of gitFolders) ensureDir(nodeFiles, join(dir, folder))
  for (const [name, text] of Object.entries(gitFiles)) writeNew(join(dir, name), Buffer.from(text))
  for (const id of parents) {
    const folder = join(dir, 'objects', id.slice(0, 2))
    ensureDir(nodeFiles, folder)
    writeNew(join(folder, id.slice(2)), standIn())
    syncDir(nodeFiles, folder)
  }
}

const bindingOf = (
  dir: string, { tools, job, manifest, commit, tokenOf }: StageInput,
): ProducerBinding => {
  const producerId = newId('prd')
  const helper = join(dir, stageNames.helper)
  const bytes = manifestBytes(manifest)
  const { blobs, trees, commit: made } = gitArguments(commit)
  return {
    schema: 'svc.codehost.producer_binding.v1',
    isolation_claim: isolationClaim, recovery_contract: recoveryContract,
    producer_id: producerId, job: { ...job },
    helper: { path: helper, sha256: sha256Hex(readFileSync(helper)) },
    node: { ...tools.node }, git: { ...tools.git }, addon: { ...tools.addon },
    arguments: { node: [helper], git: { blobs: [...blobs], trees: [...trees], commit: [...made] } },
    environment: { supervisor: { ...supervisorEnvironment }, git: { ...gitEnvironment(commit) } },
    inputs: {
      manifest_sha256: sha256Hex(bytes), manifest_bytes: bytes.length,
      files: manifest.files.length,
      file_bytes: manifest.files.reduce((sum, [, length]) => sum + length, 0),
      trees: manifest.trees.length,
    },
    stage: {
      inode: String(lstatSync(dir, { bigint: true }).ino), inventory_sha256: inventoryOf(dir),
    },
    token_sha256: sha256Hex(tokenOf(producerId)),
  }
}

/** Bytes of a binding; their SHA-256 names it in every record. */
export const bindingBytes = (binding: ProducerBinding): Buffer =>
  Buffer.from(canonicalJson(binding))

const makeStage = (stateDir: string, input: StageInput): ProducerBinding => {
  const dir = stagePath(stateDir, input.job.job_id)
  requireOwnFolders(nodeFiles, stateDir, ['run', 'stages'])
  ensureDir(nodeFiles, join(stateDir, 'stages'))
  if (wasUsed(dir)) {
    throw fail.conflict('producer_used', 'The producer of this job was started already.', {
      next: 'Prepare the publication again as another job.',
    })
  }
  removeTree(nodeFiles, dir)
  ensureDir(nodeFiles, dir)
  chmodSync(dir, 0o700)
  writeRepository(dir, input.commit.parents)
  writeNew(join(dir, stageNames.helper), readFileSync(input.tools.helper.path))
  const binding = bindingOf(dir, input)
  if (binding.helper.sha256 !== input.tools.helper.sha256) throw changedHelper()
  writeNew(join(dir, stageNames.binding), bindingBytes(binding))
  syncDir(nodeFiles, dir)
  return binding
}

const changedHelper = (): Error =>
  fail.conflict('producer_changed', 'The program of the producer changed just now.', {
    reason: 'helper', next: 'Run the command again.',
  })

/**
 * Makes the stage of a job and answers what is bound. One that was never started is made anew;
 * `producer_used` (conflict) where one was. Disk errors are those of `ioFailure`.
 */
export const createStage = (stateDir: string, input: StageInput): ProducerBinding => {
  try {
    return makeStage(stateDir, input)
  } catch (error) {
    throw ioFailure(error, 'stage')
  }
}

/** Whether a supervisor of this stage wrote anything down: its one run is over or under way. */
export const wasUsed = (dir: string): boolean => {
  const names = nodeFiles.stat(dir) === undefined ? [] : readdirSync(dir)
  return names.some((name) => name === stageNames.start || markerDigest(name) !== null)
}

/** Removes a stage once nothing asks for its proof any more: after the record that says so. */
export const removeStage = (stateDir: string, jobId: string): void => {
  requireOwnFolders(nodeFiles, stateDir, ['run', 'stages'])
  removeFifo(stateDir, jobId)
  removeTree(nodeFiles, stagePath(stateDir, jobId))
}
