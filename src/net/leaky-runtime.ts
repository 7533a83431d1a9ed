/**
 * Switches of Node that would print or store what goes over the wire. The process cannot turn them
 * off once it runs, so it refuses to contact anyone.
 */
import { ContactError } from './contact-error.js'

/** Parts of Node whose debug output holds headers, bodies or keys. `stream` prints every chunk. */
const debugParts = ['HTTP', 'HTTPS', 'HTTP2', 'NET', 'TLS', 'STREAM']

/**
 * - `--tls-keylog` writes the keys of every connection to a file, `--trace-tls` prints records.
 * - `--inspect…` opens a port through which another process reads bodies and keys from memory.
 * - `--heapsnapshot…` writes every string of the process to a file.
 */
const optionStarts = ['--tls-keylog', '--trace-tls', '--inspect', '--heapsnapshot']

/** The pattern rule of NODE_DEBUG: a comma list, `*` for anything, letter case ignored. */
const debugMatches = (setting: string): boolean => {
  const pattern = setting
    .replace(/[|\\{}()[\]^$+?.]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll(',', '$|^')
  const rule = new RegExp(`^${pattern}$`, 'i')
  return debugParts.some((part) => rule.test(part))
}

/** The first refused option; Node reads `--tls_keylog` as `--tls-keylog`. */
const refusedOption = (options: readonly string[]): string | undefined =>
  optionStarts.find((start) =>
    options.some((option) => option.replaceAll('_', '-').startsWith(start)),
  )

/**
 * The variable or option that would print or store requests and replies, or null.
 * `NODE_OPTIONS` may quote its words; quotes are dropped before its words are compared.
 */
export const leakyRuntime = (
  env: Readonly<Record<string, string | undefined>>,
  execArgv: readonly string[],
): string | null => {
  if (debugMatches(env['NODE_DEBUG'] ?? '')) return 'NODE_DEBUG'
  if ((env['NODE_DEBUG_NATIVE'] ?? '') !== '') return 'NODE_DEBUG_NATIVE'
  const inherited = (env['NODE_OPTIONS'] ?? '').replace(/["\\]/g, '').split(/\s+/)
  const option = refusedOption(inherited)
  if (option !== undefined) return `NODE_OPTIONS (${option})`
  return refusedOption(execArgv) ?? null
}

/** Throws `debug_output_refused`, naming the variable or option. */
export const refuseLeakyRuntime = (
  env: Readonly<Record<string, string | undefined>>,
  execArgv: readonly string[],
): void => {
  const name = leakyRuntime(env, execArgv)
  if (name === null) return
  throw new ContactError(
    'debug_output_refused',
    'none',
    `${name} would write requests and replies in the clear, so nothing is contacted.`,
    { variable: name },
    `Run again without ${name}.`,
  )
}
