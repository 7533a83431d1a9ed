// Reads a TAP stream: one line per test file, every failure in full, and the counts.
import { Parser } from 'tap-parser'
import { lacks } from './lacking.js'
import { inSources } from './positions.js'
import { citedIn } from './requirements.js'

/** How the name of a process begins whose tests are files. */
export const severalFiles = 'several files: '

/**
 * Counts assertions that ran, at any depth. A subtest that failed without a failed assertion of
 * its own (it crashed, timed out, or asserted nothing) counts as one failure.
 *
 * A file or a test without an assertion, and a skip or todo for a reason that does not hold here,
 * are problems, each of which is a failure too.
 * @param {NodeJS.ReadableStream} stream
 * @param {{ part?: boolean, isLacking?: (reason: string) => boolean }} [options] `part` is a run
 *   of one cell, where most tests have nothing to assert; `isLacking` says whether the machine
 *   lacks what a reason names
 * @returns {Promise<{ passed: number, failed: number, skipped: number, files: number,
 *   titles: number, cited: Set<string>, problems: readonly string[],
 *   failures: readonly (readonly string[])[] }>} `files` ran, `titles` are the named tests in them,
 *   `cited` the rows that the title of a passing test names, `failures` the names of what failed,
 *   from the file to the assertion
 */
export const countTap = (stream, { part = false, isLacking = lacks } = {}) =>
  new Promise((resolve) => {
    const run = {
      passed: 0, failed: 0, skipped: 0, files: 0, titles: 0, cited: new Set(), problems: [],
      failures: [], isLacking,
    }
    const parser = new Parser()
    follow(parser, run, [], { asserted: 0, isLeft: false })
    parser.on('complete', (results) => {
      if (!results.ok && run.failed === 0) run.failed = 1
      if (part) run.problems = run.problems.filter((one) => !/asserts nothing/.test(one))
      const { isLacking: _, ...counted } = run
      resolve(counted)
    })
    stream.pipe(parser)
  })

const follow = (parser, run, names, whole) => {
  let child = null
  parser.on('child', (next) => {
    child = { asserted: 0, isLeft: false, failedBefore: run.failed }
    follow(next, run, isSeveral(next, names) ? names : [...names, next.name], child)
  })
  parser.on('assert', (result) => {
    const part = child
    child = null
    // Its files were counted one by one; a process that broke off is a failure of its own.
    if (isSeveral(result, names)) {
      if (!result.ok && run.failed === part?.failedBefore) count(result, run, names)
      return
    }
    if (names.length === 0) showFile(result)
    if (part !== null) run[names.length === 0 ? 'files' : 'titles'] += 1
    if (result.skip || result.todo) leftOut(result, run, names, whole)
    else if (part === null) {
      whole.asserted += 1
      count(result, run, names)
    } else {
      whole.asserted += part.asserted
      whole.isLeft ||= part.isLeft
      ended(result, part, run, names)
    }
  })
  parser.on('bailout', (reason) => {
    run.failed += 1
    console.error(`bailed out: ${reason}`)
  })
}

const isSeveral = ({ name }, names) => names.length === 0 && name.startsWith(severalFiles)

/** A file or a test with everything in it. */
const ended = (result, part, run, names) => {
  if (!result.ok && run.failed === part.failedBefore) count(result, run, names)
  const rows = citedIn(result.name)
  const title = [...names, result.name].join(' > ')
  if (part.asserted === 0 && !part.isLeft) run.problems.push(`asserts nothing: ${title}`)
  else if (result.ok) for (const row of rows) run.cited.add(row)
}

const leftOut = (result, run, names, whole) => {
  run.skipped += 1
  if (run.isLacking(result.skip)) {
    whole.isLeft = true
    return
  }
  const reason = result.skip || result.todo
  const told = reason === true || reason === '' ? 'no reason' : `the reason "${reason}"`
  run.problems.push(`left out for ${told}: ${[...names, result.name].join(' > ')}`)
}

const count = (result, run, names) => {
  if (result.ok) run.passed += 1
  else {
    run.failed += 1
    run.failures.push([...names, result.name])
    console.log(`FAILED ${[...names, result.name].join(' > ')}`)
    if (result.diag) console.log(detailsOf(result.diag))
  }
}

const detailsOf = ({ at, ...diag }) => {
  const place = at === undefined ? {} : { at: `${at.fileName}:${at.lineNumber}:${at.columnNumber}` }
  return inSources(JSON.stringify({ ...diag, ...place }, null, 2)).replaceAll('\\n', '\n  ')
}

const showFile = ({ ok, name, time }) => {
  const took = time === undefined ? '' : ` (${seconds(time)})`
  console.log(`${ok ? 'ok    ' : 'not ok'} ${name}${took}`)
}

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`
