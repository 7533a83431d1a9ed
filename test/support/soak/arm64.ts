/**
 * The state suite on an arm64 Node, which qemu-user runs and `npm run tarball` has put into .build:
 * each file by a slice of its tables, since an emulated processor takes ten times as long.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtApp } from '../../world/process.js'
import { filesBelow } from '../marks.js'
import { patienceMs } from '../speed.js'

const tool = async <T>(name: string): Promise<T> =>
  await import(join(process.cwd(), 'scripts/tool', name)) as T

/** Why the suite is left out; false where this machine can run it. */
export const needsArm64 = async (): Promise<string | false> => {
  const reason = 'needs an arm64 Node (npm run tarball) and qemu-user'
  const { lacks } = await tool<{ lacks(reason: string): boolean }>('lacking.js')
  return lacks(reason) ? reason : false
}

const compiled = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Files of the suite but those of macOS, where an add-on of this machine's kind has its locks, and
 * those with a server: it refuses to run as root, and the namespace knows nobody else.
 */
export const stateSuites = (): readonly string[] =>
  filesBelow(join(compiled, 'state')).filter((path) => path.endsWith('.test.js'))
    .map((path) => relative(compiled, path).replace(/\.test\.js$/, ''))
    .filter((name) => !/^state\/(darwin|place\/postgres\/)/.test(name)).sort()

/** What a file came to. */
export interface SuiteRan {
  readonly status: number
  readonly passed: number
  readonly failed: number
  readonly out: string
}

/** Runs a file of the suite there. */
export const runOnArm64 = async (name: string): Promise<SuiteRan> => {
  const { arm64Node, asArm64 } = await tool<{
    arm64Node: string
    asArm64(file: string, args: readonly string[]): readonly [string, readonly string[]]
  }>('arm64.js')
  const [file, args] = asArm64(arm64Node, [join(compiled, `${name}.test.js`)])
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env, TAP: '1', SALLYPORT_TEST_APP: await builtApp(), SALLYPORT_TEST_RUN: 'short',
      SALLYPORT_TEST_FILE: `test/${name}.test.ts`, TAP_TIMEOUT: String(patienceMs() / 100),
      // How long a start takes is another matter there: each process measures it anew.
      SALLYPORT_TEST_START_MS: undefined, SALLYPORT_TEST_PACKED: undefined,
      SALLYPORT_TESTS_TOGETHER: undefined, SALLYPORT_TEST_CELLS: undefined,
      SALLYPORT_TEST_CELL: undefined, SALLYPORT_TEST_OWNERS: undefined,
      SALLYPORT_COVERAGE_DIR: undefined, NODE_V8_COVERAGE: undefined, NODE_OPTIONS: undefined,
    },
  })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => { out += data.toString() })
  }
  const [status] = await once(child, 'close') as [number | null]
  // Assertions, and no tests: those have a duration behind them.
  const count = (form: RegExp): number => (out.match(form) ?? []).length
  return {
    status: status ?? 1, out,
    passed: count(/^ +ok \d+(?!.* # time=)/gm), failed: count(/^ +not ok \d+(?!.* # time=)/gm),
  }
}

/** Runs the whole suite `rounds` times and prints its counts; where it cannot, why. */
export const run = async (rounds: number): Promise<void> => {
  const why = await needsArm64()
  if (why !== false) {
    process.stdout.write(`left out: ${why}\n`)
    return
  }
  for (let round = 0; round < rounds; round += 1) {
    const sums = { files: 0, passed: 0, failed: 0, broken: 0 }
    for (const name of stateSuites()) {
      const begin = performance.now()
      const { status, passed, failed } = await runOnArm64(name)
      const seconds = Math.round((performance.now() - begin) / 1_000)
      process.stdout.write(`${name}: ${passed} passed, ${failed} failed, ${status}, ${seconds} s\n`)
      sums.files += 1
      sums.passed += passed
      sums.failed += failed
      if (status !== 0) sums.broken += 1
    }
    process.stdout.write(`${JSON.stringify(sums)}\n`)
  }
}
