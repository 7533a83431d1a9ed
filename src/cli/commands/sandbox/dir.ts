import { join } from 'node:path'
import { baseFolder, pathFrom } from '../../../base/user-folders.js'
import { commandLine, lineOfWords } from '../../../base/told.js'
import type { CliDeps } from '../../deps.js'

/** The flag that every sandbox verb takes. */
export const dirFlag = [
  '--dir <dir>',
  'folder of the sandbox; sallyport-sandbox in $XDG_STATE_HOME or ~/.local/state unless given',
] as const

/** The folder unless one is given; null where the environment names no place for it. */
export const defaultSandboxDir = (deps: CliDeps): string | null => {
  try {
    return sandboxDir(deps, undefined)
  } catch {
    return null
  }
}

/** A sandbox verb as it is told, about the very folder: left out, `--dir` means the default one. */
export const sandboxCommand = (deps: CliDeps, dir: string, line: string): string =>
  commandLine(`sandbox ${line}`)
    + (dir === defaultSandboxDir(deps) ? '' : ` ${lineOfWords(['--dir', dir])}`)

const withoutHome = 'Or name the folder of the sandbox by --dir.'

/**
 * The sandbox's folder: as given, or one of its own beside the default state directory, so that the
 * verbs find a running sandbox without being told. Throws as `baseFolder`.
 */
export const sandboxDir = (deps: CliDeps, given: string | undefined): string =>
  given === undefined
    ? join(baseFolder(deps, 'XDG_STATE_HOME', withoutHome), 'sallyport-sandbox')
    : pathFrom(deps.cwd, given)
