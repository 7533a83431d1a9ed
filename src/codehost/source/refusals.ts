/** What stands in the way of reading a folder as the files of a publication. */
import { fail, type SallyportError } from '../../base/errors.js'
import { shownText } from '../../base/shown-text.js'
import { planLimitMax } from '../plan/plan-limits.js'

/** Most files and folders below the folder: a tree cannot have more. */
export const sourceEntriesMax = planLimitMax.tree_entries
/** Most folders within each other. */
export const sourceDepthMax = 128

/** Why a folder, or something in it, is not read. */
export type SourceReason =
  | 'missing' | 'not_folder' | 'own_folder' | 'link' | 'device' | 'fifo' | 'socket' | 'nested_git'
  | 'lfs_content' | 'file_too_large' | 'too_many' | 'too_deep' | 'unreadable'

const worded: Readonly<Record<SourceReason, string>> = {
  missing: 'there is none of that name',
  not_folder: 'it is no folder',
  own_folder: 'it holds a folder in which this program keeps its state or keys, or lies in one',
  link: 'it has a symbolic link that the base does not have so',
  device: 'it has a device',
  fifo: 'it has a named pipe',
  socket: 'it has a socket',
  nested_git: 'a folder in it has a .git of its own and is no submodule of the base',
  lfs_content: 'it has the content of a file of which the base holds an LFS pointer',
  file_too_large: `it has a file above ${planLimitMax.file_bytes} bytes that differs from the base`,
  too_many: `it has more than ${sourceEntriesMax} files and folders`,
  too_deep: `it has more than ${sourceDepthMax} folders within each other`,
  unreadable: 'a part of it cannot be read',
}

/** What can be done about a reason; of the others the thing itself can be moved away. */
const ways: Readonly<Partial<Record<SourceReason, string>>> = {
  missing: 'Look at the name of the folder, or make it.',
  not_folder: 'Name a folder.',
  lfs_content: 'Publish from a checkout that keeps the pointers (GIT_LFS_SKIP_SMUDGE=1 git clone).',
}

/** Throws `source_refused` (rejected) with the reason, and what it is about among the details. */
export const refusedSource = (
  reason: SourceReason, path: string | null, cause?: unknown,
): SallyportError =>
  fail.rejected('source_refused', `The folder is not published: ${worded[reason]}.`, {
    reason, details: path === null ? {} : { path: shownText(path) }, cause,
    next: ways[reason] ?? 'Move it away, or publish another folder.',
  })

/** Throws `source_changed` (conflict): what was read is not what is there now. */
export const changedSource = (path: string): SallyportError =>
  fail.conflict('source_changed', 'The folder changed while it was read.', {
    details: { path: shownText(path) },
    next: 'Run the command again when nothing writes there.',
  })

/** Throws `source_not_as_shown` (conflict): it changed between what was shown and the yes to it. */
export const sourceNotAsShown = (path: string | null): SallyportError =>
  fail.conflict('source_not_as_shown', 'The folder is not what was shown of it any more.', {
    details: path === null ? {} : { path: shownText(path) },
    next: 'Nothing was sent. Look anew by the same command, under another key if it has one.',
  })
