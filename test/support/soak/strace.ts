/** Programs of the system seen, or ended, at their system calls. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProducerTools } from '../../../src/codehost/producer/tools.js'

const program = '/usr/bin/strace'

/** Whether this machine has strace. */
export const strace = (): boolean => existsSync(program)

const traces = (): boolean =>
  spawnSync('strace', ['-f', '-e', 'trace=network', 'true']).status === 0

/** Why a test that traces is left out; false where this machine can. */
export const needsStrace: string | false =
  traces() ? false : 'strace is missing or may not trace here'

/** The tools of a producer whose Node runs under strace, which stands beside it, not above. */
export const straced = (
  tools: ProducerTools, dir: string, args: readonly string[], output: string,
): ProducerTools => {
  const path = join(dir, 'node-traced')
  const line = [program, '-DD', '-f', '-qq', '-o', output, ...args, tools.node.path]
  const text = `#!/bin/sh\nexec ${line.join(' ')} "$@"\n`
  writeFileSync(path, text, { mode: 0o755 })
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { ...tools, node: { ...tools.node, path, sha256 } }
}
