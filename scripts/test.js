// `npm test`: installs what is missing, builds, checks the source, runs every test with coverage.
// `npm test -- test/cli/process.test.ts …`: builds and runs these files only.
// The TAP of the run lies in .build/test.tap; the last line is `N passed, N failed`.
// What fails beside assertions: whatever does not compile or bundle, a file without an assertion, a
// test that cites a row and asserts nothing, a skip or todo for no allowed reason; in a whole run
// also a claimed row of docs/requirements that no passing test cites.
import { spawn } from 'node:child_process'
import { createWriteStream, mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { installMissing } from './tool/install.js'
import { root } from './tool/run.js'

await installMissing()
const [
  { compileTree, outputOf }, app, { countTap }, { citationProblems }, { assertionSites },
] = await Promise.all([
  import('./tool/tree.js'), import('./tool/app.js'), import('./tool/count.js'),
  import('./tool/requirements.js'), import('./tool/sites.js'),
])
process.env.SALLYPORT_TEST_APP = app.appDir
const only = process.argv.slice(2).map((path) => outputOf(resolve(path)))
const whole = only.length === 0
if (whole) {
  await import('./build.js')
  process.env.SALLYPORT_TEST_PACKED = app.packedDir
}
const problems = [...(await compileTree())]
for (const problem of problems) console.error(`does not compile: ${problem}`)
const bundles = async () => {
  await app.bundleApp()
  if (whole) await app.bundlePacked()
}
const bundled = await bundles().then(() => [], (error) => [error.message.split('\n')[0]])
for (const problem of bundled) console.error(`no new spawned bundle: ${problem}`)
// What did not compile is not there; what did not bundle is of an older text. Both are failures.
problems.push(...bundled)
mkdirSync(`${root}/.build`, { recursive: true })
const suite = spawn(process.execPath, [`${root}/scripts/tool/suite.js`, ...only], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
})
if (whole) suite.stdout.pipe(createWriteStream(`${root}/.build/test.tap`))
const {
  passed, failed, skipped, files, titles, cited, problems: found,
} = await countTap(suite.stdout)
const wrong = [...found, ...(whole ? citationProblems(cited) : [])]
for (const problem of wrong) console.log(`FAILED ${problem}`)
const failures = failed + problems.length + wrong.length
if (skipped > 0) console.log(`${skipped} skipped`)
const sites = assertionSites(whole ? undefined : process.argv.slice(2))
console.log(`${files} files and checks, ${titles} tests, ${sites} places that assert`)
console.log(`${passed} passed, ${failures} failed`)
process.exitCode = failures === 0 ? 0 : 1
