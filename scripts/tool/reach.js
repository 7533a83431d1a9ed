// Which test files a change reaches: those that import what was changed, on any way, or spawn a
// program that does.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { entries, programs } from './app.js'
import { importGraph } from './imports.js'
import { root } from './run.js'
import { expectedSeconds } from './seconds.js'

/** The verbs: each is loaded when a line names it, and a test that names none of it runs none. */
const verbs = 'src/cli/commands/'

/** The sources that are spawned by who knows where the bundles are. */
const spawned = [...Object.values(entries), ...Object.values(programs)]
const spawns = /\bSALLYPORT_TEST_(?:APP|PACKED)\b/

/** The words of a line that a verb's module is loaded by. */
const wordsOf = (path) => [...new Set([basename(dirname(path)), basename(path, '.ts')])]

const texts = new Map()

const textOf = (path) => {
  if (!texts.has(path)) texts.set(path, readFileSync(join(root, path), 'utf8'))
  return texts.get(path)
}

/** What can be reached, with the least number of imports to it. */
const distances = (from, stepsOf) => {
  const found = new Map([[from, 0]])
  for (const [path, far] of found) {
    for (const to of stepsOf(path)) if (!found.has(to)) found.set(to, far + 1)
  }
  return found
}

const valuesOf = (graph, path) =>
  (graph.get(path) ?? []).filter(({ to, typeOnly }) => to !== null && !typeOnly)

/** The test's own text, with that of what it imports of test/. */
const ownText = (test, graph, read) => {
  const own = distances(test, (path) => valuesOf(graph, path)
    .filter(({ to, dynamic }) => !dynamic && to.startsWith('test/')).map(({ to }) => to))
  return [...own.keys()].map(read).join('\n')
}

/**
 * How far each file is from a test that reaches it, in imports.
 * @param {string} test path of the test's source
 * @param {ReadonlyMap<string, readonly import('./imports.js').Import[]>} graph
 * @param {string} text what the test itself says
 * @param {(path: string) => string} read
 * @returns {ReadonlyMap<string, number>}
 */
const reachOf = (test, graph, text, read) => {
  const isNamed = (word) => text.includes(`'${word}'`)
  return distances(test, (path) => {
    const next = valuesOf(graph, path)
      .filter(({ to, dynamic }) => !(dynamic && to.startsWith(verbs)) || wordsOf(to).every(isNamed))
      .map(({ to }) => to)
    return path.startsWith('test/') && spawns.test(read(path)) ? [...next, ...spawned] : next
  })
}

/** Paths that differ from a commit, and those that it does not know. */
const changedSince = (commit) => {
  const git = (...args) => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
    if (status !== 0) throw new Error(`git ${args[0]}: ${stderr.trim()}`)
    return stdout.split('\n').filter((line) => line !== '')
  }
  return [...new Set([
    ...git('diff', '--name-only', '--no-renames', commit, '--'),
    ...git('ls-files', '--others', '--exclude-standard'),
  ])]
}

/** Whether a test lies where the tests of a source do. */
const mirrors = (test, source) =>
  `${dirname(test)}/`.startsWith(`${dirname(source).replace(/^src\b/, 'test')}/`)

/**
 * Test files that changes reach, the nearest first: by the number of imports between, then those
 * that lie where the tests of what was changed do.
 * @param {readonly string[]} changed paths, relative to the project
 * @param {ReadonlyMap<string, readonly import('./imports.js').Import[]>} graph
 * @param {(path: string) => string} [read]
 * @returns {readonly string[]} paths of sources. What is no module (a page, a schema, a script)
 *   reaches the tests that name it.
 */
export const reachedBy = (changed, graph, read = textOf) => {
  const modules = changed.filter((path) => graph.has(path))
  const names = changed.filter((path) => !graph.has(path)).map((path) =>
    new RegExp(`(?<![\\w-])${basename(path).replaceAll('.', '\\.')}(?![\\w-])`))
  const rankOf = (test) => {
    const text = ownText(test, graph, read)
    const reach = modules.length === 0 ? new Map() : reachOf(test, graph, text, read)
    const far = modules.flatMap((path) => (reach.has(path)
      ? reach.get(path) + (mirrors(test, path) ? 0 : 0.5) : []))
    return Math.min(...far, ...(names.some((name) => name.test(text)) ? [1] : []))
  }
  return [...graph.keys()].filter((path) => path.endsWith('.test.ts'))
    .map((test) => ({ test, rank: rankOf(test) })).filter(({ rank }) => rank !== Infinity)
    .sort((a, b) => a.rank - b.rank || (a.test < b.test ? -1 : 1)).map(({ test }) => test)
}

/** What is run of them at most: so many processor seconds, as they were measured. */
const secondsMax = 60

/**
 * Test files that what differs from a commit reaches.
 * @param {string} commit
 * @returns {{ files: readonly string[], left: readonly string[] }} paths of sources, the nearest
 *   first; `left` are those that would take more than a minute of a processor together
 * @throws {Error} where git does not know the commit
 */
export const reachedFiles = (commit) => {
  const secondsOf = expectedSeconds('short')
  const reached = reachedBy(changedSince(commit), importGraph())
  let sum = 0
  const isTooMuch = (file) => (sum += secondsOf(file)) > secondsMax
  const at = reached.findIndex((file, before) => isTooMuch(file) && before > 0)
  return at < 0 ? { files: reached, left: [] }
    : { files: reached.slice(0, at), left: reached.slice(at) }
}
