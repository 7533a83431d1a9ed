/**
 * One run of the program. Light answers come before anything heavy is loaded: the version needs
 * this file alone, and every other command loads only the module of the verb that was named.
 */
import { exitStatus } from '../base/exit-status.js'
import type { CliDeps } from './deps.js'
import { version } from './version.js'

const versionFlags = ['--version', '-V']

/** Runs the command that `deps.argv` names; gives the exit status and never throws. */
export const main = async (deps: CliDeps): Promise<number> => {
  if (deps.argv.length === 1 && versionFlags.includes(deps.argv[0] ?? '')) {
    deps.io.writeOut(`${version}\n`)
    return exitStatus.ok
  }
  const { runCommand } = await import('./run.js')
  return runCommand(deps)
}
