// Reads a TAP stream: one line per test file, every failure in full, and the counts.
import { Parser } from 'tap-parser'

/**
 * Counts assertions that ran, at any depth. A subtest that failed without a failed assertion of
 * its own (it crashed, timed out, or asserted nothing) counts as one failure.
 * @param {NodeJS.ReadableStream} stream
 * @returns {Promise<{ passed: number, failed: number, skipped: number }>}
 */
export const countTap = (stream) =>
  new Promise((resolve) => {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    const parser = new Parser()
    follow(parser, counts, [])
    parser.on('complete', (results) => {
      if (!results.ok && counts.failed === 0) counts.failed = 1
      resolve(counts)
    })
    stream.pipe(parser)
  })

const follow = (parser, counts, names) => {
  let child = null
  parser.on('child', (next) => {
    child = { asserted: 0, failedBefore: counts.failed }
    next.on('assert', () => (child.asserted += 1))
    follow(next, counts, [...names, next.name])
  })
  parser.on('assert', (result) => {
    const summary = child
    child = null
    if (names.length === 0) showFile(result)
    if (summary === null) return count(result, counts, names)
    const unexplained = !result.ok && counts.failed === summary.failedBefore
    if (unexplained) count(result, counts, names)
  })
  parser.on('bailout', (reason) => {
    counts.failed += 1
    console.error(`bailed out: ${reason}`)
  })
}

const count = (result, counts, names) => {
  if (result.skip || result.todo) counts.skipped += 1
  else if (result.ok) counts.passed += 1
  else {
    counts.failed += 1
    console.log(`FAILED ${[...names, result.name].join(' > ')}`)
    if (result.diag) console.log(JSON.stringify(result.diag, null, 2).replaceAll('\\n', '\n  '))
  }
}

const showFile = ({ ok, name, time }) => {
  const took = time === undefined ? '' : ` (${seconds(time)})`
  console.log(`${ok ? 'ok    ' : 'not ok'} ${name}${took}`)
}

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`
