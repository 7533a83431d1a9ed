/** Names of branches by the rules of `git check-ref-format --branch`. */
import { fail } from '../../base/errors.js'
import { isWellFormed } from '../../base/well-formed.js'

/** Why a text is no name of a branch. */
type BranchReason =
  | 'empty' | 'not_utf8' | 'character' | 'component' | 'dots' | 'at_brace' | 'ends_in_dot' | 'dash'
  | 'head' | 'at' | 'too_long'

/** Most bytes of a full reference name, `refs/heads/` included, that hosts take. */
export const refBytesMax = 255
/** What stands before a branch's name in its reference. */
export const branchRefPrefix = 'refs/heads/'

const worded: Readonly<Record<BranchReason, string>> = {
  empty: 'is empty',
  not_utf8: 'is not valid Unicode',
  character: 'holds a space, a control character or one of ~ ^ : ? * [ \\',
  component: 'has a part that is empty, begins with a dot or ends in .lock',
  dots: 'holds two dots in a row',
  at_brace: 'holds @{',
  ends_in_dot: 'ends in a dot',
  dash: 'begins with a dash',
  head: 'is HEAD, which stands for another branch',
  at: 'is @, which stands for HEAD',
  too_long: `is longer than ${refBytesMax - branchRefPrefix.length} bytes`,
}

const forbidden = /[\u0000-\u0020\u007f~^:?*[\\]/

const badComponent = (part: string): boolean =>
  part === '' || part.startsWith('.') || part.endsWith('.lock')

/** Why a text is no name of a branch; null where it is one. */
export const branchReason = (name: string): BranchReason | null => {
  if (name === '') return 'empty'
  if (!isWellFormed(name)) return 'not_utf8'
  if (forbidden.test(name)) return 'character'
  if (name.includes('..')) return 'dots'
  if (name.includes('@{')) return 'at_brace'
  if (name.split('/').some(badComponent)) return 'component'
  if (name.endsWith('.')) return 'ends_in_dot'
  if (name.startsWith('-')) return 'dash'
  if (name === 'HEAD') return 'head'
  if (name === '@') return 'at'
  return Buffer.byteLength(branchRefPrefix + name) > refBytesMax ? 'too_long' : null
}

/** Throws `branch_name_invalid` (rejected) with the `BranchReason`; the name is not quoted. */
export const requireBranchName = (name: string): void => {
  const reason = branchReason(name)
  if (reason === null) return
  throw fail.rejected('branch_name_invalid', `The name of the branch ${worded[reason]}.`, {
    reason, next: 'See: git help check-ref-format',
  })
}
