// Which of the files that are run by slices of their tests proves which requirement in a whole
// short run, so that each is proved once at least. What a file that is run whole proves anyhow,
// none of them has to; the others go to the files that prove most of them in least time.
import { readFileSync } from 'node:fs'
import { citedIn } from './requirements.js'

/** How a compiled file says that its tests are run by slices. */
const sliced = /from "[./]*\/support\/tests-in-slices\.js"/

/** Rows that titles of tests cite, where the text of a file shows the title. */
const shownIn = (text) =>
  citedIn([...text.matchAll(/\btest\(\s*(["'`])(.*?)\1/gs)].map(([, , title]) => title).join(' '))

const rest = (ids, missing) => [...ids].filter((id) => missing.has(id))

/**
 * @param {readonly { file: string, text: string }[]} files sources by their names, and what they
 *   were compiled to
 * @param {(file: string) => number} secondsOf what a file is expected to take
 * @returns {Readonly<Record<string, readonly string[]>>} rows by the file that proves them; a file
 *   that is run by slices and is not named here has to prove none
 */
export const ownersOf = (files, secondsOf) => {
  const ofSlices = files.filter(({ text }) => sliced.test(text))
  const proved = new Set(files.filter((one) => !ofSlices.includes(one))
    .flatMap(({ text }) => shownIn(text)))
  const byFile = new Map(ofSlices.map(({ file, text }) => [file, new Set(shownIn(text))]))
  const shown = new Set([...byFile.values()].flatMap((ids) => [...ids]))
  const missing = new Set([...shown].filter((id) => !proved.has(id)))
  const owners = {}
  const worthOf = ([file, ids]) => rest(ids, missing).length / Math.max(secondsOf(file), 0.1)
  while (missing.size > 0) {
    const [file, ids] = [...byFile]
      .reduce((best, one) => (worthOf(one) > worthOf(best) ? one : best))
    owners[file] = rest(ids, missing)
    for (const id of owners[file]) missing.delete(id)
  }
  // What no title shows, a list may give to one: whoever has it in its text has to prove it.
  for (const { file, text } of ofSlices) {
    const hidden = new Set(citedIn(text).filter((id) => !proved.has(id) && !shown.has(id)))
    if (hidden.size > 0) owners[file] = [...owners[file] ?? [], ...hidden]
  }
  return owners
}

/** The same for compiled files, by the names of their sources. */
export const ownersOfFiles = (files, sourceOf, secondsOf) =>
  ownersOf(files.map((path) => ({ file: sourceOf(path), text: readFileSync(path, 'utf8') })),
    secondsOf)
