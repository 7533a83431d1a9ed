/** A sandbox as a process of its own, which outlives the command and the terminal. */
import { spawn, type ChildProcess } from 'node:child_process'
import * as v from 'valibot'
import { fail } from '../../../base/errors.js'
import { sandboxStart, type SandboxStartedDocument } from '../../../sandbox/sandbox-contract.js'
import type { VerbDeps } from '../../verb.js'
import { alreadyRunning } from './claim.js'
import { sandboxCommand } from './dir.js'

/** What the process says before it serves: its document, or a failure, the last line of stderr. */
interface Said {
  readonly out: string
  readonly err: string
  readonly ended: boolean
}

const startMsMax = 30_000

const isWhole = (text: string): boolean => text.endsWith('\n}\n')

const firstWords = (child: ChildProcess): Promise<Said> =>
  new Promise((resolve) => {
    let [out, err] = ['', '']
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString()
      if (isWhole(out)) resolve({ out, err, ended: false })
    })
    child.stderr?.on('data', (chunk: Buffer) => { err += chunk.toString() })
    child.once('error', () => resolve({ out, err, ended: true }))
    child.once('close', () => resolve({ out, err, ended: true }))
  })

/** The failure that the process told, which it knows better than we do. */
const failureIn = async (deps: VerbDeps, dir: string, err: string): Promise<Error> => {
  const last = err.trimEnd().split('\n').at(-1) ?? ''
  const code = /"code":"([a-z_]+)"/.exec(last)?.[1] ?? null
  // Another start claimed the folder after we had looked: that is the same answer as before.
  if (code === 'sandbox_running') return alreadyRunning(deps, dir)
  return fail.failed('sandbox_not_started', 'The sandbox ended before it served.', {
    next: `See why, in the foreground: \`${sandboxCommand(deps, dir, 'start')}\`.`,
    details: { code },
  })
}

/**
 * Starts one in a session of its own, without a terminal, and returns once it serves. It holds no
 * folder that somebody may want to remove, and none of this process's streams. Throws `failed`
 * `sandbox_not_started`, `conflict` `sandbox_running` where another start was faster, and
 * `cancelled` where the person stops waiting; none leaves a process.
 */
export const startBehind = async (deps: VerbDeps, dir: string): Promise<SandboxStartedDocument> => {
  const [program = '', ...words] = deps.self.program
  // It needs no session, and whoever has one may end it.
  const env = { ...deps.env, SALLYPORT_SESSION: undefined }
  const child = spawn(program, [...words, 'sandbox', 'start', '--json', '--dir', dir], {
    cwd: '/', env, detached: true, stdio: ['ignore', 'pipe', 'pipe'],
  })
  const over = new AbortController()
  const late = deps.clock.sleep(startMsMax, AbortSignal.any([deps.stop, over.signal]))
  try {
    const said = await Promise.race([firstWords(child), late.then(() => null, () => null)])
    if (said === null) {
      child.kill('SIGKILL')
      throw deps.stop.aborted
        ? fail.cancelled('sandbox_start_stopped', 'You stopped waiting; no sandbox was left.')
        : await failureIn(deps, dir, '')
    }
    if (said.ended) throw await failureIn(deps, dir, said.err)
    return v.parse(sandboxStart.output, JSON.parse(said.out)) as SandboxStartedDocument
  } finally {
    over.abort()
    child.unref()
    for (const stream of child.stdio) stream?.destroy()
  }
}
