/** Runs the bundled program as a process of its own. */
import { spawn as spawnChild } from 'node:child_process'
import { delimiter, join } from 'node:path'
import type { Place, Ran, SpawnOptions } from './place.js'
import { ranOf } from './ran.js'
import { patienceMs } from '../support/speed.js'

/** What every program is started with: what the runner, or a suite as on a Mac, preloads. */
export const preloadedByRun = (): readonly string[] =>
  (process.env['SALLYPORT_TEST_PRELOAD'] ?? '').split(delimiter).filter((file) => file !== '')
    .flatMap((file) => ['--require', file])

/** Whether a line is the first of its verb among those that were seen; it is seen from now on. */
export const isFirstOfVerb = (seen: Set<string>, argv: readonly string[]): boolean => {
  const verb = argv.slice(0, 2).join(' ')
  return !seen.has(verb) && seen.add(verb).size > 0
}

/** Verbs of which coverage was taken in this process, by the program that ran them. */
const counted = { shipped: new Set<string>(), test: new Set<string>() }

/**
 * Where the counts of a program go; undefined where none are taken. One program of each verb is
 * counted: the others run the same files, and being counted costs more than the program does.
 */
export const countsOf = (
  argv: readonly string[], { coverage = true, entry = 'shipped' }: SpawnOptions,
): string | undefined => {
  const dir = process.env['SALLYPORT_COVERAGE_DIR']
  return coverage && dir !== undefined && isFirstOfVerb(counted[entry], argv) ? dir : undefined
}

/** Runs one line at a place, to the end of the process; one that hangs is killed. */
export const runSpawned = async (
  place: Place, argv: readonly string[], options: SpawnOptions,
): Promise<Ran> => {
  const entry = options.entry === 'test' ? 'test-entry.js' : 'sallyport.js'
  const counts = countsOf(argv, options)
  const app = options.app ?? await (counts === undefined ? packedApp() : builtApp())
  const script = join(app, entry)
  const nodeArgs = [...preloadedByRun(), ...(options.nodeArgs ?? [])]
  const child = spawnChild(process.execPath, [...nodeArgs, script, ...argv], {
    cwd: place.cwd,
    env: {
      ...place.env, ...(counts === undefined ? {} : { NODE_V8_COVERAGE: counts }), ...options.env,
    },
    stdio: 'pipe',
  })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  // A process that ends before it reads its stdin closes the pipe.
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.stdin ?? '')
  options.onChild?.(child)
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs())
  const status = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signalStatus(signal)))
  })
  clearTimeout(timer)
  return ranOf(status, Buffer.concat(out), Buffer.concat(err).toString('utf8'))
}

const signalStatus = (signal: NodeJS.Signals | null): number => {
  const numbers: Partial<Record<NodeJS.Signals, number>> = {
    SIGKILL: 137, SIGTERM: 143, SIGINT: 130,
  }
  return (signal === null ? undefined : numbers[signal]) ?? 1
}

/** Folder of the spawned bundles, built first where this test was not started by `npm test`. */
export const builtApp = async (): Promise<string> => {
  const folder = process.env['SALLYPORT_TEST_APP']
  if (folder !== undefined) return folder
  const tool = join(process.cwd(), 'scripts/tool/app.js')
  const { freshApp } = (await import(tool)) as { freshApp(): Promise<string> }
  return freshApp()
}

/** Folder of bundles that are packed like the shipped one; builds them first like `builtApp`. */
export const shippedApp = async (): Promise<string> => {
  const folder = process.env['SALLYPORT_TEST_PACKED']
  if (folder !== undefined) return folder
  const tool = join(process.cwd(), 'scripts/tool/app.js')
  const { freshPacked } = (await import(tool)) as { freshPacked(): Promise<string> }
  return freshPacked()
}

/** Folder of the spawned bundles that are packed like the shipped one, where there is one. */
export const packedApp = async (): Promise<string> =>
  process.env['SALLYPORT_TEST_PACKED'] ?? await builtApp()
