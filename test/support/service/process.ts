/** `sallyport serve` as a process, and requests to it. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadToken, tokenPath } from '../../../src/governance/session/token.js'
import { builtApp, countsOf, packedApp, preloadedByRun } from '../../world/process.js'
import type { Place, Teardown } from '../../world/place.js'
import { startAtPort } from '../ports.js'
import { until } from '../until.js'
import { askOver, type Asking } from './serving.js'

/** What it says once it listens. */
export interface Told {
  readonly origin: string
  readonly port: number
  readonly pin: string
  readonly certificate_file: string
  readonly pid: number
  readonly port_changed: boolean
  readonly public: {
    readonly origin: string
    readonly forward_to: string
    readonly port_changed: boolean
  } | null
}

type Env = Readonly<Record<string, string>>

/** Starts the program; resolves once it has said enough, or has ended. */
export const launched = async (
  t: Teardown, place: Place, args: readonly string[],
  hasSaid: (out: string, err: string) => boolean, env: Env = {}, nodeArgs: readonly string[] = [],
) => {
  const counts = countsOf(['serve', process.env['SALLYPORT_TEST_FILE'] ?? ''], {})
  const app = await (counts === undefined ? packedApp() : builtApp())
  const script = join(app, 'sallyport.js')
  const words = [...preloadedByRun(), ...nodeArgs, script, 'serve', ...args]
  const child = spawn(process.execPath, words, {
    cwd: place.cwd, stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...place.env, ...env,
      ...(counts === undefined ? {} : { NODE_V8_COVERAGE: counts }),
    },
  })
  t.teardown(() => void child.kill('SIGKILL'))
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  let status: number | null = null
  const ended = new Promise<number>((resolve) => child.on('close', (code) => {
    status = code ?? 1
    resolve(status)
  }))
  await until('the service to say where it listens', () => status !== null || hasSaid(out, err))
  return { child, ended, out: () => out, err: () => err, status: () => status }
}

/** The same with `--json`, which says where it listens, and what asks it. */
export const started = async (
  t: Teardown, place: Place, args: readonly string[] = [], env: Env = {},
  nodeArgs: readonly string[] = [],
) => {
  const { child, ended, out, err, status } = await launched(
    t, place, ['--json', ...args], (said) => said.includes('}\n'), env, nodeArgs)
  const told = status() === null ? JSON.parse(out()) as Told : null
  const certificate = told === null ? '' : readFileSync(told.certificate_file, 'utf8')
  const identity = { ...told as Told, certificate }
  return {
    child, ended, told: told as Told, err, status,
    ask: (method: string, path: string, asking: Asking = {}) => askOver(
      {
        identity, certificateFile: '', portChanged: false, publicPortChanged: false, pid: 1,
        page: null, offered: null,
        stop: async () => undefined,
      },
      method, path, { token: loadToken(tokenPath(place.stateDir)) ?? '', ...asking }),
  }
}

/** A service that was started so. */
export type Started = Awaited<ReturnType<typeof started>>

/** The same at a port that no other process is given once it has ended, so that it comes back. */
export const startedToComeBack = async (t: Teardown, place: Place) => {
  const [, one] = await startAtPort(async (port) => {
    const service = await started(t, place, ['--port', String(port)])
    if (service.status() !== null) throw new Error(service.err())
    return service
  })
  return one
}
