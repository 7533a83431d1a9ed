// Runs a few commands in the build's own process, in a place that is removed afterwards, so that
// the functions they call are compiled once and for all.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const lines = [
  ['init'], ['login'], ['status'], ['alpha', 'show'], ['alpha', 'show', '--json'], ['task', 'list'],
  ['policy', 'show'], ['no-such-command'],
]

/** Runs the lines. Their results do not matter; nothing is contacted. */
export const warmUp = async (runCommand) => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-build-'))
  const nothing = () => undefined
  const clock = {
    wallMs: () => Date.now(), monotonicMs: () => performance.now(), sleep: async () => undefined,
  }
  const io = {
    terminal: { stdin: false, stdout: false, stderr: false }, columns: 80,
    writeOut: nothing, writeErr: nothing, stdin: async function* stdin() {}, streams: nothing,
  }
  const env = {
    SALLYPORT_STATE_DIR: join(dir, 'state'), SALLYPORT_CONFIG_DIR: join(dir, 'config'),
    XDG_DATA_HOME: join(dir, 'data'),
  }
  const { signal } = new AbortController()
  const deps = {
    env, execArgv: [], cwd: dir, home: dir, io, clock, stop: signal,
    resolve: async () => [], prompter: async () => null, observe: (drawn) => drawn,
  }
  try {
    for (const argv of lines) await runCommand({ ...deps, argv })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
