// Which requirement is proved where in a short run of the whole: by which files, so that each is
// proved once at least, and by which of those that are run by slices of their tests. What a file
// that is run whole proves anyhow, none of these has to.
import { citedIn } from './requirements.js'

/** How a compiled file says that its tests are run by slices. */
const sliced = /from "[./]*\/support\/tests-in-slices\.js"/

/** Rows that titles of tests cite, where the text of a file shows the title. */
const shownIn = (text) =>
  citedIn([...text.matchAll(/\btest\(\s*(["'`])(.*?)\1/gs)].map(([, , title]) => title).join(' '))

const rest = (ids, missing) => [...ids].filter((id) => missing.has(id))

/**
 * Gives each row to one file: again and again those of the file that has most of what is missing in
 * least time.
 * @param {ReadonlyMap<string, ReadonlySet<string>>} byFile rows by the file that can prove them
 * @param {Iterable<string>} rows those to give; each is of one file at least
 * @param {(file: string) => number} secondsOf
 * @returns {Record<string, readonly string[]>}
 */
const given = (byFile, rows, secondsOf) => {
  const missing = new Set(rows)
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

/**
 * Files that together prove every row that some title shows, and those that have a row in their
 * text that no title of any shows: one of a list may prove it.
 * @param {readonly { file: string, text: string }[]} files sources by their names, and what they
 *   were compiled to
 * @param {(file: string) => number} secondsOf what a file is expected to take
 * @returns {ReadonlySet<string>}
 */
export const provingFiles = (files, secondsOf) => {
  const byFile = new Map(files.map(({ file, text }) => [file, new Set(shownIn(text))]))
  const shown = new Set([...byFile.values()].flatMap((ids) => [...ids]))
  const hiding = files.filter(({ text }) => citedIn(text).some((id) => !shown.has(id)))
    .map(({ file }) => file)
  const proved = new Set(hiding.flatMap((file) => [...byFile.get(file)]))
  const left = [...shown].filter((id) => !proved.has(id))
  return new Set([...hiding, ...Object.keys(given(byFile, left, secondsOf))])
}

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
  const owners = given(byFile, [...shown].filter((id) => !proved.has(id)), secondsOf)
  // What no title shows, a list may give to one: whoever has it in its text has to prove it.
  for (const { file, text } of ofSlices) {
    const hidden = new Set(citedIn(text).filter((id) => !proved.has(id) && !shown.has(id)))
    if (hidden.size > 0) owners[file] = [...owners[file] ?? [], ...hidden]
  }
  return owners
}
