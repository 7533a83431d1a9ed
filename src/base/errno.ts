/** Errors of the operating system as Node throws them, by name. */
import { fail, type SallyportError } from './errors.js'
import { thisPlatform } from './platform/this-platform.js'

/**
 * Node's error code of anything thrown, or an empty text. Where Node has no name and says "Unknown
 * system error", or a system has another word than Linux, the number is looked up
 * (`Platform.errnoNames`).
 */
export const errnoOf = (error: unknown): string => {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return ''
  const { errno } = error as NodeJS.ErrnoException
  return (errno === undefined ? undefined : thisPlatform.errnoNames.get(-errno)) ?? error.code
}

/** What a write says that the system took in part and no more: `writeAll` of `state/files.ts`. */
export const shortWrite = 'ESHORT'

/** `failed` `disk_full` where there is no room, or no more that this user may have; else null. */
export const fullDisk = (error: unknown, what: string): SallyportError | null => {
  const errno = errnoOf(error)
  if (!['ENOSPC', 'EDQUOT', shortWrite].includes(errno)) return null
  return fail.failed('disk_full', `The disk is full or over its quota (${what}).`, {
    next: 'Free some space and run the command again.',
    details: { errno, while: what }, cause: error,
  })
}

/** This user as the kernel counts it; a container may have no name for it. */
const runsAs = (): string => `this process runs as user ${process.getuid?.() ?? 'unknown'}`

/**
 * What helps against an error of the file system that comes of how a folder was mounted, or whose
 * it is: a sentence by the error's name, null for any other. `EXDEV`: a layer of a container that
 * cannot keep where a folder came from, as overlayfs of a user namespace without `userxattr`.
 */
export const mountHint = (errno: string): string | null => {
  switch (errno) {
    case 'EROFS':
      return 'It is mounted read-only: mount it so that it can be written, or name another folder.'
    case 'EACCES':
    case 'EPERM':
      return `Look whose the folder is, and its mode: ${runsAs()}.`
    case 'EXDEV':
      return 'This disk cannot move a folder in one step, as some layers of containers cannot: '
        + 'name a folder on a volume.'
    default:
      return null
  }
}

/**
 * A refusal of the operating system that nobody gave words of its own (`failed` `disk_full` or
 * `system_error`); null for anything else.
 */
export const systemFailure = (thrown: unknown): SallyportError | null => {
  const { syscall } = thrown as NodeJS.ErrnoException
  const errno = errnoOf(thrown)
  if (syscall === undefined || !/^E[A-Z0-9]+$/.test(errno)) return null
  const next = mountHint(errno)
  return fullDisk(thrown, syscall)
    ?? fail.failed('system_error', `The operating system refused ${syscall} (${errno}).`, {
      ...(next === null ? {} : { next }), details: { errno, syscall }, cause: thrown,
    })
}
