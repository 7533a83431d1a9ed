/**
 * What a run goes through of a table of cases. `npm test` goes through a slice: every row and every
 * column at least once, or every pair that any two axes make, and the rest by the seed of the run.
 * `npm test -- --all` goes through every cell, but for tables that say that they take too long; a
 * file that is asked for by its name goes through every cell.
 * `npm test -- FILE --cell ID` goes through one.
 *
 * What a slice leaves out is told to the runner, which says so at the end of the run.
 */
import { appendFileSync } from 'node:fs'
import { chanceOf } from './chance.js'

/** How the id of a whole test of a file begins; its tables are gone through whole. */
export const ofTest = 'tests/'

/** How a table is cut. */
export interface SliceOptions<C> {
  /**
   * What a cell is of each axis of the table: its row, its column and so on. Together they name it,
   * unless `idOf` does.
   */
  readonly axesOf: (cell: C) => readonly string[]
  /** Names a cell that its axes do not tell from others. */
  readonly idOf?: (cell: C) => string
  /**
   * What has to be there at least once: each value of each axis, or each pair of values that two
   * axes have in some cell. Each value, unless said.
   */
  readonly cover?: 'values' | 'pairs'
  /** So many cells at least, where the cover has fewer; the others are left to chance. */
  readonly atLeast?: number
  /**
   * Takes minutes of a processor: every cell is gone through where the file is asked for by its
   * name alone, and `--all` goes through a slice as the short run does.
   */
  readonly takesMinutes?: boolean
}

/** What this run goes through: a slice, everything, or one cell; and where the runner is told. */
export interface Run {
  readonly short: boolean
  /** Whether files were asked for by their names. */
  readonly named?: boolean
  readonly cell: string | null
  /** The test file, as the runner names it. */
  readonly file: string
  /** The file that the runner reads; null where nobody does. */
  readonly told: string | null
}

/** Whether this process goes through tables by slices: with `tables`, of every test there is. */
const runsSlices = (): boolean =>
  ['short', 'tables'].includes(process.env['SALLYPORT_TEST_RUN'] ?? '')

/** The run that this process is of. */
export const thisRun = (): Run => ({
  short: runsSlices(),
  named: process.env['SALLYPORT_TEST_RUN'] !== 'all',
  cell: process.env['SALLYPORT_TEST_CELL'] ?? null,
  file: process.env['SALLYPORT_TEST_FILE'] ?? '',
  told: process.env['SALLYPORT_TEST_CELLS'] ?? null,
})

/** Values of one cell, or pairs of them, that the cover needs. */
const targetsOf = (axes: readonly string[], cover: 'values' | 'pairs'): string[] => {
  const values = axes.map((value, axis) => JSON.stringify([axis, value]))
  if (cover === 'values' || values.length < 2) return values
  return values.flatMap((one, at) => values.slice(at + 1).map((other) => `${one} ${other}`))
}

/**
 * Numbers of cells that together have everything that the cover needs: again and again the one that
 * has most of what is still missing, the first of them in the order given.
 * @param targets what each cell has of it
 * @param order all numbers, as chance has put them
 */
export const coverOf = (
  targets: readonly (readonly string[])[], order: readonly number[],
): Set<number> => {
  const missing = new Set(targets.flat())
  const taken = new Set<number>()
  const gainOf = (at: number): number => targets[at]!.filter((one) => missing.has(one)).length
  while (missing.size > 0) {
    let best = { at: -1, gain: 0 }
    for (const at of order) {
      const gain = gainOf(at)
      if (gain > best.gain) best = { at, gain }
    }
    taken.add(best.at)
    for (const one of targets[best.at]!) missing.delete(one)
  }
  return taken
}

/**
 * Numbers of the cells of a slice, in order.
 * @param axes what each cell is of each axis
 * @param order all numbers, as chance has put them
 */
export const sliceOf = (
  axes: readonly (readonly string[])[], order: readonly number[],
  { cover = 'values', atLeast = 0 }: Pick<SliceOptions<unknown>, 'cover' | 'atLeast'> = {},
): number[] => {
  const taken = coverOf(axes.map((one) => targetsOf(one, cover)), order)
  for (const at of order) {
    if (taken.size >= atLeast) break
    taken.add(at)
  }
  return [...taken].sort((a, b) => a - b)
}

const requireDifferent = (table: string, ids: readonly string[]): void => {
  const twice = ids.find((id, at) => ids.indexOf(id) !== at)
  if (twice !== undefined) throw new TypeError(`the table ${table} has two cells ${twice}`)
}

/** Tells the runner what was gone through and what was left. */
export const tell = ({ file, told }: Run, what: object): void => {
  // One write: several processes tell the runner at once.
  if (told !== null) appendFileSync(told, `${JSON.stringify({ file, ...what })}\n`)
}

/**
 * The cells of a table that this run goes through, in the order of the table.
 * @param table name of the table, the first word of the ids of its cells
 * @param cells all of them, each with an id of its own
 * @throws {TypeError} where two cells have the same id
 */
export const slice = <C>(
  table: string, cells: readonly C[], options: SliceOptions<C>, run = thisRun(),
): readonly C[] => {
  const { axesOf, idOf = (cell: C) => axesOf(cell).join('/') } = options
  const ids = cells.map((cell) => `${table}/${idOf(cell)}`)
  requireDifferent(table, ids)
  const all = [...cells.keys()]
  const toFile = !run.short && options.takesMinutes === true && run.named === false
  const taken = run.cell !== null && !run.cell.startsWith(ofTest)
    ? all.filter((at) => ids[at] === run.cell)
    : run.short || toFile
      ? sliceOf(cells.map(axesOf), chanceOf(table).shuffled(all), options)
      : all
  const chosen = new Set(taken)
  tell(run, {
    table, ran: taken.map((at) => ids[at]!),
    left: all.filter((at) => !chosen.has(at)).map((at) => ids[at]!), toFile,
  })
  return taken.map((at) => cells[at]!)
}

/**
 * How often a loop goes round: few times in the short run, all of them otherwise.
 * @param loop name of the loop in its file
 */
export const rounds = (
  loop: string, { short, all }: { readonly short: number, readonly all: number }, run = thisRun(),
): number => {
  const count = run.short ? Math.min(short, all) : all
  if (count < all) tell(run, { loop, rounds: count, all })
  return count
}
