// `npm run mutate -- named [AREA…]`: breaks one guard after the other in a copy of the project, as
// scripts/mutations/*.json names them, and expects that the tests named there fail.
// `--share 2/4` takes the second quarter, `--jobs 2` works on two at once.
// Ends with 1 when a survivor does not stand in scripts/mutations/equivalent.json.
import { mkdirSync, writeFileSync } from 'node:fs'
import { installMissing } from './tool/install.js'
import { root } from './tool/run.js'

const usage = 'npm run mutate -- named [AREA…] [--share N/OF] [--jobs N]'

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
if (options === null || half !== 'named') {
  console.error(`usage: ${usage}`)
  process.exit(2)
}
await installMissing()
mkdirSync(`${root}/.build`, { recursive: true })
const { names, ...rest } = options
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
