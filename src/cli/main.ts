/**
 * One run of the program. Light answers come before anything heavy is loaded: the version needs
 * this file alone, and every other command loads only the module of the verb that was named.
 */
import { exitStatus } from '../base/exit-status.js'
import type { CliDeps } from './deps.js'
import { version } from './version.js'

const versionFlags = ['--version', '-V']

/** Switches that may stand beside a version flag, on either side. */
const besideVersion = [
  '--json', '--no-input', '--quiet', '--verbose', '--no-color', '--no-pager', '--utc',
]

const asksVersion = (argv: readonly string[]): boolean =>
  argv.some((word) => versionFlags.includes(word))
  && argv.every((word) => versionFlags.includes(word) || besideVersion.includes(word))

/** Runs the command that `deps.argv` names; gives the exit status and never throws. */
export const main = async (deps: CliDeps): Promise<number> => {
  if (asksVersion(deps.argv)) {
    const isJson = deps.argv.includes('--json')
    try {
      deps.io.writeOut(isJson ? `${JSON.stringify({ version }, null, 2)}\n` : `${version}\n`)
      return exitStatus.ok
    } catch (cause) {
      return (await import('./run.js')).endUnwritten(deps, cause)
    }
  }
  const { runCommand } = await import('./run.js')
  return runCommand(deps)
}
