// Which files a short run of the whole goes through: those that prove the numbered requirements,
// those that look at the project itself, those that what was changed reaches, and as many others as
// its processor seconds allow, chosen by the seed. The others are left to the long run.
import { createHash } from 'node:crypto'
import { provingFiles } from './owned-rows.js'

/** Processor seconds that the checks of the source take beside the files. */
const ofChecks = 50

const rankOf = (seed, file) => createHash('sha256').update(`${seed} ${file}`).digest('hex')

/** What lies directly in test/ looks at the project: its layers, lines, mutations and pages. */
const looksAtProject = (file) => /^test\/[^/]+$/.test(file)

/**
 * @param {readonly { file: string, text: string }[]} files sources of tests by their names, and
 *   what they were compiled to
 * @param {{ seconds: number, seed: number, reached?: readonly string[],
 *   secondsOf: (file: string) => number }} options `seconds` of a processor for the whole run;
 *   `reached` are those that a change reaches, the nearest first
 * @returns {{ chosen: readonly string[], left: readonly string[] }}
 */
export const shortRun = (files, { seconds, seed, reached = [], secondsOf }) => {
  const chosen = new Set([
    ...provingFiles(files, secondsOf),
    ...files.map(({ file }) => file).filter(looksAtProject),
  ])
  let left = seconds - ofChecks - [...chosen].reduce((sum, file) => sum + secondsOf(file), 0)
  const others = files.map(({ file }) => file).filter((file) => !reached.includes(file))
    .map((file) => ({ file, rank: rankOf(seed, file) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ file }) => file)
  for (const file of [...reached, ...others]) {
    if (chosen.has(file) || secondsOf(file) > left) continue
    chosen.add(file)
    left -= secondsOf(file)
  }
  const names = files.map(({ file }) => file)
  return {
    chosen: names.filter((file) => chosen.has(file)),
    left: names.filter((file) => !chosen.has(file)),
  }
}
