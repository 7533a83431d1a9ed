/**
 * Containers made by bubblewrap of this machine's /usr, which they may only read: a root of their
 * own, no network namespace, no home, no user of this machine. What differs is a `Container`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from '../../world/place.js'
import { builtApp } from '../../world/process.js'
import { patienceMs } from '../speed.js'

/** Whether a program does as it is told here; null where it is not installed. */
const works = (program: string, args: readonly string[]): boolean | null => {
  const { error, status } = spawnSync(program, args)
  return error === undefined ? status === 0 : null
}

const makes = works('bwrap', ['--unshare-user', '--ro-bind', '/', '/', 'true'])

/** Why a test of containers is left out; false where this machine can make them. */
export const needsContainers: string | false = makes === true ? false
  : makes === null ? 'bwrap is not installed' : 'bwrap may make no user namespaces here'

/** Why a test on a FUSE disk is left out. */
export const needsBindfs: string | false =
  works('bindfs', ['--version']) === null ? 'bindfs is not installed' : false

/** One kind of container. */
export interface Container {
  /** Options of bwrap, behind those of every container; the volume is /state. */
  readonly options?: readonly string[]
  /** Added to its environment; an undefined one is taken away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /**
   * Typed in a user namespace outside of it, with a new folder in $1, before it begins. What it
   * mounts at "$1/volume" is the volume.
   */
  readonly mounts?: string
  /** Where it may write beside the volume; /tmp unless said. */
  readonly scratch?: string
  /** A program of Node that is PID 1 and starts `/bin/sh -c "$1"`; bwrap's own unless said. */
  readonly first?: string
}

const systemFolders = ['lib', 'lib32', 'lib64', 'bin', 'sbin']
  .filter((name) => existsSync(`/usr/${name}`))
  .flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`])

const inside = async ({ options = [], env = {}, scratch, first }: Container, script: string) => {
  const root = process.cwd()
  const variables = {
    PATH: '/usr/bin:/bin', HOME: '/state', V: '/state', W: scratch ?? '/tmp', NODE: '/node',
    APP: await builtApp(), SALLYPORT_STATE_DIR: '/state/s', SALLYPORT_CONFIG_DIR: '/state/keys',
    ...env,
  }
  return [
    'bwrap', '--unshare-user', '--unshare-pid', '--unshare-ipc', '--die-with-parent',
    '--new-session', '--ro-bind', '/usr', '/usr', ...systemFolders, '--proc', '/proc',
    '--dev', '/dev', ...(scratch === undefined ? ['--tmpfs', '/tmp'] : []),
    '--ro-bind', root, root, '--ro-bind', process.execPath, '/node', '--chdir', '/', '--clearenv',
    ...Object.entries(variables)
      .flatMap(([name, value]) => (value === undefined ? [] : ['--setenv', name, value])),
    '--bind', '__VOLUME__', '/state', ...options,
    ...(first === undefined
      ? ['--', '/bin/sh', '-c', script]
      : ['--as-pid-1', '--', '/node', '-e', first, script]),
  ]
}

/** What a container wrote and how it ended. */
export interface Contained {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a script in a container, the volume of which is the folder `name` of the place. */
export const runContained = async (
  place: Place, name: string, container: Container, script: string,
): Promise<Contained> => {
  const folder = place.path(name)
  mkdirSync(join(folder, 'volume'), { recursive: true })
  const { mounts } = container
  const argv = (await inside(container, script))
    .map((word) => (word === '__VOLUME__' ? join(folder, 'volume') : word))
  const outer = ['unshare', '-rm', 'sh', '-c', `${mounts ?? ''}\nshift; exec "$@"`, 'sh', folder]
  const [program = '', ...args] = mounts === undefined ? argv : [...outer, ...argv]
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8', timeout: 4 * patienceMs(), maxBuffer: 1e8,
  })
  if (error !== undefined) throw error
  return { status, stdout, stderr }
}

/**
 * Runs a script whose shell is PID 1 of its container, and what it becomes with `exec`. Once it has
 * written what `isUp` looks for it gets the signal. Gives its status, or the signal that ended it.
 */
export const signalledFirst = async (
  place: Place, name: string, script: string, isUp: RegExp, signal: NodeJS.Signals,
): Promise<{ readonly ended: number | string | null; readonly written: string }> => {
  const volume = join(place.path(name), 'volume')
  mkdirSync(volume, { recursive: true })
  const [program = '', ...args] = (await inside({}, script))
    .map((word) => (word === '__VOLUME__' ? volume : word))
  const child = spawn(program, ['--as-pid-1', '--info-fd', '3', ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  let [written, info, isSent] = ['', '', false]
  child.stdio[3]?.on('data', (piece: Buffer) => { info += String(piece) })
  const heard = (piece: Buffer): void => {
    written += String(piece)
    if (isSent || !isUp.test(written)) return
    isSent = true
    process.kill(Number(/"child-pid": (\d+)/.exec(info)?.[1]), signal)
  }
  child.stdout?.on('data', heard)
  child.stderr?.on('data', heard)
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs())
  const ended = await new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status, by) => resolve(status ?? by))
  })
  clearTimeout(timer)
  return { ended, written }
}
