// Coverage as V8 itself counts it, in every process of the run (spawned bundles too), mapped back
// to src through source maps.
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { root, run, tool } from './run.js'
import { treeDir } from './tree.js'

/** Where each process of the run leaves its raw counts. */
export const coverageDir = `${root}/.build/coverage`

const ours = /\/\.build\/(tree\/src|app)\//
const trimmed = new Set()

/**
 * How a test process is counted: arguments of Node and variables. Threads are counted by Node
 * alone, and only the tests of images look at what runs in them.
 */
export const countingOf = (file) =>
  file.startsWith(`${treeDir}/test/images/`)
    ? { args: [], more: { NODE_V8_COVERAGE: coverageDir } }
    : { args: ['--require', `${root}/scripts/tool/count-runs.cjs`], more: {} }

/** A file younger than this may still be being written by the process that ends. */
const settledMs = 15_000

/**
 * Drops everything but our own code from the raw counts of Node that are new: they are large
 * otherwise.
 * While tests run, files that may be half written are left for later; `final` takes them all.
 */
export const trimCoverage = ({ final = false } = {}) => {
  for (const name of readdirSync(coverageDir)) {
    if (trimmed.has(name) || !name.startsWith('coverage-')) continue
    const path = `${coverageDir}/${name}`
    if (!final && Date.now() - statSync(path).mtimeMs < settledMs) continue
    trimmed.add(name)
    const raw = parse(path)
    const result = raw?.result.filter(({ url }) => ours.test(url)) ?? []
    if (raw === null || result.length === 0) {
      rmSync(path)
      continue
    }
    const maps = Object.entries(raw['source-map-cache'] ?? {}).filter(([url]) => ours.test(url))
    writeFileSync(path, JSON.stringify({ result, 'source-map-cache': Object.fromEntries(maps) }))
  }
}

// A killed process leaves half a file: no counts.
const parse = (path) => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

/** Thresholds of .taprc, as c8's flags. */
const thresholds = () =>
  [...readFileSync(`${root}/.taprc`, 'utf8').matchAll(/^(\w+): (\d+)$/gm)]
    .filter(([, name]) => ['lines', 'functions', 'statements', 'branches'].includes(name))
    .map(([, name, percent]) => `--${name}=${percent}`)

/**
 * Writes .build/coverage-report (text and JSON) and compares with the thresholds.
 * @returns {Promise<{ status: number, output: string, files: readonly string[] }>}
 *   `files` are the source files that the report lists, relative to the project.
 */
export const reportCoverage = async () => {
  trimCoverage({ final: true })
  const reports = `${root}/.build/coverage-report`
  const { status, output } = await run(process.execPath, [
    tool('c8/bin/c8.js'), 'report', `--temp-directory=${coverageDir}`, '--exclude-after-remap',
    '--include=src/**', '--exclude=', '--extension=.ts', '--reporter=text',
    '--reporter=json-summary', `--reports-dir=${reports}`, '--check-coverage', ...thresholds(),
  ])
  writeFileSync(`${root}/.build/coverage.txt`, output)
  const summary = JSON.parse(readFileSync(`${reports}/coverage-summary.json`, 'utf8'))
  const files = Object.keys(summary).filter((name) => name !== 'total')
  return { status, output, files: files.map((path) => path.slice(root.length + 1)) }
}
