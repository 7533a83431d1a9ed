// In which order the test files run: the longest first, so that no core waits for one at the end.
import { treeDir } from './tree.js'

/** Those that take longest, by the beginning of their paths; the longest first. */
const heaviest = [
  'alpha/soak', 'contact/interrupts/', 'alpha/interleavings', 'shots/scan-processes',
  'alpha/hostile-wire', 'fabric/nothing', 'alpha/signals', 'alpha/concurrency', 'alpha/program',
  'shots/scan', 'alpha/tamper-authority', 'leaks', 'alpha/limits-wire', 'shots/analyze',
  'state/crash', 'images/', 'state/damage', 'gateway/', 'fabric/',
]

const rankOf = (file) => {
  const at = heaviest.findIndex((begin) => file.startsWith(`${treeDir}/test/${begin}`))
  return at < 0 ? heaviest.length : at
}

/** The same compiled test files, the longest first and the others by their paths. */
export const heaviestFirst = (files) =>
  files.toSorted((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))
