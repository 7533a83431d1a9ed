/**
 * Suites as on a Mac: each file runs once more, by a slice of its tests, in a process in which
 * `darwin.cjs` stands for the system, and so it does in every program that is started.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { slice } from '../support/slice.js'
import { patienceMs } from '../support/speed.js'

const { darwinSuites, asOnMac } = await import(join(process.cwd(), 'scripts/tool/darwin.js')) as {
  readonly darwinSuites: readonly string[]
  asOnMac(dir: string): Readonly<Record<string, string>>
}

const ran = async (name: string): Promise<{ status: number; out: string }> => {
  const file = join(fileURLToPath(import.meta.url), `../../${name}.test.js`)
  const child = spawn(process.execPath, [...process.execArgv, file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      // A slice of each: what differs by system differs in every row.
      ...process.env, SALLYPORT_TEST_RUN: 'short',
      ...asOnMac(process.cwd()),
      SALLYPORT_TEST_FILE: `test/${name}.test.ts`, TAP_TIMEOUT: String(patienceMs() / 1_000),
      SALLYPORT_TESTS_TOGETHER: undefined, SALLYPORT_TEST_CELLS: undefined,
      SALLYPORT_TEST_CELL: undefined, SALLYPORT_TEST_OWNERS: undefined,
      NODE_V8_COVERAGE: undefined,
    },
  })
  let out = ''
  child.stdout.on('data', (data: Buffer) => (out += data.toString()))
  child.stderr.on('data', (data: Buffer) => (out += data.toString()))
  const [status] = await once(child, 'close') as [number | null]
  return { status: status ?? 1, out }
}

const how = { axesOf: () => [], idOf: (one: string) => one, atLeast: 1 }
for (const name of slice('mac', darwinSuites, how)) {
  t.test(`as on a Mac: ${name}`, { diagnostic: false }, async (t) => {
    const { status, out } = await ran(name)
    t.equal(status, 0, out.split('\n').filter((line) => !/^\s*ok /.test(line)).join('\n'))
    t.match(out, /^1\.\.[1-9]/m, 'it has tests')
  })
}
