// `node scripts/captures.js DIR [STATE CONFIG]`: what every verb's help and every list look like at
// 60, 80 and 200 columns, on a terminal made by script(1), as files below DIR; says which lines are
// too wide and which words were cut. Without STATE and CONFIG it looks at what `sallyport demo all`
// leaves.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { captureProblems, looks, plain, widths } from './tool/captures.js'
import { root } from './tool/run.js'
import { compileTree, treeDir } from './tool/tree.js'

const [dir, ...given] = process.argv.slice(2)
if (dir === undefined) {
  console.log('Where to? node scripts/captures.js DIR')
  process.exit(2)
}
await compileTree()
const { describingDeps } = await import(`${treeDir}/src/cli/describing.js`)
const { describeNouns, describeTree } = await import(`${treeDir}/src/cli/tree.js`)
const { topicNames } = await import(`${treeDir}/src/cli/help/topics.js`)
const deps = describingDeps()
const pages = [
  '--help',
  ...describeNouns(deps).map(({ noun }) => `${noun} --help`),
  ...(await describeTree(deps)).map(({ meta }) => `${meta.name} --help`),
  ...topicNames.map((name) => `help ${name}`),
]

const program = join(root, 'bin/sallyport.js')
const sallyport = (env, ...args) => spawnSync(process.execPath, [program, ...args], {
  env: { ...process.env, ...env }, encoding: 'utf8',
})

const demo = () => {
  const told = sallyport({}, 'demo', 'all', '--json').stdout
  const { state_dir, config_dir } = JSON.parse(told)
  return [state_dir, config_dir]
}
const [state, config] = given.length === 2 ? given : demo()
const env = { SALLYPORT_STATE_DIR: state, SALLYPORT_CONFIG_DIR: config }
sallyport(env, 'login', '--replace')

/** What a terminal of this width shows. */
const screen = (line, columns) => spawnSync(
  'script', ['-qec', `stty cols ${columns} rows 24; ${process.execPath} ${program} ${line}`,
    '/dev/null'],
  { env: { ...process.env, ...env, TERM: 'xterm', PAGER: 'cat' }, encoding: 'utf8' },
).stdout

let problems = 0
for (const line of [...pages, ...looks]) {
  const screens = widths.map((columns) => {
    const shown = screen(line, columns)
    const path = join(resolve(dir), String(columns), `${line.replaceAll(' ', '-')}.txt`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, plain(shown))
    return shown
  })
  for (const problem of captureProblems(line, screens)) {
    problems += 1
    console.log(problem)
  }
}
if (given.length !== 2) rmSync(dirname(state), { recursive: true })
console.log(`${pages.length + looks.length} screens at ${widths.join(', ')} columns, `
  + `${problems} problems`)
process.exitCode = problems === 0 ? 0 : 1
