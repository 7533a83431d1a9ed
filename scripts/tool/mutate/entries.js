// Named mutations: each is one small break of one guard, with the promise that it breaks and the
// tests that must notice. They lie in scripts/mutations/<area>.json; equivalent.json beside them is
// the checked list of those that no test can notice, each with its reason.
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const folder = 'scripts/mutations'
const listed = 'equivalent.json'

/**
 * Reads the entries of a project.
 * @param {string} root
 * @param {readonly string[]} [areas] names of files without `.json`; all when there are none
 * @returns {readonly { area: string, at: number, file: string, old: string, new: string,
 *   promise: string, tests: readonly string[] }[]}
 */
export const namedMutations = (root, areas = []) => {
  const names = readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.json') && name !== listed)
    .map((name) => name.slice(0, -'.json'.length))
  const unknown = areas.filter((area) => !names.includes(area))
  if (unknown.length > 0) throw new Error(`no area of this name: ${unknown.join(', ')}`)
  return names
    .filter((name) => areas.length === 0 || areas.includes(name))
    .sort()
    .flatMap((area) =>
      parse(join(root, folder, `${area}.json`))
        .map((entry, at) => ({ ...entry, area, at: at + 1 })))
}

/** The checked list of survivors: `{ file, old, new, reason }`. */
export const equivalents = (root) => parse(join(root, folder, listed))

/** The entry of the list that excuses a survivor; undefined where it stands in no list. */
export const excuseOf = (list, one) =>
  list.find((entry) =>
    entry.file === one.file && entry.old === one.old && entry.new === one.new)

/** What keeps an entry from being applied, in words; null when nothing does. */
export const problemOf = (root, { file, old, new: changed, promise, tests }) => {
  const text = textOf(join(root, file))
  if (text === null) return `${file} is not there`
  const count = text.split(old).length - 1
  if (old === '' || count !== 1) return `the old text occurs ${count} times in ${file}`
  if (old === changed) return 'it changes nothing'
  if (typeof promise !== 'string' || promise === '') return 'it names no promise'
  if (!Array.isArray(tests) || tests.length === 0) return 'it names no test'
  const absent = tests.filter((path) =>
    !path.endsWith('.test.ts') || textOf(join(root, path)) === null)
  return absent.length === 0 ? null : `no such test: ${absent.join(', ')}`
}

const parse = (path) => JSON.parse(readFileSync(path, 'utf8'))

const textOf = (path) =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path, 'utf8') : null
