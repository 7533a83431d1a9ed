// `npm test`: installs what is missing, builds, checks the source, runs every test with coverage.
// `npm test -- test/cli/process.test.ts …`: builds and runs these files only.
// The TAP of the run lies in .build/test.tap; the last line is `N passed, N failed`.
import { spawn } from 'node:child_process'
import { createWriteStream, mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { installMissing } from './tool/install.js'
import { root } from './tool/run.js'

await installMissing()
const [{ compileTree, outputOf }, app, { countTap }] = await Promise.all([
  import('./tool/tree.js'), import('./tool/app.js'), import('./tool/count.js'),
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
if (whole) problems.push(...bundled)

// A run of single files goes on beside what is broken elsewhere.
const broken = whole ? problems.length : 0
mkdirSync(`${root}/.build`, { recursive: true })
const suite = spawn(process.execPath, [`${root}/scripts/tool/suite.js`, ...only], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
})
if (whole) suite.stdout.pipe(createWriteStream(`${root}/.build/test.tap`))
const { passed, failed, skipped } = await countTap(suite.stdout)
if (skipped > 0) console.log(`${skipped} skipped`)
console.log(`${passed} passed, ${failed + broken} failed`)
process.exitCode = failed + broken === 0 ? 0 : 1
