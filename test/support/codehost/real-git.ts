/** The real git program, in an environment that nothing of this machine reaches. */
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Folders that one repository of a test uses. */
export interface GitPlace {
  /** The bare repository. */
  readonly gitDir: string
  readonly env: Readonly<Record<string, string>>
}

/** What a run of git gave. */
export interface GitRun {
  readonly status: number
  readonly stdout: Buffer
  readonly stderr: string
}

const nothing = '/dev/null'
const outputBytesMax = 256 * 1024 * 1024

const envOf = (gitDir: string): Record<string, string> => ({
  PATH: '/usr/bin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
  HOME: nothing,
  XDG_CONFIG_HOME: nothing,
  GIT_DIR: gitDir,
  GIT_CEILING_DIRECTORIES: gitDir,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_SYSTEM: nothing,
  GIT_CONFIG_GLOBAL: nothing,
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_ALLOW_PROTOCOL: '',
  GIT_TERMINAL_PROMPT: '0',
  GIT_DEFAULT_HASH: 'sha1',
  GIT_OPTIONAL_LOCKS: '0',
})

/** Runs git; a failure is a result. */
export const tryGit = (
  { env, gitDir }: GitPlace, args: readonly string[], input: string | Uint8Array = '',
): GitRun => {
  const { status, stdout, stderr, error } = spawnSync('git', [...args], {
    cwd: gitDir, env, input, maxBuffer: outputBytesMax,
  })
  if (error !== undefined) throw error
  return { status: status ?? -1, stdout, stderr: stderr.toString('utf8') }
}

/** Runs git and gives what it printed. Throws where it fails. */
export const git = (
  place: GitPlace, args: readonly string[], input: string | Uint8Array = '',
): Buffer => {
  const { status, stdout, stderr } = tryGit(place, args, input)
  if (status !== 0) throw new Error(`git ${args[0]} ended with ${status}: ${stderr}`)
  return stdout
}

/** Whether git takes these arguments, without holding up this process meanwhile. */
export const gitAccepts = ({ env, gitDir }: GitPlace, args: readonly string[]): Promise<boolean> =>
  new Promise((resolve) => {
    execFile('git', [...args], { cwd: gitDir, env }, (error) => resolve(error === null))
  })

/** Lines that git printed. */
export const linesOf = (printed: Buffer): string[] =>
  printed.toString('utf8').split('\n').filter((line) => line !== '')

/** A new bare repository in a folder that is there. */
export const bareRepository = (dir: string): GitPlace => {
  const gitDir = join(dir, 'bare.git')
  const started = spawnSync('git', ['init', '-q', '--bare', gitDir], {
    cwd: dir, env: { ...envOf(gitDir), GIT_TEMPLATE_DIR: '' },
  })
  if (started.status !== 0) throw new Error(String(started.stderr))
  return { gitDir, env: envOf(gitDir) }
}
