// The checked list of what notices that a guard is gone: by test file and title, the guards whose
// absence that test was seen to fail for, alone. It lies in killers.json; guards that nothing can
// notice stand in guards.json, with the reason. `open` there are those for which nothing was found
// yet: it only ever gets shorter.
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { guardExcuse } from './guard-list.js'

const path = 'scripts/tool/mutate/killers.json'

/**
 * Reads the list of a project.
 * @returns {{ killed: Record<string, Record<string, readonly string[]>>, open: readonly string[] }}
 *   keys of guards by test file and title; no title: the file as a whole
 */
export const readKillers = (root) => JSON.parse(readFileSync(join(root, path), 'utf8'))

/** What a guard is, wherever it was moved. */
const withoutFile = (key) => key.slice(key.indexOf(' ') + 1)

/** Entries by what they are without their file, where that is one alone. */
const moved = (byKey) => {
  const found = new Map()
  for (const [key, one] of byKey) {
    const name = withoutFile(key)
    found.set(name, found.has(name) ? null : one)
  }
  return found
}

/**
 * Says what is known to notice that a guard is gone; one that was moved is found by function and
 * text.
 * @returns {(key: string) => { test: string, title: string } | undefined}
 */
export const knownKillers = ({ killed }) => {
  const byKey = new Map(Object.entries(killed).flatMap(([test, titles]) =>
    Object.entries(titles).flatMap(([title, keys]) => keys.map((key) => [key, { test, title }]))))
  const byName = moved(byKey)
  return (key) => byKey.get(key) ?? byName.get(withoutFile(key)) ?? undefined
}

/**
 * Writes what a run has found into the list. Guards that are no longer there leave it.
 * @param {string} root
 * @param {readonly { key: string }[]} guards all there are
 * @param {(key: string) => { test: string, title: string } | undefined} found
 */
export const writeKillers = (root, guards, found) => {
  const kept = readKillers(root)
  const known = knownKillers(kept)
  const killed = {}
  for (const { key } of guards) {
    const killer = found(key) ?? known(key)
    if (killer === undefined) continue
    const titles = killed[killer.test] ??= {}
    titles[killer.title] = [...(titles[killer.title] ?? []), key]
  }
  const sorted = (of, make = (one) => one) => Object.fromEntries(Object.keys(of).sort()
    .map((name) => [name, make(of[name])]))
  const isOpen = new Set(kept.open)
  const open = guards.map(({ key }) => key)
    .filter((key) => isOpen.has(key) && found(key) === undefined && known(key) === undefined)
  const list = { killed: sorted(killed, sorted), open }
  writeFileSync(join(root, `${path}.tmp`), `${JSON.stringify(list, null, 1)}\n`)
  renameSync(join(root, `${path}.tmp`), join(root, path))
}

const textOf = (file) =>
  (statSync(file, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(file, 'utf8') : null)

/** Whether a test file can have a test of this title, which may be made of parts. */
const hasTitle = (text, title) => {
  const bare = title.replaceAll('\'', '\\\'')
  return title === '' || text.includes(title) || text.includes(bare)
    || /\btest\((?:`|[^'"`\s])/.test(text)
}

/**
 * What is wrong with the list, a line each: a guard that is new, or of another text, and for which
 * nothing is known; a test that is not there; an entry for no guard.
 * @param {string} root
 * @param {readonly { key: string, file: string, in: string | null, guard: string }[]} guards
 * @param {readonly object[]} excused the list of those that nothing can notice
 */
export const killerProblems = (root, guards, excused, kept = readKillers(root)) => {
  const known = knownKillers(kept)
  const keys = new Set(guards.map(({ key }) => key))
  const names = new Set([...keys].map(withoutFile))
  const tried = guards.filter((guard) => !kept.open.includes(guard.key)
    && guardExcuse(excused, guard) === undefined)
  const unknown = tried.filter(({ key }) => known(key) === undefined).map(({ key, file }) =>
    'nothing is known to notice that this is gone '
    + `(npm run mutate -- guards ${file} --write): ${key}`)
  const absent = Object.entries(kept.killed).flatMap(([test, titles]) => {
    const text = textOf(join(root, test))
    return text === null ? [`no such test: ${test}`] : Object.keys(titles)
      .filter((title) => !hasTitle(text, title)).map((title) => `no such test: ${test}: ${title}`)
  })
  const listed = Object.values(kept.killed).flatMap((titles) => Object.values(titles)).flat()
  const stale = listed.filter((key) => !keys.has(key) && !names.has(withoutFile(key)))
    .map((key) => `no such guard: ${key}`)
  return [...unknown, ...absent, ...stale]
}
