// `npm run mutate -- rules`: Stryker breaks every expression of the pure rule files, one at a time,
// in a copy of the compiled tree, and runs the unit tests of that file.
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { Stryker } from '@stryker-mutator/core'
import { root } from '../run.js'
import { compileTree } from '../tree.js'
import { copyProject } from './copy.js'
import { ruleExcuse, ruleList } from './rule-list.js'

const optionsOf = (file, tests, jobs) => ({
  mutate: [file],
  testRunner: 'tap',
  // By path: plugins are looked up beside the project that is mutated, which has none.
  plugins: [createRequire(import.meta.url).resolve('@stryker-mutator/tap-runner')],
  tap: { testFiles: [...tests], nodeArgs: [], forceBail: true },
  mutator: { excludedMutations: ['StringLiteral', 'ObjectLiteral'], plugins: [] },
  inPlace: true,
  disableTypeChecks: false,
  coverageAnalysis: 'perTest',
  concurrency: jobs,
  reporters: [],
  timeoutMS: 30_000,
  logLevel: 'error',
  allowConsoleColors: false,
  cleanTempDir: 'always',
})

const alive = new Set(['Survived', 'NoCoverage'])
const dead = new Set(['Killed', 'Timeout', 'RuntimeError'])

/** The text between two places, lines and columns from 1. */
const textAt = (lines, { start, end }) => {
  const taken = lines.slice(start.line - 1, end.line)
  taken[taken.length - 1] = taken.at(-1).slice(0, end.column - 1)
  taken[0] = taken[0].slice(start.column - 1)
  return taken.join('\n')
}

const mutantOf = (list, file, lines, { location, replacement, mutatorName, status }) => {
  const line = lines[location.start.line - 1].trim()
  const found = { file, line, old: textAt(lines, location), changed: replacement }
  const excuse = ruleExcuse(list, found)
  return { ...found, mutator: mutatorName, status, excused: excuse !== undefined, excuse }
}

/**
 * Mutates rule files one after the other.
 * @param {{ names: readonly string[], jobs: number }} options `names`: parts of paths; all when
 *   there are none
 * @returns {Promise<readonly { file: string, killed: number, ms: number,
 *   survivors: readonly { file: string, line: string, old: string, changed: string,
 *     mutator: string, excused: boolean }[],
 *   wronglyListed: readonly { file: string, line: string, old: string, new: string }[] }[]>}
 *   `wronglyListed`: entries of the list that excuse nothing that survives
 */
export const runRules = async ({ names, jobs }) => {
  const list = ruleList(root)
  const problems = await compileTree()
  if (problems.length > 0) throw new Error(`the checkout does not compile: ${problems[0]}`)
  const copy = await copyProject(join(root, '.build/mutate/rules'))
  process.chdir(copy.dir)
  process.env.TAP = '1'
  const compiled = (path) => relative(copy.dir, copy.outputOf(path))
  const results = []
  for (const { file, tests } of list.rules) {
    if (names.length > 0 && !names.some((name) => file.includes(name))) continue
    const began = Date.now()
    const lines = copy.read(compiled(file)).split('\n')
    const ran = await new Stryker(optionsOf(compiled(file), tests.map(compiled), jobs))
      .runMutationTest()
    const mutants = ran.map((one) => mutantOf(list, file, lines, one))
    const survivors = mutants.filter(({ status }) => alive.has(status))
    const excuses = new Set(survivors.map(({ excuse }) => excuse))
    const killed = mutants.filter(({ status }) => dead.has(status)).length
    const wronglyListed = list.equivalent.filter((one) => one.file === file && !excuses.has(one))
    results.push({ file, killed, survivors, wronglyListed, ms: Date.now() - began })
    tell(results.at(-1))
  }
  return results
}

const tell = ({ file, killed, survivors, wronglyListed, ms }) => {
  console.log(`${file}: ${killed + survivors.length} mutants, ${killed} killed, `
    + `${survivors.length} survived, ${Math.round(ms / 1_000)} s`)
  for (const { line, old, changed, mutator, excused } of survivors) {
    const mark = excused ? ' (listed as equivalent)' : ''
    console.log(`  ${mutator}${mark}\n    ${line}\n    ${old} -> ${changed}`)
  }
  for (const { line, new: changed } of wronglyListed) {
    console.log(`  listed as equivalent, but killed or not there:\n    ${line}\n    -> ${changed}`)
  }
}
