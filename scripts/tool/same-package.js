// Whether two packages of one commit have the same bytes. V8's compiled code has not: it holds
// addresses of the run that made it. It is left out by name, and so is the list of its digests.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { filesBelow } from './files.js'

/** Compiled code, by the name of its file in the package. */
const isCompiledCode = (name) => /^dist\/[^/]+\.cache$/.test(name)

/** The loader has a list of digests of the compiled code, in one line. */
const digests = /^const code = \{.*\};$/m

const comparable = (name, bytes) => {
  if (name !== 'dist/packed.js') return bytes
  const text = bytes.toString('latin1')
  if (!digests.test(text)) throw new Error(`${name} has no line of digests to leave out`)
  return Buffer.from(text.replace(digests, ''), 'latin1')
}

/**
 * Every file of an unpacked package.
 * @param {string} folder
 * @returns {Map<string, Buffer>} bytes by the name in the package
 */
export const filesOf = (folder) =>
  new Map(filesBelow(folder).map((path) => [relative(folder, path), readFileSync(path)]))

/**
 * Compares two packages, compiled code and the list of its digests left out. Compiled code has to
 * be there in both under the same names.
 * @param {ReadonlyMap<string, Buffer>} first
 * @param {ReadonlyMap<string, Buffer>} second
 * @returns {{ compared: number, compiled: readonly string[], differ: readonly string[] }} how many
 *   files were compared whole, what was left out, and which files differ or stand in one alone
 */
export const samePackage = (first, second) => {
  const names = [...new Set([...first.keys(), ...second.keys()])].sort()
  const compiled = names.filter(isCompiledCode)
  const differ = names.filter((name) => {
    const [one, other] = [first.get(name), second.get(name)]
    if (one === undefined || other === undefined) return true
    return !isCompiledCode(name) && !comparable(name, one).equals(comparable(name, other))
  })
  return { compared: names.length - compiled.length, compiled, differ }
}
