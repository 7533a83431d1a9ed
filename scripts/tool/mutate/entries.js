// Named mutations: each is one small break of one guard, with the promise that it breaks and the
// tests that must notice. They lie in scripts/mutations/<area>.json; equivalent.json beside them is
// the checked list of those that no test can notice, each with its reason.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { transformSync } from 'esbuild'
import { filesBelow } from '../files.js'
import { placesOf } from './places.js'

const folder = 'scripts/mutations'
const listed = 'equivalent.json'

/**
 * Reads the entries of a project.
 * @param {string} root
 * @param {readonly string[]} [areas] names of files without `.json`, each of all its entries or,
 *   with a number behind a colon, of the one in that place; all when there are none
 * @returns {readonly { area: string, at: number, file: string, in?: string, old: string,
 *   new: string, promise: string, tests: readonly string[] }[]} `in` is the function, constant or
 *   class member that holds the old text, which is compared without white space; without it the
 *   whole file does
 */
export const namedMutations = (root, areas = []) => {
  const names = readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.json') && name !== listed)
    .map((name) => name.slice(0, -'.json'.length))
  const unknown = areas.filter((area) => !names.includes(area.split(':')[0]))
  if (unknown.length > 0) throw new Error(`no area of this name: ${unknown.join(', ')}`)
  return names
    .sort()
    .flatMap((area) =>
      parse(join(root, folder, `${area}.json`))
        .map((entry, at) => ({ ...entry, area, at: at + 1 }))
        .filter(({ at }) => areas.length === 0 || areas.includes(area)
          || areas.includes(`${area}:${at}`)))
}

/** The checked list of survivors: `{ file, in, old, new, reason }`. */
export const equivalents = (root) => parse(join(root, folder, listed))

/** The entry of the list that excuses a survivor; undefined where it stands in no list. */
export const excuseOf = (list, one) =>
  list.find((entry) =>
    entry.in === one.in && entry.old === one.old && entry.new === one.new
      && (entry.file === one.file || one.in !== undefined))

/**
 * Where the old text of an entry stands: in its file, or, where what holds it was moved, in the one
 * other source that has a part of that name with that text in it.
 * @returns {{ file: string, from: number, to: number } | { count: number }} `count` is in how many
 *   places it stands, where that is not one
 */
export const placeOf = (root, entry) => {
  const here = placesIn(root, entry.file, entry)
  if (here.length === 1) return here[0]
  if (here.length > 1 || entry.in === undefined) return { count: here.length }
  const elsewhere = sourcesOf(root).flatMap((file) => placesIn(root, file, entry))
  return elsewhere.length === 1 ? elsewhere[0] : { count: elsewhere.length }
}

const placesIn = (root, file, entry) => {
  const text = textOf(join(root, file))
  if (text === null) return []
  return placesOf(file, text, entry).map(([from, to]) => ({ file, from, to }))
}

const sourcesOf = (root) => filesBelow(join(root, 'src')).map((path) => relative(root, path))
  .filter((path) => path.endsWith('.ts')).sort()

/** A source as it would be with the mutation at its place made. */
export const mutated = (root, { new: text }, { file, from, to }) => {
  const before = readFileSync(join(root, file), 'utf8')
  return before.slice(0, from) + text + before.slice(to)
}

const compileProblem = (text) => {
  try {
    transformSync(text, { loader: 'ts', logLevel: 'silent' })
    return null
  } catch (error) {
    return `it does not compile: ${error.message.split('\n')[1] ?? error.message}`
  }
}

/** What keeps an entry from being applied, in words; null when nothing does. */
export const problemOf = (root, entry) => {
  const { file, in: part, old, new: changed, promise, tests } = entry
  if (!existsSync(join(root, file)) && part === undefined) return `${file} is not there`
  const place = placeOf(root, entry)
  const { count } = place
  const where = part === undefined ? file : `${part} of ${file}`
  if (count !== undefined) return `the old text occurs ${count} times in ${where}`
  if (old === changed) return 'it changes nothing'
  if (typeof promise !== 'string' || promise === '') return 'it names no promise'
  if (!Array.isArray(tests) || tests.length === 0) return 'it names no test'
  const absent = tests.filter((path) =>
    !path.endsWith('.test.ts') || textOf(join(root, path)) === null)
  if (absent.length > 0) return `no such test: ${absent.join(', ')}`
  return place.file.endsWith('.json') ? null : compileProblem(mutated(root, entry, place))
}

const parse = (path) => JSON.parse(readFileSync(path, 'utf8'))

const textOf = (path) =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path, 'utf8') : null
