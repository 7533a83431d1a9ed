// The rows of docs/requirements, what titles of tests cite of them, and which rows a mutation was
// seen to break.
import { readFileSync, readdirSync } from 'node:fs'
import { readKillers } from './mutate/killers.js'
import { root } from './run.js'

const folder = `${root}/docs/requirements`
const left = 'not-claimed.tsv'

const rowsOf = (name) =>
  readFileSync(`${folder}/${name}`, 'utf8').trim().split('\n').map((line) => line.split('\t'))

const givenRows = (name) => rowsOf(name).slice(1)

const tables = () =>
  readdirSync(folder).filter((name) => name.endsWith('.tsv') && name !== left)

/** Ids of rows that a title names. */
export const citedIn = (title) => title.match(/\b[ACS]-\d{3}\b/g) ?? []

/**
 * What the tables hold: ids of all rows, and of those that the program does not claim, with the
 * reason. A whole table is left out by its letter and a star.
 */
export const requirementRows = () => {
  return {
    all: tables().flatMap((name) => givenRows(name).map(([id]) => id)),
    notClaimed: new Map(givenRows(left).map(([id, reason]) => [id, reason])),
  }
}

/**
 * What is wrong with the citations of a whole run: a claimed row that no passing test cites, an
 * excuse for a row that is cited or does not exist, a citation of no row.
 * @param {ReadonlySet<string>} cited rows that the titles of passing tests name
 */
export const citationProblems = (cited, { all, notClaimed } = requirementRows()) => {
  const excused = (id) => notClaimed.has(id) || notClaimed.has(`${id[0]}-*`)
  return [
    ...all.filter((id) => !excused(id) && !cited.has(id))
      .map((id) => `row ${id} is cited by no passing test`),
    ...[...notClaimed].filter(([id]) => cited.has(id))
      .map(([id]) => `row ${id} is cited, though it is said not to be claimed`),
    ...[...notClaimed].filter(([id, reason]) => !reason || !all.some((one) =>
      one === id || id === `${one[0]}-*`)).map(([id]) => `${id} is no row, or gives no reason`),
    ...[...cited].filter((id) => !all.includes(id)).map((id) => `row ${id} is in no table`),
  ]
}

/** Columns that a table is given by people; behind them stands the mutation. */
const givenColumns = 4

/**
 * Mutations by the rows that they were seen to break: a test that cites the row failed for it. The
 * one whose test cites fewest other rows stands first.
 * @returns {Map<string, string[]>}
 */
export const mutationsByRow = ({ killed, named } = readKillers(root)) => {
  const seen = [killed, named].flatMap((byTest) => Object.values(byTest))
    .flatMap((titles) => Object.entries(titles))
    .flatMap(([title, keys]) => keys.map((key) => ({ key, rows: [...new Set(citedIn(title))] })))
    .sort((a, b) => a.rows.length - b.rows.length || (a.key < b.key ? -1 : 1))
  const found = new Map()
  for (const { key, rows } of seen) {
    for (const row of rows) found.set(row, [...(found.get(row) ?? []), key])
  }
  return found
}

/** What a row says where it states that something is refused, bounded or never happens. */
const bounds = /refus|reject|never|\bno\b|\bnot\b|nothing|none|only|alone|at most|at least|exceed/i

/** How many rows there are, how many of them state a refusal or a bound, and of how many of both a
 * mutation was seen to fail a test. */
export const mutationCounts = (found = mutationsByRow()) => {
  const rows = tables().flatMap(givenRows)
  const bounded = rows.filter(([, , requirement]) => bounds.test(requirement))
  const of = (some) => some.filter(([id]) => found.has(id)).length
  return {
    rows: rows.length, broken: of(rows), bounded: bounded.length, boundedBroken: of(bounded),
  }
}

/** The tables as they are to be, `[path, text]`: the column of the mutation is made anew. */
export const tablesWithMutations = (found = mutationsByRow()) => tables().map((name) => {
  const [head, ...rows] = rowsOf(name).map((columns) => columns.slice(0, givenColumns))
  const told = rows.map((columns) => {
    const [first = '', ...more] = found.get(columns[0]) ?? []
    return [...columns, more.length === 0 ? first : `${first} (and ${more.length} more)`]
  })
  const lines = [[...head, 'mutation'], ...told].map((columns) => columns.join('\t'))
  return [`docs/requirements/${name}`, `${lines.join('\n')}\n`]
})
