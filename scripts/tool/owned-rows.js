// Which of the files that are run by slices of their tests proves which requirement in a whole short
// run, so that each is proved once at least. What a file that is run whole proves anyhow, none of
// them has to; the others go to the files that prove most of them in least time.
import { readFileSync } from 'node:fs'
import { citedIn } from './requirements.js'

/** How a compiled file says that its tests are run by slices. */
const sliced = /from "[./]*\/support\/tests-in-slices\.js"/

/** Titles of tests in the text of a file. */
const titlesIn = (text) =>
  [...text.matchAll(/\btest\(\s*(?:"([^"]*)"|`([^`]*)`)/g)].map(([, one, other]) => one ?? other)

const rest = (ids, missing) => [...ids].filter((id) => missing.has(id))

/**
 * @param {readonly { file: string, text: string }[]} files sources by their names, and what they
 *   were compiled to
 * @param {(file: string) => number} secondsOf what a file is expected to take
 * @returns {Readonly<Record<string, readonly string[]>>} rows by the file that proves them; a file
 *   that is run by slices and is not named here has to prove none
 */
export const ownersOf = (files, secondsOf) => {
  const byFile = new Map()
  const proved = new Set()
  for (const { file, text } of files) {
    if (sliced.test(text)) byFile.set(file, new Set(citedIn(text)))
    else for (const title of titlesIn(text)) for (const id of citedIn(title)) proved.add(id)
  }
  const missing = new Set([...byFile.values()].flatMap((ids) => [...ids])
    .filter((id) => !proved.has(id)))
  const owners = {}
  const worthOf = ([file, ids]) => rest(ids, missing).length / Math.max(secondsOf(file), 0.1)
  while (missing.size > 0) {
    const [file, ids] = [...byFile]
      .reduce((best, one) => (worthOf(one) > worthOf(best) ? one : best))
    owners[file] = rest(ids, missing)
    for (const id of owners[file]) missing.delete(id)
  }
  return owners
}

/** The same for compiled files, by the names of their sources. */
export const ownersOfFiles = (files, sourceOf, secondsOf) =>
  ownersOf(files.map((path) => ({ file: sourceOf(path), text: readFileSync(path, 'utf8') })),
    secondsOf)
