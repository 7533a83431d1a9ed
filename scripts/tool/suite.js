// The whole run as one TAP stream on stdout: checks of the source, every test file, coverage.
// Arguments: compiled test files. With none: everything.
import {
  mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync,
} from 'node:fs'
import { freemem } from 'node:os'
import { relative } from 'node:path'
import t from 'tap'
import { coverageDir, reportCoverage, trimCoverage } from './coverage.js'
import { root, run, tool } from './run.js'
import { filesBelow } from './files.js'
import { outputOf, treeDir } from './tree.js'

const node = process.execPath
const only = process.argv.slice(2)
const whole = only.length === 0
const fileTimeoutMs = 600_000
const runTimeoutMs = 1_800_000
const processes = 3
const memoryBytesMin = 4 * 1024 ** 3

const checks = {
  'types: tsc --noEmit': [tool('typescript/bin/tsc'), '--noEmit', '-p', root],
  'lint: eslint': [tool('eslint/bin/eslint.js'), '--max-warnings=0', '.'],
  'layers: dependency-cruiser': [
    tool('dependency-cruiser/bin/dependency-cruise.mjs'), '--config', '.dependency-cruiser.cjs',
    'src', 'test', 'bench',
  ],
  'generated files are those of the command tree': [`${root}/scripts/generate.js`, '--check'],
}

const testFiles = whole
  ? filesBelow(`${treeDir}/test`).filter((path) => path.endsWith('.test.js')).sort()
  : only

// Every Node process would read that whole file at its start; nothing here looks beyond loopback.
delete process.env.NODE_EXTRA_CA_CERTS
const env = {
  ...process.env,
  TAP: '1',
  TAP_TIMEOUT: String(fileTimeoutMs / 1000),
  // Tap's own counting would end that of V8 in the process, and its files would be missing here.
  _TAPJS_PROCESSINFO_COVERAGE_: '0',
}
if (whole) {
  rmSync(coverageDir, { recursive: true, force: true })
  mkdirSync(coverageDir, { recursive: true })
  env.SALLYPORT_COVERAGE_DIR = coverageDir
  const { makeCertificates } = await import(`${treeDir}/src/sandbox/certificates.js`)
  env.SALLYPORT_TEST_TLS = `${root}/.build/test-tls.json`
  writeFileSync(env.SALLYPORT_TEST_TLS, JSON.stringify(await makeCertificates()), { mode: 0o600 })
}

const memory = whole ? folderInMemory() : null
if (memory !== null) t.teardown(() => rmSync(memory, { recursive: true, force: true }))
t.jobs = processes
t.setTimeout(runTimeoutMs)
const running = []
for (const file of testFiles) {
  const { args, more } = counting(file)
  const spawned = t.spawn(node, ['--enable-source-maps', ...args, file], {
    name: relative(treeDir, file).replace(/\.js$/, '.ts'),
    buffered: true,
    timeout: fileTimeoutMs,
    cwd: root,
    env: { ...env, ...more, ...placeOf(file) },
  })
  running.push(whole ? spawned.then(() => trimCoverage()) : spawned)
}
if (whole) {
  for (const [name, args] of Object.entries(checks)) {
    running.push(
      t.test(name, { buffered: true, timeout: fileTimeoutMs }, async (t) => {
        const { status, output } = await run(node, args)
        t.equal(status, 0, name, status === 0 ? {} : { output: output.split('\n') })
      }),
    )
  }
}
await Promise.all(running)
if (whole) {
  await t.test('coverage', { timeout: fileTimeoutMs }, async (t) => {
    const { status, output, files } = await reportCoverage()
    t.equal(status, 0, 'coverage reaches the thresholds', { output: output.split('\n') })
    t.same(sourcesWithCode().filter((path) => !files.includes(path)), [], 'every file is listed')
  })
}

// A temporary folder in memory; null where there is none, or little room, or another was named.
function folderInMemory() {
  if (process.env.TMPDIR !== undefined) return null
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    // A container may be allowed less than the machine has.
    const room = Math.min(bavail * bsize, freemem(), process.constrainedMemory() || Infinity)
    return room < memoryBytesMin ? null : mkdtempSync('/dev/shm/sallyport-test-')
  } catch {
    return null
  }
}

// Threads are counted by Node alone, and only these tests look at what runs in them.
function counting(file) {
  if (!whole) return { args: [], more: {} }
  const threads = file.startsWith(`${treeDir}/test/images/`)
  return threads
    ? { args: [], more: { NODE_V8_COVERAGE: coverageDir } }
    : { args: ['--require', `${root}/scripts/tool/count-runs.cjs`], more: {} }
}

// What must be durable is tested on the disk. Elsewhere tests wait for syncs and for nothing else,
// three processes for the same disk: memory will do, where there is enough of it.
function placeOf(file) {
  const onDisk = ['state', 'soak', 'alpha/soak.test'].map((part) => `${treeDir}/test/${part}`)
  return memory === null || onDisk.some((part) => file.startsWith(part)) ? {} : { TMPDIR: memory }
}

// A file of types only compiles to nothing, so that nothing of it can run.
function sourcesWithCode() {
  return filesBelow(`${root}/src`)
    .filter((path) => path.endsWith('.ts'))
    .filter((path) => /[^\s]/.test(readFileSync(outputOf(path), 'utf8').replace(/\/\/#.*\n/, '')))
    .map((path) => relative(root, path))
}
