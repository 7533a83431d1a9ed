// Which files a short run of the whole goes through: first those that prove the numbered
// requirements and those that look at the project itself; then those that what was changed reaches,
// and as many others, chosen by the seed, as its processor seconds allow at the pace that the first
// ones had. The rest is left to the long run.
import { createHash } from 'node:crypto'
import { provingFiles } from './owned-rows.js'

const rankOf = (seed, file) => createHash('sha256').update(`${seed} ${file}`).digest('hex')

/** What lies directly in test/ looks at the project: its layers, lines, mutations and pages. */
const looksAtProject = (file) => /^test\/[^/]+$/.test(file)

/**
 * @param {readonly { file: string, text: string }[]} files sources of tests by their names, and
 *   what they were compiled to
 * @param {{ seed: number, reached?: readonly string[], secondsOf: (file: string) => number }} by
 *   `reached` are those that a change reaches, the nearest first
 * @returns {{ first: readonly string[], others: readonly string[] }} those that run in any case,
 *   and the order in which others are asked whether there is time for them
 */
export const shortRun = (files, { seed, reached = [], secondsOf }) => {
  const proving = provingFiles(files, secondsOf)
  const names = files.map(({ file }) => file)
  const first = names.filter((file) => proving.has(file) || looksAtProject(file))
  const byChance = names.filter((file) => !reached.includes(file))
    .map((file) => ({ file, rank: rankOf(seed, file) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ file }) => file)
  return { first, others: [...reached, ...byChance].filter((file) => !first.includes(file)) }
}

const sumOf = (files, secondsOf) => files.reduce((sum, file) => sum + secondsOf(file), 0)

/**
 * Those of `others` that there is time for. What files were measured to take, they took on some
 * machine of some day: what has ended by now says how many times that it is here.
 * @param {readonly string[]} others in the order in which they are asked
 * @param {{ seconds: number, spent: ReadonlyMap<string, { cpu: number }>,
 *   running: readonly string[], secondsOf: (file: string) => number }} now `seconds` of a processor
 *   for everything, `spent` by what has ended, files or not, and files that are not done yet
 * @returns {readonly string[]}
 */
export const fitting = (others, { seconds, spent, running, secondsOf }) => {
  const taken = [...spent.values()].reduce((sum, { cpu }) => sum + cpu, 0)
  const tests = [...spent].filter(([file]) => file.startsWith('test/'))
  const expected = sumOf(tests.map(([file]) => file), secondsOf)
  const pace = expected === 0 ? 1 : tests.reduce((sum, [, { cpu }]) => sum + cpu, 0) / expected
  let left = seconds - taken - pace * sumOf(running, secondsOf)
  return others.filter((file) => {
    const cost = pace * secondsOf(file)
    if (cost > left) return false
    left -= cost
    return true
  })
}
