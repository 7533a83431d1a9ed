// `npm run mutate -- named [AREA…]`: breaks one guard after the other in a copy of the project, as
// scripts/mutations/*.json names them, and expects that the tests named there fail.
// `--share 2/4` takes the second quarter, `--jobs 2` works on two at once.
// `npm run mutate -- rules [FILE…] [--jobs N]`: Stryker breaks every expression of the pure rule
// files in scripts/tool/mutate/rules.json, which lists the survivors with their reasons.
// Ends with 1 when a survivor is not listed, or what is listed is killed.
import { mkdirSync, writeFileSync } from 'node:fs'
import { installMissing } from './tool/install.js'
import { root } from './tool/run.js'

const usage = 'npm run mutate -- named [AREA…] [--share N/OF] [--jobs N] | rules [FILE…] [--jobs N]'

const optionsOf = (argv) => {
  const options = { share: [1, 1], jobs: 1, names: [] }
  const rest = [...argv]
  while (rest.length > 0) {
    const word = rest.shift()
    if (word === '--share') options.share = (rest.shift() ?? '').split('/').map(Number)
    else if (word === '--jobs') options.jobs = Number(rest.shift())
    else if (word.startsWith('-')) return null
    else options.names.push(word)
  }
  const [part, parts] = options.share
  const whole = [part, parts, options.jobs].every((one) => Number.isInteger(one) && one > 0)
  return whole && part <= parts ? options : null
}

const [half, ...argv] = process.argv.slice(2)
const options = optionsOf(argv)
if (options === null || !['named', 'rules'].includes(half)) {
  console.error(`usage: ${usage}`)
  process.exit(2)
}
await installMissing()
mkdirSync(`${root}/.build`, { recursive: true })
const { names, ...rest } = options
if (half === 'rules') {
  const { runRules } = await import('./tool/mutate/rules.js')
  const rules = await runRules({ names, jobs: options.jobs })
  writeFileSync(`${root}/.build/mutate-rules.json`, `${JSON.stringify(rules, null, 1)}\n`)
  const survivors = rules.flatMap((one) => one.survivors)
  const open = survivors.filter((one) => !one.excused).length
  const wrong = rules.flatMap((one) => one.wronglyListed).length
  const killed = rules.reduce((sum, one) => sum + one.killed, 0)
  console.log(`${killed} killed, ${survivors.length} survived (${open} not listed), `
    + `${wrong} listed that did not survive`)
  process.exit(rules.length > 0 && open + wrong === 0 ? 0 : 1)
}
const { runNamed } = await import('./tool/mutate/named.js')
const results = await runNamed({ ...rest, areas: names })
writeFileSync(`${root}/.build/mutate-${half}.json`, `${JSON.stringify(results, null, 1)}\n`)

const count = (verdict) => results.filter((one) => one.verdict === verdict).length
const unlisted = results.filter((one) => one.verdict === 'survived' && !one.excused)
const wronglyListed = results.filter((one) => one.verdict === 'killed' && one.excused)
for (const { file, why } of wronglyListed) {
  console.log(`listed as equivalent, but killed: ${file}: ${why}`)
}
console.log(`${count('killed')} killed, ${count('survived')} survived (${unlisted.length} not `
  + `listed), ${count('invalid')} invalid`)
process.exitCode = unlisted.length + wronglyListed.length + count('invalid') === 0 ? 0 : 1
