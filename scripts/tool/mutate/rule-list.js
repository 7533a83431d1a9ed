// The pure rule files that `npm run mutate -- rules` breaks expression by expression, and the
// checked list of what no test can see of it.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const listed = 'scripts/tool/mutate/rules.json'

/**
 * `rules`: the files, each with the tests that hold its rules. `equivalent`: survivors of the
 * compiled text that no test can see, `{ file, line, old, new, reason }`: the whole line, what was
 * replaced in it and by what.
 */
export const ruleList = (from) => JSON.parse(readFileSync(join(from, listed), 'utf8'))

/** The entry that excuses a mutant; lines are told by their text, as numbers move. */
export const ruleExcuse = ({ equivalent }, { file, line, old, changed }) =>
  equivalent.find((one) =>
    one.file === file && one.line === line && one.old === old && one.new === changed)

/** What keeps a rule file from being broken, in words; null when nothing does. */
export const ruleProblem = (from, { file, tests }) => {
  const absent = [file, ...tests].filter((path) => !existsSync(join(from, path)))
  if (absent.length > 0) return `not there: ${absent.join(', ')}`
  return tests.length > 0 ? null : `${file} names no test`
}

/**
 * What is wrong with an entry that excuses, in words; null when nothing is.
 * @param {string | null} compiled the compiled text of its file; null where that is no rule file
 */
export const excuseProblem = (compiled, { file, line, old, reason }) => {
  if (compiled === null) return `${file} is no rule file`
  if (typeof reason !== 'string' || reason.length <= 20) return `${file}: no reason for ${old}`
  const fits = compiled.split('\n').some((text) => text.trim() === line) && compiled.includes(old)
  return fits ? null : `${file} has no longer: ${line}`
}
