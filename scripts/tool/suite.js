// A run as one TAP stream on stdout: checks of the source, the test files, coverage.
// Its argument is a JSON document: `files`, compiled test files (none where it is `whole`: all of
// them, or those that short-run.js chooses by `seconds`, `seed` and `reached` where it is `short`);
// `many`, where they share processes; `short`, where they go through slices and nothing is counted.
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { delimiter, relative } from 'node:path'
import { countingOf, coverageDir, reportCoverage, trimCoverage } from './coverage.js'
import { root, run } from './run.js'
import { severalFiles } from './count.js'
import { filesBelow } from './files.js'
import { folderInMemory, needsDisk } from './memory.js'
import { inProcesses, limits, sourceOf } from './order.js'
import { ownersOf } from './owned-rows.js'
import { quickStart } from './quick-start.js'
import { expectedSeconds, spentIn } from './seconds.js'
import { fitting, shortRun } from './short-run.js'
import { outputOf, treeDir } from './tree.js'

// With tap as it is installed, each Node process that a test starts would load a part of tap.
const { real: t } = await import(`${treeDir}/node_modules/tap/index.js`)
const node = process.execPath
const { files: only, whole, many, short, seconds, seed, reached } = JSON.parse(process.argv[2])
const counting = whole && !short
// Tests wait for each other, for locks and for the disk: a few more than there are cores.
const processes = availableParallelism() + 2
// Limits against what hangs, as so many starts of Node: a busy machine has longer ones.
const { startMs, timeOf } = await import(`${treeDir}/test/support/speed.js`)
const fileTimeoutMs = timeOf(10_000)
const runTimeoutMs = timeOf(60_000)

const checks = {
  'types: tsc --noEmit; lint: oxlint': [`${root}/scripts/tool/types-and-lint.js`],
  'layers: imports point down': [`${root}/scripts/layers.js`],
  'generated files are those of the command tree': [`${root}/scripts/generate.js`, '--check'],
}

const secondsOf = expectedSeconds(short ? 'short' : 'all')
const compiled = whole
  ? filesBelow(`${treeDir}/test`).filter((path) => path.endsWith('.test.js'))
  : only
const texts = whole && short
  ? compiled.map((path) => ({ file: sourceOf(path), text: readFileSync(path, 'utf8') })) : []
const { first, others } = shortRun(texts, { seed, reached, secondsOf })
const compiledOf = (names) => compiled.filter((path) => names.includes(sourceOf(path)))

// Every Node process would read that whole file at its start; nothing here looks beyond loopback.
delete process.env.NODE_EXTRA_CA_CERTS
const env = {
  ...process.env,
  TAP: '1',
  TAP_TIMEOUT: String(fileTimeoutMs / 1000),
  SALLYPORT_TEST_START_MS: String(startMs()),
}
if (counting) {
  rmSync(coverageDir, { recursive: true, force: true })
  mkdirSync(coverageDir, { recursive: true })
  env.SALLYPORT_COVERAGE_DIR = coverageDir
}
if (whole && short) {
  // Each requirement is proved once at least, by one file or another.
  env.SALLYPORT_TEST_OWNERS = `${root}/.build/owners.json`
  const proving = texts.filter(({ file }) => first.includes(file))
  const owners = ownersOf(proving, expectedSeconds('all'))
  writeFileSync(env.SALLYPORT_TEST_OWNERS, JSON.stringify(owners))
}
if (many) {
  const { makeCertificates } = await import(`${treeDir}/src/sandbox/certificates.js`)
  env.SALLYPORT_TEST_TLS = `${root}/.build/test-tls.json`
  writeFileSync(env.SALLYPORT_TEST_TLS, JSON.stringify(await makeCertificates()), { mode: 0o600 })
}

const memory = many ? folderInMemory() : null
if (memory !== null) t.teardown(() => rmSync(memory, { recursive: true, force: true }))
t.jobs = processes
t.setTimeout(runTimeoutMs)
const running = []
/** Arguments of a process whose cost is noted by this name. */
const noted = ['--require', `${root}/scripts/tool/note-spent.cjs`]

// The checks first: they take longest of all, each on one core.
if (whole) {
  for (const [name, args] of Object.entries(checks)) {
    running.push(
      t.test(name, { buffered: true, timeout: fileTimeoutMs }, async (t) => {
        const { status, output } = await run(node, [...noted, ...args], {
          env: { ...process.env, SALLYPORT_TEST_FILE: name },
        })
        t.equal(status, 0, name, status === 0 ? {} : { output: output.split('\n') })
      }),
    )
  }
}
// What no process that is counted runs, and why.
const uncounted = {
  'src/codehost/producer/supervisor/main.ts':
    'Runs only as a bundle of its own, in an environment that is built from nothing; every test '
    + 'of test/codehost/producer/run.test.ts starts it.',
  'src/service/page/page-script.ts':
    'Runs in a browser only; scripts/pictures.js drives it in one where one is given.',
}

// A file that is asked for by its name has a process of its own.
const together = many || process.env.SALLYPORT_TESTS_TOGETHER === '1'
delete env.SALLYPORT_TESTS_TOGETHER
const most = counting ? limits.long : limits.short
const processesOf = (files) =>
  (together ? inProcesses(files, secondsOf, most) : files.map((one) => [one]))

/** What changes every state of a test process; see those files. */
const preloads = { SALLYPORT_TEST_TWICE: 'run-twice', SALLYPORT_TEST_PLACED: 'over-a-place' }
const preloaded = Object.entries(preloads).flatMap(([name, file]) => (process.env[name] === '1'
  ? ['--import', `${treeDir}/test/support/children/${file}.js`] : []))

const quick = quickStart()
const light = `${root}/test/support/light-scrypt.cjs`
// Programs that tests start preload it, too: what one derives another one compares.
env.SALLYPORT_TEST_PRELOAD = light

/** Starts processes that run these compiled files; beyond `t.jobs` they wait for their turn. */
const runFiles = (testFiles) => processesOf(testFiles).map((files) => {
  const [file] = files
  const { args, more } = counting ? countingOf(file) : { args: [], more: {} }
  const place = memory === null || needsDisk(file) ? {} : { TMPDIR: memory }
  // A file of which nothing runs has no plan of its own; within a test that is no error.
  const shares = files.length > 1 || process.env.SALLYPORT_TEST_CELL !== undefined
  const named = shares
    ? { SALLYPORT_TESTS_TOGETHER: files.join(delimiter) } : { SALLYPORT_TEST_FILE: sourceOf(file) }
  const line = shares ? `${root}/scripts/tool/together.js` : file
  const name = sourceOf(file)
  const own = shares ? args : [...args, ...noted]
  // To read the maps of all that it loads takes a process longer than most small files take.
  const mapped = many ? [] : ['--enable-source-maps']
  const before = [...quick, '--require', light, ...mapped, ...preloaded]
  const spawned = t.spawn(node, [...before, ...own, line], {
    name: shares ? `${severalFiles}${name} and ${files.length - 1} more` : name,
    buffered: true,
    timeout: fileTimeoutMs,
    cwd: root,
    env: { ...env, ...more, ...place, ...named },
  })
  return counting ? spawned.then(() => trimCoverage()) : spawned
})

if (texts.length === 0) running.push(...runFiles(compiled))
else {
  running.push(...runFiles(compiledOf(first)))
  await nearlyAll(running, processes)
  const spent = spentIn(process.env.SALLYPORT_TEST_SECONDS)
  const unended = first.filter((file) => !spent.has(file))
  const more = fitting(others, { seconds, spent, running: unended, secondsOf })
  const left = others.filter((file) => !more.includes(file))
  appendFileSync(process.env.SALLYPORT_TEST_CELLS, `${JSON.stringify({ files: left })}\n`)
  running.push(...runFiles(compiledOf(more)))
}
await Promise.all(running)
if (counting) {
  await t.test('coverage', { timeout: fileTimeoutMs }, async (t) => {
    const { status, output, files } = await reportCoverage()
    t.equal(status, 0, 'coverage reaches the thresholds', { output: output.split('\n') })
    const unlisted = sourcesWithCode().filter((path) => !files.includes(path))
    t.same(unlisted.sort(), Object.keys(uncounted).sort(),
      'every file is listed, but for those with a reason')
  })
}

/** Waits until fewer of these are open than can run at once: a core would be idle next. */
async function nearlyAll(promises, atOnce) {
  let open = promises.length
  await new Promise((resolve) => {
    const ended = () => {
      open -= 1
      if (open < atOnce) resolve()
    }
    for (const one of promises) one.then(ended, ended)
  })
}

// A file of types only compiles to nothing, so that nothing of it can run.
function sourcesWithCode() {
  return filesBelow(`${root}/src`)
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .filter((path) => /[^\s]/.test(readFileSync(outputOf(path), 'utf8').replace(/\/\/#.*\n/g, '')))
    .map((path) => relative(root, path))
}
