// Test files that are run as on a Mac, too: what stands for the system there is loaded into their
// process and into every program that they start.
import { delimiter, join } from 'node:path'

/** State, locks, scan, watch, edge, service, screenshots and alpha; names below test. */
export const darwinSuites = [
  'state/lock', 'state/lock-turns', 'state/store', 'state/folders', 'state/not-regular',
  'state/artifacts', 'state/fold', 'state/faults', 'state/holds/guard',
  'shots/scan', 'shots/swapped-files', 'shots/folder', 'shots/watch',
  'shots/analyze', 'shots/watch/lookout', 'edge/pairing', 'edge/upload', 'edge/device/capture',
  'edge/device/daemon-process', 'service/process', 'service/edge', 'alpha/ask', 'alpha/receipt',
  'cli/timers', 'fabric/names/file',
]

const sourceOf = (name) => `test/${name}.test.ts`

/**
 * What the process of a test is given so that it runs as on a Mac.
 * @param {string} dir the project, or a copy of it
 */
export const asOnMac = (dir) => {
  const preload = join(dir, 'test/support/darwin.cjs')
  const { SALLYPORT_TEST_PRELOAD: given } = process.env
  return {
    NODE_OPTIONS: `--require ${preload}`,
    SALLYPORT_TEST_PRELOAD: given === undefined ? preload : `${given}${delimiter}${preload}`,
  }
}

/**
 * Named mutations that a suite as on a Mac may notice, with such suites before their other tests.
 * @template {{ tests: readonly string[] }} E
 * @param {readonly E[]} entries
 * @returns {readonly E[]}
 */
export const triedOnMac = (entries) => {
  const suites = new Set(darwinSuites.map(sourceOf))
  const isSuite = (test) => suites.has(test)
  return entries.filter(({ tests }) => tests.some(isSuite)).map((entry) => ({
    ...entry,
    tests: [...entry.tests.filter(isSuite), ...entry.tests.filter((test) => !isSuite(test))],
  }))
}
