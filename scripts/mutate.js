// `npm run mutate -- named [AREA…]`: breaks one guard after the other in a copy of the project, as
// scripts/mutations/*.json names them, and expects that the tests named there fail. The area
// `codehost:12` is the twelfth of codehost alone.
// `--share 2/4` takes the second quarter, `--jobs 2` works on two at once, `--write` keeps which
// test failed in scripts/tool/mutate/killers.json. `--on-mac` takes those that a suite may notice
// which is run as on a Mac (scripts/tool/darwin.js), and runs all tests so.
// `npm run mutate -- rules [FILE…] [--jobs N]`: Stryker breaks every expression of the pure rule
// files in scripts/tool/mutate/rules.json, which lists the survivors with their reasons.
// `npm run mutate -- guards [FILTER…|--changed]`: takes away every guard that stands in one line
// and expects that a test that comes by it fails, first the one that scripts/tool/mutate has for it
// in killers.json. A filter is a part of a path or of a function's name; `--changed` takes those of
// files that are not as the last commit but one had them, `--near` runs tests of the same folders
// only, `--test FILE,FILE` those of these files, `--quick` leaves out what takes long for few
// guards, and tests in which a guard did not refuse, `--limit 60` is seconds of tests a guard,
// `--cells` goes through tables whole and not by slices, `--fresh` forgets what a run before found
// out, `--write` keeps what is found in killers.json, `--list` only names them.
// Ends with 1 when a survivor is not listed, or what is listed is killed.
import { mkdirSync, writeFileSync } from 'node:fs'
import { installMissing } from './tool/install.js'
import { root, run } from './tool/run.js'

const usage = 'npm run mutate -- named [AREA[:N]…] [--share N/OF] [--jobs N] [--write|--on-mac]'
  + '\n  | rules [FILE…] [--jobs N]'
  + '\n  | guards [FILTER…] [--changed] [--near] [--quick] [--cells] [--limit SECONDS] [--fresh]'
  + ' [--test FILE[,FILE…]] [--write] [--list] [--jobs N]'

const flags = {
  named: ['--share', '--jobs', '--write', '--on-mac'], rules: ['--jobs'],
  guards: [
    '--changed', '--near', '--quick', '--cells', '--limit', '--fresh', '--write', '--list',
    '--test', '--jobs',
  ],
}
const withValue = ['--share', '--jobs', '--limit', '--test']

const optionsOf = (half, argv) => {
  const options = { '--share': '1/1', '--jobs': '1', '--limit': '60', names: [] }
  const rest = [...argv]
  while (rest.length > 0) {
    const word = rest.shift()
    if (!word.startsWith('-')) options.names.push(word)
    else if (!flags[half]?.includes(word)) return null
    else options[word] = withValue.includes(word) ? rest.shift() ?? '' : true
  }
  const share = options['--share'].split('/').map(Number)
  const [jobs, limit] = [options['--jobs'], options['--limit']].map(Number)
  const whole = [...share, jobs, limit].every((one) => Number.isInteger(one) && one > 0)
  const isOne = options['--write'] === undefined || options['--on-mac'] === undefined
  return whole && isOne && share.length === 2 && share[0] <= share[1]
    ? { ...options, share, jobs, limit } : null
}

const keep = (half, results) => {
  mkdirSync(`${root}/.build`, { recursive: true })
  writeFileSync(`${root}/.build/mutate-${half}.json`, `${JSON.stringify(results, null, 1)}\n`)
}

const rules = async ({ names, jobs }) => {
  const { runRules } = await import('./tool/mutate/rules.js')
  const results = await runRules({ names, jobs })
  keep('rules', results)
  const survivors = results.flatMap((one) => one.survivors)
  const open = survivors.filter((one) => !one.excused).length
  const wrong = results.flatMap((one) => one.wronglyListed).length
  const killed = results.reduce((sum, one) => sum + one.killed, 0)
  console.log(`${killed} killed, ${survivors.length} survived (${open} not listed), `
    + `${wrong} listed that did not survive`)
  return results.length > 0 && open + wrong === 0
}

const named = async ({ names, jobs, share, ...options }) => {
  const { '--write': write = false, '--on-mac': onMac = false } = options
  const { runNamed } = await import('./tool/mutate/named.js')
  const results = await runNamed({ areas: names, jobs, share, write, onMac })
  keep('named', results)
  const count = (verdict, of = results) => of.filter((one) => one.verdict === verdict).length
  for (const name of new Set(results.map(({ area }) => area))) {
    const of = results.filter(({ area }) => area === name)
    console.log(`${name}: ${count('killed', of)} of ${of.length} killed`)
  }
  const unlisted = results.filter((one) => one.verdict === 'survived' && !one.excused)
  const wronglyListed = results.filter((one) => one.verdict === 'killed' && one.excused)
  for (const { file, why } of wronglyListed) {
    console.log(`listed as equivalent, but killed: ${file}: ${why}`)
  }
  console.log(`${count('killed')} killed, ${count('survived')} survived (${unlisted.length} not `
    + `listed), ${count('invalid')} invalid`)
  return unlisted.length + wronglyListed.length + count('invalid') === 0
}

/** Files that are not as the last commit but one had them. */
const changedFiles = async () => {
  const { status, output } = await run('git', ['diff', '--name-only', 'HEAD~1', '--', 'src'])
  if (status !== 0) throw new Error('what changed cannot be told: git diff failed')
  return new Set(output.split('\n'))
}

const guards = async (options) => {
  const { names, jobs, limit } = options
  const changed = options['--changed'] === true ? await changedFiles() : null
  const wanted = ({ key, file }) => (changed === null || changed.has(file))
    && (names.length === 0 || names.some((name) => key.includes(name)))
  if (options['--list'] === true) {
    const { findGuards } = await import('./tool/mutate/guards.js')
    for (const { key } of findGuards(root).filter(wanted)) console.log(key)
    return true
  }
  const { runGuards } = await import('./tool/mutate/run-guards.js')
  const results = await runGuards({
    wanted, jobs, limitMs: limit * 1_000,
    near: options['--near'] === true, quick: options['--quick'] === true,
    fresh: options['--fresh'] === true, cells: options['--cells'] === true,
    write: options['--write'] === true, tests: options['--test']?.split(',') ?? null,
  })
  keep('guards', results)
  const alive = results.filter(({ verdict }) => verdict !== 'killed')
  for (const { key, verdict, why, excused } of alive) {
    console.log(`${verdict}${excused ? ' (listed)' : ''}: ${key}: ${why}`)
  }
  const wrong = results.filter(({ verdict, excused }) => verdict === 'killed' && excused)
  for (const { key, why } of wrong) console.log(`listed, but killed: ${key}: ${why}`)
  const open = alive.filter(({ excused }) => !excused).length
  console.log(`${results.length} guards: ${results.length - alive.length} killed, `
    + `${alive.length} survived, ${alive.length - open} of them listed`)
  return open + wrong.length === 0
}

const [half, ...argv] = process.argv.slice(2)
const options = optionsOf(half, argv)
if (options === null || flags[half] === undefined) {
  console.error(`usage: ${usage}`)
  process.exit(2)
}
await installMissing()
process.exit(await { named, rules, guards }[half](options) ? 0 : 1)
