// What every source file imports, types included: read by TypeScript's own scanner, which needs no
// program and takes a second for all of them.
import { readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'
import { filesBelow } from './files.js'
import { root } from './run.js'

/** Folders with sources. */
export const sourceFolders = ['src', 'test', 'bench']

const isFile = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true

/** The file that a relative specifier names, relative to the project; null where there is none. */
const fileOf = (from, specifier) => {
  const path = join(dirname(from), specifier)
  const candidates = [path.replace(/\.js$/, '.ts'), path.replace(/\.mjs$/, '.mts'), path]
  return candidates.find(isFile) ?? null
}

const begins = /^(?:import|export)\b/gm

/** The text from the word `import` or `export` of the statement up to its specifier. */
const statementBefore = (text, pos) => {
  const at = [...text.slice(0, pos).matchAll(begins)].at(-1)?.index
  return at === undefined ? '' : text.slice(at, pos)
}

const isDynamic = (text, pos) =>
  /\bimport\s*\(\s*['"]?$/.test(text.slice(Math.max(0, pos - 80), pos))

/**
 * The imports of one file.
 * @param {string} from its path, relative to the project
 * @param {string} text
 * @returns {readonly Import[]}
 * @typedef {{ specifier: string, to: string | null, dynamic: boolean, typeOnly: boolean }} Import
 *   `to` is the file that a relative specifier names, null where it names none or a package
 */
export const importsIn = (from, text) =>
  ts.preProcessFile(text, true, true).importedFiles.map(({ fileName: specifier, pos }) => {
    const dynamic = isDynamic(text, pos)
    const to = specifier.startsWith('.') ? fileOf(from, specifier) : null
    const typeOnly = !dynamic && /^\w+ type\b/.test(statementBefore(text, pos))
    return { specifier, to, dynamic, typeOnly }
  })

/**
 * The imports of every source file.
 * @returns {ReadonlyMap<string, readonly Import[]>} by path, relative to the project
 */
export const importGraph = () => {
  const files = sourceFolders.flatMap((dir) => filesBelow(`${root}/${dir}`))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
  return new Map(files.sort().map((path) => {
    const name = relative(root, path)
    return [name, importsIn(name, readFileSync(path, 'utf8'))]
  }))
}
