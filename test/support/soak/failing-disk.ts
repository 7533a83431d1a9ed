/**
 * The machine's own disk, one changing call of which fails: every synchronous call of `node:fs`
 * below some folders is counted, in this process, whoever makes it; the n-th ends with an error
 * code, or writes only half.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { sep } from 'node:path'

/** How a call fails; `kill` ends this process before it. */
export type DiskFault = 'EIO' | 'ENOSPC' | 'short' | 'kill'

/** Which call fails; `seen` fills with all of them. */
export interface DiskPlan {
  /** Number of the call, from 1; 0 only counts. */
  readonly at: number
  readonly fault: DiskFault
  readonly seen: string[]
  /**
   * Files that were open before count, too, and so do those that are named by an open folder: for a
   * process that keeps its store open.
   */
  readonly openOnes?: true
}

type Call = (...args: unknown[]) => unknown
type Calls = Record<string, Call>
const disk = fs as unknown as Calls

/** Calls that change the disk and name a path first. */
const byPath = [
  'renameSync', 'linkSync', 'unlinkSync', 'rmSync', 'rmdirSync', 'mkdirSync', 'utimesSync',
  'writeFileSync', 'appendFileSync', 'copyFileSync', 'truncateSync', 'chmodSync', 'symlinkSync',
]
/** Those that name an open file first. */
const byFile = [
  'writeSync', 'writevSync', 'fsyncSync', 'fdatasyncSync', 'ftruncateSync', 'futimesSync',
  'fchmodSync',
]
/** Of two paths the second is the one that changes. */
const toPath = new Set(['renameSync', 'linkSync', 'copyFileSync', 'symlinkSync'])

const failure = (code: string, name: string): Error => {
  const syscall = name.replace(/Sync$/, '')
  return Object.assign(new Error(`${code}: injected`), { code, syscall, errno: -1 })
}

/** Half of what a write was given: bytes from `offset`, or a text. */
const halved = (args: unknown[]): unknown[] => {
  const [fd, bytes, offset, length, position] = args
  if (!(bytes instanceof Uint8Array)) return [fd, String(bytes).slice(0, String(bytes).length / 2)]
  const all = typeof length === 'number' ? length : bytes.length
  return [fd, bytes, offset ?? 0, Math.floor(all / 2), position ?? null]
}

const isMaking = (flags: unknown): boolean =>
  typeof flags === 'string' ? /[wax]/.test(flags)
    : typeof flags === 'number' && (flags & fs.constants.O_CREAT) !== 0

/** The path of what is named by an open descriptor, or within one; any other as it is. */
const throughFolder = (path: string): string => {
  const [, fd, rest] = /^\/proc\/self\/fd\/(\d+)(\/.*)?$/.exec(path) ?? []
  if (fd === undefined) return path
  try {
    return `${fs.readlinkSync(`/proc/self/fd/${fd}`)}${rest ?? ''}`
  } catch {
    return path
  }
}

class Watched {
  readonly #names = new Map<number, string>()
  readonly #own: Calls = {}

  constructor(readonly roots: readonly string[], readonly plan: DiskPlan) {}

  #isOurs(path: unknown): path is string {
    if (typeof path !== 'string') return false
    const named = this.plan.openOnes === true ? throughFolder(path) : path
    return this.roots.some((root) => named === root || named.startsWith(root + sep))
  }

  #nameOpenOnes(): void {
    for (const fd of fs.readdirSync('/proc/self/fd')) {
      const path = throughFolder(`/proc/self/fd/${fd}`)
      if (this.#isOurs(path)) this.#names.set(Number(fd), path)
    }
  }

  /** Counts one call; says how it is to fail, if it is. */
  #step(name: string, path: string): DiskFault | null {
    const { seen, at, fault } = this.plan
    seen.push(`${name} ${path}`)
    return seen.length === at ? fault : null
  }

  #fails(fault: DiskFault | null, name: string): boolean {
    if (fault === null) return false
    if (fault === 'kill') process.kill(process.pid, 'SIGKILL')
    if (fault === 'short' && name === 'writeSync') return true
    throw failure(fault === 'short' ? 'EIO' : fault, name)
  }

  #replace(name: string, by: (own: Call) => Call): void {
    const own = disk[name] as Call
    this.#own[name] = own
    disk[name] = by(own)
  }

  on(): void {
    if (this.plan.openOnes === true) this.#nameOpenOnes()
    this.#replace('openSync', (own) => (path, flags, ...more) => {
      // Made by this call, or opened to be locked: both can fail on a full disk.
      if (this.#isOurs(path) && isMaking(flags)) this.#fails(this.#step('open', path), 'open')
      const fd = own(path, flags, ...more) as number
      if (this.#isOurs(path)) this.#names.set(fd, path)
      return fd
    })
    this.#replace('closeSync', (own) => (fd, ...more) => {
      this.#names.delete(fd as number)
      return own(fd, ...more)
    })
    for (const name of byFile) {
      this.#replace(name, (own) => (fd, ...more) => {
        const path = this.#names.get(fd as number)
        const half = path !== undefined && this.#fails(this.#step(name, path), name)
        return own(...(half ? halved([fd, ...more]) : [fd, ...more]))
      })
    }
    for (const name of byPath) {
      this.#replace(name, (own) => (path, ...more) => {
        const changed = toPath.has(name) ? more[0] : path
        if (this.#isOurs(changed)) this.#fails(this.#step(name, changed), name)
        return own(path, ...more)
      })
    }
    syncBuiltinESMExports()
  }

  off(): void {
    Object.assign(disk, this.#own)
    syncBuiltinESMExports()
  }
}

/** Runs `work` while one changing call below `roots` fails. */
export const onFailingDisk = async <T>(
  roots: readonly string[], plan: DiskPlan, work: () => Promise<T>,
): Promise<T> => {
  const watched = new Watched(roots, plan)
  watched.on()
  try {
    return await work()
  } finally {
    watched.off()
  }
}
