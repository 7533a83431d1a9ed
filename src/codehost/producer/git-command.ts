/**
 * The fixed local git commands, and everything that git is told besides: nothing of the machine's,
 * the user's or the source's own settings reaches it (C-080).
 */
import { secondsOf, type CommitDraft, type Identity } from '../git/commit.js'

/** Settings given on every line; they stand above any file. */
const settings = [
  'core.hooksPath=/dev/null', 'core.fsmonitor=false', 'core.attributesFile=/dev/null',
  'core.autocrlf=false', 'protocol.allow=never', 'gc.auto=0', 'maintenance.auto=false',
  'commit.gpgSign=false', 'i18n.commitEncoding=UTF-8', 'credential.helper=',
]

const given = settings.flatMap((setting) => ['-c', setting])

/** The commands, in the order in which they are fed. */
export const gitSteps = ['blobs', 'trees', 'commit'] as const
export type GitStep = (typeof gitSteps)[number]

export const gitArguments = (
  { tree, parents }: Pick<CommitDraft, 'tree' | 'parents'>,
): Readonly<Record<GitStep, readonly string[]>> => ({
  blobs: [...given, 'hash-object', '--no-filters', '--stdin-paths'],
  trees: [...given, 'mktree', '-z', '--missing', '--batch'],
  commit: [...given, 'commit-tree', tree, ...parents.flatMap((id) => ['-p', id])],
})

/** What the supervisor's environment is: nothing of the caller's. */
export const supervisorEnvironment: Readonly<Record<string, string>> = {
  PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', HOME: '',
}

const person = (
  role: 'AUTHOR' | 'COMMITTER', { name, email, date }: Identity,
): Record<string, string> => ({
  [`GIT_${role}_NAME`]: name, [`GIT_${role}_EMAIL`]: email,
  [`GIT_${role}_DATE`]: `@${secondsOf(date)} +0000`,
})

const traces = ['', '2', '2_EVENT', '2_PERF', '_CURL', '_PACKET', '_PERFORMANCE', '_SETUP', '_REFS']

/** The whole environment of git. Its working directory is the stage. */
export const gitEnvironment = (
  { author, committer }: Pick<CommitDraft, 'author' | 'committer'>,
): Readonly<Record<string, string>> => ({
  ...supervisorEnvironment,
  XDG_CONFIG_HOME: '',
  GIT_DIR: '.',
  GIT_CEILING_DIRECTORIES: '/',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_COUNT: '0',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: '',
  GIT_TERMINAL_PROMPT: '0',
  GIT_DEFAULT_HASH: 'sha1',
  GIT_OPTIONAL_LOCKS: '0',
  ...Object.fromEntries(traces.map((name) => [`GIT_TRACE${name}`, '0'])),
  GIT_ASKPASS: '/bin/false',
  SSH_ASKPASS: '/bin/false',
  GIT_SSH_COMMAND: '/bin/false',
  GIT_EDITOR: '/bin/false',
  ...person('AUTHOR', author),
  ...person('COMMITTER', committer),
})
