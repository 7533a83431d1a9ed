// Runs a few commands in the build's own process, in a place that is removed afterwards, so that
// the functions they call are compiled once and for all.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const startMsMax = 20_000

/**
 * Runs the commands that people wait for, an ask of the sandbox among them. Their results do not
 * matter: what does not run here is compiled when it is first called.
 * @param {(verb: string) => (deps: object) => Promise<unknown>} runnerOf
 *   gives `runCommand` of a program of its own: for '' that of all commands, and for a verb one
 *   that runs nothing else
 */
export const warmUp = async (runnerOf) => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-build-'))
  const stop = new AbortController()
  const runBy = (runCommand) => (argv, { stdin = '', onOutput = () => undefined } = {}) =>
    runCommand({ ...depsIn(dir, stop.signal), argv, io: ioOf(stdin, onOutput) })
  const run = runBy(runnerOf(''))
  try {
    const sandbox = await started(run, ['sandbox', 'start', '--dir', join(dir, 'sandbox')])
    await run(['init', '--profile', sandbox.profile_file])
    await run(['login'])
    await run(setup(sandbox.provider_key_file))
    for (const argv of reading) await run(argv)
    await run(['alpha', 'ask', '-'], { stdin: 'What is a sally port?' })
    await run(['alpha', 'ask', '-', '--json'], { stdin: 'And what is a postern?' })
    for (const verb of alone) {
      const runAlone = runBy(runnerOf(verb.join('-')))
      for (const argv of [verb, [...verb, '--json']]) await runAlone(argv)
    }
    const service = await started(run, ['serve'])
    await asked(service)
    stop.abort()
    await Promise.all([sandbox.ended, service.ended])
  } finally {
    stop.abort()
    rmSync(dir, { recursive: true, force: true })
  }
}

const reading = [
  ['status'], ['alpha', 'show'], ['alpha', 'show', '--json'], ['task', 'list'], ['policy', 'show'],
  ['shots', 'scan'], ['shots', 'status'],
  ['no-such-command'],
]

/** Verbs that have compiled code of their own; see pack.js. */
const alone = [['alpha', 'show'], ['shots', 'status']]

const setup = (keyFile) => [
  'alpha', 'setup', '--enable', '--acknowledge', '--api-key-file', keyFile,
  '--max-output-tokens', '200', '--timeout-seconds', '20', '--request-cost-bound', '0.001usd',
  '--spend-ceiling', '0.10usd', '--expected-revision', '1',
]

/** A server of the program in this process; gives what it prints and when it has ended. */
const started = (run, verb) =>
  new Promise((resolve, reject) => {
    const argv = [...verb, '--json']
    const ended = run(argv, { onOutput: (text) => resolve({ ...JSON.parse(text), ended }) })
    ended.then(() => reject(new Error(`${verb[0]} did not start`)), reject)
    setTimeout(() => reject(new Error(`${verb[0]} did not start in time`)), startMsMax).unref()
  })

/** One request, which a service answers that a socket has started. */
const asked = ({ origin, certificate_file: file }) =>
  new Promise((resolve, reject) => {
    request(`${origin}/healthz`, { ca: [readFileSync(file)], agent: false }, (response) => {
      response.resume().on('end', resolve)
    }).on('error', reject).end()
  })

const ioOf = (stdin, onOutput) => ({
  terminal: { stdin: false, stdout: false, stderr: false },
  columns: 80,
  writeOut: (data) => onOutput(String(data)),
  writeErr: () => undefined,
  stdin: async function* chunks() { yield Buffer.from(stdin) },
  streams: () => undefined,
})

const clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => Number(process.hrtime.bigint()) / 1e6,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms)
      signal?.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(signal.reason)
      }, { once: true })
    }),
}

const depsIn = (dir, stop) => ({
  env: {
    SALLYPORT_STATE_DIR: join(dir, 'state'), SALLYPORT_CONFIG_DIR: join(dir, 'config'),
    XDG_DATA_HOME: join(dir, 'data'),
  },
  execArgv: [], cwd: dir, home: dir, clock, stop, onInsist: () => undefined,
  resolve: async () => [], prompter: async () => null, observe: (drawn) => drawn,
})
