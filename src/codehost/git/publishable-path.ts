/**
 * Which paths may be published. Refused is what git itself refuses to check out anywhere (`.git`
 * and what HFS+ and NTFS take for it), what no tree or request can hold, and workflow files, which
 * need a permission that a token should not have.
 */
import { fail } from '../../base/errors.js'
import { shownText } from '../../base/shown-text.js'
import { isWellFormed } from '../../base/well-formed.js'

type PathReason =
  | 'not_utf8' | 'empty_name' | 'dot_name' | 'control_character' | 'backslash' | 'git_name'
  | 'workflow' | 'path_too_long'

/** Most bytes of a path: what Linux takes. */
export const pathBytesMax = 4096

const worded: Readonly<Record<PathReason, string>> = {
  not_utf8: 'its name is not UTF-8',
  empty_name: 'a name in it is empty',
  dot_name: 'a name in it is . or ..',
  control_character: 'it holds a control character',
  backslash: 'it holds a backslash, which other systems take for a folder',
  git_name: 'a name in it stands for .git on some system',
  workflow: 'it lies in .github/workflows',
  path_too_long: `it is longer than ${pathBytesMax} bytes`,
}

/** Code points that HFS+ leaves out when it compares names. */
const hfsIgnored = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** `.git` or its short name `git~1`, then only what NTFS cuts off, then perhaps a stream's name. */
const ntfsGit = /^(?:\.git|git~1)[. ]*(?::|$)/i

const isGitName = (name: string): boolean =>
  name.replace(hfsIgnored, '').toLowerCase() === '.git' || ntfsGit.test(name)

// Control characters are refused as a whole: some shells and lists act on them.
const control = /\p{Cc}/u

const nameReason = (name: string): PathReason | null => {
  if (name === '') return 'empty_name'
  if (name === '.' || name === '..') return 'dot_name'
  return isGitName(name) ? 'git_name' : null
}

/** The folder of workflows, in any letter case: some systems do not tell them apart. */
const workflow = /^\.github\/workflows(?:\/|$)/i

/** Why a path, joined by slashes from the top of the tree, is not published; null where it is. */
export const pathReason = (path: string): PathReason | null => {
  if (!isWellFormed(path)) return 'not_utf8'
  if (Buffer.byteLength(path) > pathBytesMax) return 'path_too_long'
  if (control.test(path)) return 'control_character'
  if (path.includes('\\')) return 'backslash'
  for (const name of path.split('/')) {
    const reason = nameReason(name)
    if (reason !== null) return reason
  }
  return workflow.test(path) ? 'workflow' : null
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A file name as the system gives its bytes; null where they are not UTF-8. */
export const fileNameOf = (bytes: Uint8Array): string | null => {
  try {
    return decoder.decode(bytes)
  } catch {
    return null
  }
}

/** Throws `path_not_publishable` (rejected) with the `PathReason`, the path among the details. */
export const requirePublishable = (path: string): void => {
  const reason = pathReason(path)
  if (reason === null) return
  throw fail.rejected('path_not_publishable', `A file is not published: ${worded[reason]}.`, {
    reason, details: { path: shownText(path) },
    next: 'Rename it, or publish a folder without it.',
  })
}
