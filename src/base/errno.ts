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

/**
 * A refusal of the operating system that nobody gave words of its own (`failed` `disk_full` or
 * `system_error`); null for anything else.
 */
export const systemFailure = (thrown: unknown): SallyportError | null => {
  const { syscall } = thrown as NodeJS.ErrnoException
  const errno = errnoOf(thrown)
  if (syscall === undefined || !/^E[A-Z0-9]+$/.test(errno)) return null
  return fullDisk(thrown, syscall)
    ?? fail.failed('system_error', `The operating system refused ${syscall} (${errno}).`, {
      details: { errno, syscall }, cause: thrown,
    })
}
