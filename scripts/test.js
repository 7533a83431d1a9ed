// `npm test`: installs what is missing, builds, checks the source, proves each numbered requirement
// once, runs what a change reaches and what else fits into 490 processor seconds (`--seconds N`),
// the tables of cases by slices; it ends with what it left.
// `npm test -- --all`: every file with every cell and every round, and coverage.
// `npm test -- test/cli/process.test.ts …`: builds and runs these files only, all of their cells
// (a folder: those below it);
// with `--short` by slices, with `--cell ID` one cell. `npm test -- --changed` runs the files that
// what was changed reaches (`--since COMMIT`: changed since then), by slices.
// `--seed N` repeats the choices of a run; `--write-seconds` keeps what the files took.
// The TAP of a whole run lies in .build/test.tap; the last line is `N passed, N failed`.
// What fails beside assertions: whatever does not compile or bundle, a file without an assertion, a
// test that cites a row and asserts nothing, a skip or todo for no allowed reason; in a whole run
// also a claimed row of docs/requirements that no passing test cites.
import { spawn } from 'node:child_process'
import { createWriteStream, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { askedBy } from './tool/asked.js'
import { installMissing } from './tool/install.js'
import { root } from './tool/run.js'
import { seedOfRun } from './tool/seed.js'
import spending from './tool/spent.cjs'

const asked = (() => {
  try {
    return askedBy(process.argv.slice(2))
  } catch (error) {
    console.error(error.message)
    process.exit(2)
  }
})()
await installMissing()
const [
  { compileTree, outputOf }, app, { countTap }, { citationProblems }, { assertionSites },
  { leftLines, leftProblems, repeatLines, toldIn }, { spentIn, writeSeconds }, { testSources },
  { reachedFiles },
] = await Promise.all([
  import('./tool/tree.js'), import('./tool/app.js'), import('./tool/count.js'),
  import('./tool/requirements.js'), import('./tool/sites.js'), import('./tool/left.js'),
  import('./tool/seconds.js'), import('./tool/files.js'), import('./tool/reach.js'),
])

const { whole, short, cell } = asked
/** The test files below a folder; a file is itself. */
const below = (path) => (!existsSync(path) || !statSync(path).isDirectory() ? [path]
  : testSources().filter((one) => one.startsWith(`${resolve(path)}/`)))
const reached = asked.changed ? reachedFiles(asked.since)
  : { files: asked.files.flatMap(below), left: [] }
const files = reached.files.map((path) => resolve(path))
/** What is not committed yet reaches these; without git none are known. */
const reachedFirst = () => {
  try {
    return reachedFiles('HEAD').files
  } catch {
    return []
  }
}
const missing = asked.files.filter((path) => !existsSync(resolve(path)))
if (missing.length > 0) {
  console.error(`there is no test file ${missing.join(', ')}`)
  process.exit(2)
}
const { seed, from } = seedOfRun(asked.seed)
const told = { cells: `${root}/.build/cells.jsonl`, seconds: `${root}/.build/seconds.jsonl` }

/** Compiles and bundles; gives what did not. */
const build = async () => {
  if (whole) await import('./build.js')
  const problems = (await compileTree()).map((one) => `does not compile: ${one}`)
  const bundles = async () => {
    // Coverage alone needs the text that maps back; what is packed starts sooner.
    if (!whole || !short) await app.bundleApp()
    if (whole) await app.bundlePacked()
  }
  // What did not compile is not there; what did not bundle is of an older text. Both are failures.
  const failed = await bundles().then(() => [], (error) => [error.message.split('\n')[0]])
  return [...problems, ...failed.map((one) => `no new spawned bundle: ${one}`)]
}

/** Runs the suite; gives what it counted. */
const runSuite = async () => {
  process.env.SALLYPORT_TEST_APP = whole && short ? app.packedDir : app.appDir
  if (whole) process.env.SALLYPORT_TEST_PACKED = app.packedDir
  const env = {
    ...process.env, SALLYPORT_TEST_RUN: short ? 'short' : whole ? 'all' : 'files',
    SALLYPORT_TEST_SEED: String(seed),
    SALLYPORT_TEST_CELLS: told.cells, SALLYPORT_TEST_SECONDS: told.seconds,
    ...(cell === null ? {} : { SALLYPORT_TEST_CELL: cell }),
  }
  const many = whole || asked.changed
  const suite = spawn(process.execPath, [`${root}/scripts/tool/suite.js`, JSON.stringify({
    files: files.map(outputOf), whole, many, short, seed, seconds: asked.seconds - spending.spent(),
    reached: whole && short ? reachedFirst() : [],
  })], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], env })
  if (whole) suite.stdout.pipe(createWriteStream(`${root}/.build/test.tap`))
  return countTap(suite.stdout, { part: cell !== null })
}

const tests = testSources().map((path) => relative(root, path))
console.log(`seed ${seed}, ${from}`)
mkdirSync(`${root}/.build`, { recursive: true })
for (const path of Object.values(told)) rmSync(path, { force: true })
const problems = await build()
for (const problem of problems) console.error(problem)
const run = asked.changed && files.length === 0 ? null : await runSuite()
report(run)

function isThere(ran) {
  return cell === null || ran.some(({ id }) => id === cell)
}

function report(counted) {
  if (counted === null) {
    console.log('no test file reaches what was changed')
    console.log(`0 passed, ${problems.length} failed`)
    process.exitCode = problems.length === 0 ? 0 : 1
    return
  }
  const left = toldIn(told.cells)
  const wrong = [
    ...counted.problems, ...(whole ? citationProblems(counted.cited) : []),
    ...(isThere(left.ran) ? [] : [`there is no cell ${cell}`]),
    ...(short || cell !== null ? [] : leftProblems(left)),
  ]
  for (const problem of wrong) console.log(`FAILED ${problem}`)
  if (reached.left.length > 0) {
    console.log(`${reached.left.length} files further off reach it, too: npm test`)
  }
  const lines = cell === null ? leftLines(left, `${root}/.build/left.txt`) : []
  for (const line of lines) console.log(line)
  for (const line of repeatLines(counted.failures, left.ran, seed)) console.log(line)
  const spent = spentIn(told.seconds)
  if (asked.writeSeconds) writeSeconds(short ? 'short' : 'all', spent, tests)
  const seconds = [...spent.values()].reduce((sum, { cpu }) => sum + cpu, 0)
  const failures = counted.failed + problems.length + wrong.length
  if (counted.skipped > 0) console.log(`${counted.skipped} skipped`)
  const sites = assertionSites(whole ? undefined : files)
  const { files: ran, titles } = counted
  console.log(`${ran} files and checks, ${titles} tests, ${sites} places that assert`)
  console.log(`${Math.round(seconds)} processor seconds, seed ${seed}`)
  console.log(`${counted.passed} passed, ${failures} failed`)
  process.exitCode = failures === 0 ? 0 : 1
}
