/** What a producer needs of the machine: Linux, the FFI add-on, git, and its own program. */
import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { fail, type SallyportError } from '../../base/errors.js'
import type { Platform } from '../../base/platform/platform.js'
import { thisPlatform } from '../../base/platform/this-platform.js'
import { supervisorEnvironment } from './git-command.js'
import { programDigest } from './program-digest.js'

interface Tool {
  readonly path: string
  readonly sha256: string
}

/** Everything that was found, as it is bound at approval. */
export interface ProducerTools {
  readonly helper: Tool
  readonly addon: Tool
  readonly node: Tool & { readonly version: string }
  readonly git: Tool & { readonly version: string }
}

/** Why this machine cannot run a producer. */
type UnsupportedReason =
  'platform' | 'ffi_missing' | 'ffi_refused' | 'git_missing' | 'git_too_old' | 'helper_missing'

const worded: Readonly<Record<UnsupportedReason, string>> = {
  platform: 'this system is not Linux',
  ffi_missing: 'the package of the FFI add-on is not installed for this machine',
  ffi_refused: 'the FFI add-on cannot be loaded, or the kernel refuses what it is asked for',
  git_missing: 'there is no git in /usr/bin or /bin',
  git_too_old: 'git is older than 2.32',
  helper_missing: 'the program of the producer is not installed',
}

/** `producer_unsupported` (blocked) with its reason. Issues and comments work all the same. */
const unsupported = (reason: UnsupportedReason, cause?: unknown): SallyportError =>
  fail.blocked(
    'producer_unsupported', `A publication cannot be made here: ${worded[reason]}.`, {
      reason, cause, next: 'Publish from another machine; issues and comments work on this one.',
    })

const run = promisify(execFile)
const probeMs = 30_000
const gitFolders = ['/usr/bin', '/bin']
const [gitMajorMin, gitMinorMin] = [2, 32] as const

/** Whether a version of git knows everything that it is told. */
export const isGitNewEnough = (version: string): boolean => {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? []
  if (major === undefined || minor === undefined) return false
  return Number(major) > gitMajorMin
    || (Number(major) === gitMajorMin && Number(minor) >= gitMinorMin)
}

const toolOf = (path: string, reason: UnsupportedReason): Tool => {
  try {
    const real = realpathSync(path)
    const sha256 = programDigest(real)
    if (sha256 !== null) return { path: real, sha256 }
  } catch {
    // Told below.
  }
  throw unsupported(reason)
}

const addonPath = (): string => {
  const name = `@koromix/koffi-linux-${process.arch}`
  // Some systems have another C library, and so another file of the add-on.
  const library = thisPlatform.usesMusl() ? 'musl' : 'linux'
  try {
    const entry = createRequire(import.meta.url).resolve(name)
    return join(dirname(entry), `${library}_${process.arch}`, 'koffi.node')
  } catch (error) {
    throw unsupported('ffi_missing', error)
  }
}

const gitTool = async (): Promise<ProducerTools['git']> => {
  const path = gitFolders.map((folder) => join(folder, 'git')).find((one) => existsSync(one))
  if (path === undefined) throw unsupported('git_missing')
  const tool = toolOf(path, 'git_missing')
  const env = { ...supervisorEnvironment, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const { stdout } = await run(tool.path, ['version'], { env, cwd: '/', timeout: probeMs })
  const version = /^git version (\S+)/.exec(stdout)?.[1] ?? ''
  if (!isGitNewEnough(version)) throw unsupported('git_too_old')
  return { ...tool, version }
}

/** Where the build leaves the producer's program: beside every other file of the bundle. */
const helperBesideBundle = (): string =>
  join(dirname(fileURLToPath(import.meta.url)), 'producer.js')

/** What the tools are found by; tests give another program or system. */
export interface ToolPlaces {
  readonly helper?: string
  readonly platform?: Platform['name']
}

/**
 * Throws `producer_unsupported` (blocked) where no producer can run on this system, whatever is
 * installed: asked before anything is asked of a person.
 */
export const requireProducer = ({ platform = thisPlatform.name }: ToolPlaces = {}): void => {
  if (platform !== 'linux') throw unsupported('platform')
}

/**
 * Finds the tools and asks the producer's program whether the kernel gives it what it needs. Throws
 * `producer_unsupported` (blocked) with an `UnsupportedReason`. Starts no git command but
 * `git version`, and writes nothing.
 */
export const findTools = async (places: ToolPlaces = {}): Promise<ProducerTools> => {
  requireProducer(places)
  const addon = toolOf(addonPath(), 'ffi_missing')
  const helper = toolOf(places.helper ?? helperBesideBundle(), 'helper_missing')
  const node = { ...toolOf(process.execPath, 'helper_missing'), version: process.version }
  try {
    await run(node.path, [helper.path, 'probe', addon.path], {
      env: supervisorEnvironment, cwd: '/', timeout: probeMs,
    })
  } catch (error) {
    throw unsupported('ffi_refused', error)
  }
  return { helper, addon, node, git: await gitTool() }
}
