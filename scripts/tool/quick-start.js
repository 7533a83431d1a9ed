// How V8 is told to run a process of tests. It lives for half a minute and calls few functions
// often: V8 as it is spends a sixth of such a process on fast code that then runs a twentieth of
// it, and collects a new space of one megabyte again and again, with threads that take the cores
// from the other processes of the run.
import { spawnSync } from 'node:child_process'

const wanted = [
  // Four times as much runs before a function is compiled for speed.
  '--interrupt-budget=270000',
  '--min-semi-space-size=16',
  '--single-threaded-gc',
]

const nameOf = (flag) => flag.split('=')[0]

/** Everything that a Node can be told about its V8. */
const optionsOf = (node) =>
  spawnSync(node, ['--v8-options'], { encoding: 'utf8', maxBuffer: 1 << 24 }).stdout ?? ''

/**
 * The flags of a process of tests. A Node refuses to start by one that its V8 has not got, and
 * flags come and go: those are left out.
 * @param {string} [options] what V8 can be told
 * @returns {readonly string[]}
 */
export const quickStart = (options = optionsOf(process.execPath)) => {
  const known = new Set([...options.matchAll(/^\s*(--[\w-]+)/gm)].map(([, name]) => name))
  return wanted.filter((flag) => known.has(nameOf(flag)))
}
