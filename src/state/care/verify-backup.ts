/**
 * Whether a backup could be restored, without restoring it: every file against the length and hash
 * that `backup.json` names, and then the state in it as a check reads any state. Reads only.
 */
import { join, resolve } from 'node:path'
import { SallyportError } from '../../base/errors.js'
import { untrueInBackup, type BackupLoss } from './backup.js'
import { damage, notice } from './check-generation.js'
import { isSound, type CheckOptions, type CheckReport } from './check.js'
import { requireRestorable } from './restore.js'
import type { Problem } from '../types.js'
import { careFailure } from './unreadable.js'
import { siteOf, type Site } from './use-case.js'

/** What was found of a backup. */
export interface VerifyReport {
  /** Nothing but notices. */
  readonly ok: boolean
  readonly store_id: string
  readonly created_at: string
  readonly sequence: number
  readonly files: number
  readonly bytes: number
  readonly documents: number
  readonly artifacts: number
  /** What a salvaged backup lacks; null for a whole one. */
  readonly loss: BackupLoss | null
  readonly problems: readonly Problem[]
}

/** What is so of every backup: it is older than its anchor, and has one generation and no locks. */
const isOfCopies = ({ code }: Problem): boolean =>
  code.startsWith('anchor_') || ['entry_missing', 'spare_damaged', 'mode_open'].includes(code)

/** A file of a backup that cannot be read is no loss of the state that a repair looks after. */
const ofBackup = (failure: SallyportError): SallyportError => {
  const { kind, code, message, details, cause } = failure
  if (details['file'] === undefined || kind !== 'failed') return failure
  const next = 'Check the disk and run the command again. If it stays so, use another backup.'
  return new SallyportError({ kind, code, message, details, cause, next })
}

/** What keeps a state from being used and no restore from making one of its copy that can be. */
const asOfCopy = (problem: Problem): Problem => {
  if (problem.code === 'state_too_old') {
    return notice('backup_format_older',
      'The state in it has an older format, which a restore brings to the present one. Shapes and '
      + 'rules of its rows are looked at then.')
  }
  return problem.code.startsWith('witness_')
    ? notice(problem.code, `${problem.message} A restore publishes a revoked policy anew.`)
    : problem
}

const restorable = ({ files }: Site, backup: string): readonly Problem[] => {
  try {
    requireRestorable(files, backup)
    return []
  } catch (error) {
    if (!(error instanceof SallyportError) || error.code !== 'backup_invalid') throw error
    return [damage('backup_contradicts', 'The state in it is not the one that it names.')]
  }
}

/**
 * Verifies a backup; `check` reads the state in it, with the rules of the layers above. Throws
 * `rejected` `backup_missing` and `backup_invalid` where there is none, or its list is untrue.
 */
export const verifyState = (
  options: Pick<CheckOptions, 'files' | 'clock' | 'configDir'> & { readonly backup: string },
  check: (dir: string) => CheckReport,
): VerifyReport => {
  const backup = resolve(options.backup)
  const dir = join(backup, 'state')
  const site = siteOf({ ...options, dir })
  try {
    const { facts, untrue } = untrueInBackup(site.files, backup)
    const report = check(dir)
    const problems = [
      ...untrue.map((name) =>
        damage('backup_file_untrue', 'A file of the backup is missing or untrue.', name)),
      ...(untrue.length > 0 ? [] : restorable(site, backup)),
      ...report.problems.filter((problem) => !isOfCopies(problem)).map(asOfCopy),
    ]
    const { store_id, created_at, sequence, files, loss = null } = facts
    return {
      ok: isSound(problems), store_id, created_at, sequence, files: files.length,
      bytes: files.reduce((sum, [, size]) => sum + size, 0),
      documents: report.documents, artifacts: report.artifacts, loss, problems,
    }
  } catch (error) {
    throw ofBackup(careFailure(error, 'verifying a backup', site))
  }
}
