// The rows of docs/requirements and what titles of tests cite of them.
import { readFileSync, readdirSync } from 'node:fs'
import { root } from './run.js'

const folder = `${root}/docs/requirements`
const left = 'not-claimed.tsv'

const firstColumn = (name) =>
  readFileSync(`${folder}/${name}`, 'utf8').trim().split('\n').slice(1)
    .map((line) => line.split('\t'))

/** Ids of rows that a title names. */
export const citedIn = (title) => title.match(/\b[ACS]-\d{3}\b/g) ?? []

/**
 * What the tables hold: ids of all rows, and of those that the program does not claim, with the
 * reason. A whole table is left out by its letter and a star.
 */
export const requirementRows = () => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.tsv') && name !== left)
  return {
    all: names.flatMap((name) => firstColumn(name).map(([id]) => id)),
    notClaimed: new Map(firstColumn(left).map(([id, reason]) => [id, reason])),
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
