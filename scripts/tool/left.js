// What a run left to the longer one, and how one cell of a table is repeated.
import { writeFileSync } from 'node:fs'
import { linesOf } from './seconds.js'

/** The flag of one cell, as a shell reads it. */
const cellOf = (id) => `--cell '${id.replaceAll("'", "'\\''")}'`

/**
 * What slices and loops of test/support/slice.ts told.
 * @param {string} path where the processes of the run told it
 * @returns {{ ran: readonly { file: string, id: string }[], tables: readonly Table[],
 *   loops: readonly { file: string, loop: string, rounds: number, all: number }[],
 *   files: readonly string[] }}
 *   `tables` and `loops` are those of which something was left, `files` those left whole
 * @typedef {{ file: string, table: string, ran: readonly string[], left: readonly string[],
 *   toFile: boolean }} Table `toFile`: it takes minutes, and runs whole where its file is named
 */
export const toldIn = (path) => {
  const lines = linesOf(path)
  const tables = lines.filter(({ table }) => table !== undefined)
  return {
    ran: tables.flatMap(({ file, ran }) => ran.map((id) => ({ file, id }))),
    tables: tables.filter(({ left }) => left.length > 0),
    loops: lines.filter(({ loop }) => loop !== undefined),
    files: lines.flatMap(({ files }) => files ?? []),
  }
}

/**
 * Says what was left, a line a file, and writes each cell by its name.
 * @param {ReturnType<typeof toldIn>} told
 * @param {string} list path of the file that names them
 * @returns {readonly string[]} lines; none when nothing was left
 */
export const leftLines = ({ tables, loops, files }, list) => {
  if (tables.length + loops.length + files.length === 0) return []
  const cells = tables.flatMap(({ file, left }) => left.map((id) => `${file} ${cellOf(id)}`))
  const turns = loops.map(({ file, loop, rounds, all }) => `${file} ${loop}: ${rounds} of ${all}`)
  const isLeftToFiles = loops.length + files.length === 0 && tables.every(({ toFile }) => toFile)
  writeFileSync(list, `${[...files, ...cells, ...turns].join('\n')}\n`)
  const parts = new Map()
  const add = (file, part) => parts.set(file, [...(parts.get(file) ?? []), part])
  for (const { file, table, ran, left } of tables) {
    add(file, `${table} ${ran.length} of ${ran.length + left.length}`)
  }
  for (const { file, loop, rounds, all } of loops) add(file, `${loop} ${rounds} rounds of ${all}`)
  return [
    `left to npm test -- ${isLeftToFiles ? 'FILE' : '--all'}:`,
    ...[...parts].sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([file, of]) => `  ${file}: ${of.join(', ')}`),
    `  ${files.length} files whole, ${cells.length} cells and rounds of ${loops.length} loops`
      + ` in ${parts.size} files,`
      + ' each by its name in .build/left.txt',
  ]
}

/**
 * What a run of every cell may not have left: tables that are not gone through by their file alone.
 * @param {{ tables: readonly Table[] }} told
 * @returns {readonly string[]} a problem each
 */
export const leftProblems = ({ tables }) =>
  tables.filter(({ toFile }) => !toFile).map(({ table }) => `left out of ${table}`)

/**
 * The lines that repeat what failed: one cell where the name of an assertion or of its test names
 * one, the file otherwise.
 * @param {readonly (readonly string[])[]} failures names from the file to the assertion
 * @param {readonly { file: string, id: string }[]} ran cells that ran
 * @param {number} seed
 */
export const repeatLines = (failures, ran, seed) => {
  const lines = failures.filter(([file]) => file.startsWith('test/')).map(([file, ...names]) => {
    const ids = ran.filter((one) => one.file === file)
      .map(({ id }) => id).sort((a, b) => b.length - a.length)
    const cell = names.toReversed()
      .map((name) => ids.find((id) => name.includes(id.replace(/^tests\//, ''))))
      .find((id) => id !== undefined)
    const one = cell === undefined ? '' : ` ${cellOf(cell)}`
    return `repeat: npm test -- ${file}${one} --seed ${seed}`
  })
  return [...new Set(lines)]
}
