// What each test file costs, measured: a table that lies in the project, made by the runner
// (`npm test -- --write-seconds`, `npm test -- --all --write-seconds`).
import { readFileSync, writeFileSync } from 'node:fs'
import { root } from './run.js'

const table = `${root}/scripts/tool/seconds.json`

const read = (path) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** What a file takes where nothing was ever measured. */
const secondsUnknown = 3

/** Lines that processes of a run have appended to a file, as the documents that they are. */
export const linesOf = (path) =>
  read(path).split('\n').filter((line) => line !== '').map((line) => JSON.parse(line))

/**
 * Processor seconds and seconds on the clock of each file of a run.
 * @param {string} path where the processes of the run noted them
 * @returns {ReadonlyMap<string, { cpu: number, wall: number }>}
 */
export const spentIn = (path) => {
  const spent = new Map()
  for (const { file, cpu, wall } of linesOf(path)) {
    // A process that a file forks notes itself: its parent has that in its own.
    if ((spent.get(file)?.cpu ?? -1) < cpu) spent.set(file, { cpu, wall })
  }
  return spent
}

/**
 * Says how many processor seconds a file is expected to take.
 * @param {'short' | 'all'} run
 * @returns {(file: string) => number} for the path of a source; the average for one that was never
 *   measured
 */
export const expectedSeconds = (run, known = JSON.parse(read(table) || '{}')) => {
  const column = run === 'short' ? 0 : 1
  const measured = Object.values(known).map((row) => row[column]).filter((one) => one !== null)
  const sum = measured.reduce((before, one) => before + one, 0)
  const average = measured.length === 0 ? secondsUnknown : sum / measured.length
  return (file) => known[file]?.[column] ?? average
}

/**
 * Writes what a run has measured into the table; files that are no longer there leave it.
 * @param {'short' | 'all'} run
 * @param {ReadonlyMap<string, { cpu: number }>} spent
 * @param {readonly string[]} files every test file there is
 */
export const writeSeconds = (run, spent, files) => {
  const known = JSON.parse(read(table) || '{}')
  const rows = files.toSorted().map((file) => {
    const [short = null, all = null] = known[file] ?? []
    const now = spent.has(file) ? Number(spent.get(file).cpu.toFixed(1)) : null
    return [file, run === 'short' ? [now ?? short, all] : [short, now ?? all]]
  })
  const lines = rows.map(([file, row]) => `  ${JSON.stringify(file)}: ${JSON.stringify(row)}`)
  writeFileSync(table, `{\n${lines.join(',\n')}\n}\n`)
}
