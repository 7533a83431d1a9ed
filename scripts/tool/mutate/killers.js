// The checked list of what notices that a guard is gone: by test file and title, the guards whose
// absence that test was seen to fail for, alone. It lies in killers.json; guards that nothing can
// notice stand in guards.json, with the reason. `open` there are those for which nothing was found
// yet: it only ever gets shorter. `named` are, in the same form, the named mutations that were seen
// to fail a test; of those the list may be short.
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { guardExcuse } from './guard-list.js'

const path = 'scripts/tool/mutate/killers.json'

/**
 * Reads the list of a project.
 * @returns {{ killed: Killed, named: Killed, open: readonly string[] }} keys of guards, and of
 *   named mutations, by test file and title; no title: the file as a whole
 * @typedef {Record<string, Record<string, readonly string[]>>} Killed
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
 * text, where the guard of that name is not at its old place as well.
 * @param {{ killed: Killed }} list
 * @param {ReadonlySet<string>} [there] keys of all guards that there are
 * @returns {(key: string) => { test: string, title: string } | undefined}
 */
export const knownKillers = ({ killed }, there = new Set()) => {
  const byKey = new Map(Object.entries(killed).flatMap(([test, titles]) =>
    Object.entries(titles).flatMap(([title, keys]) => keys.map((key) => [key, { test, title }]))))
  const byName = moved([...byKey].filter(([key]) => !there.has(key)))
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
  const known = knownKillers(kept, new Set(guards.map(({ key }) => key)))
  const killed = killedBy(guards, (key) => found(key) ?? known(key))
  const isOpen = new Set(kept.open)
  const open = guards.map(({ key }) => key)
    .filter((key) => isOpen.has(key) && found(key) === undefined && known(key) === undefined)
  write(root, { ...kept, killed, open })
}

/**
 * Writes what a run of named mutations has found into the list. Mutations that are no longer there
 * leave it.
 * @param {string} root
 * @param {readonly { area: string, promise: string }[]} entries all there are
 * @param {ReadonlyMap<string, { test: string, title: string }>} found by `namedKey`
 */
export const writeNamed = (root, entries, found) => {
  const kept = readKillers(root)
  const known = knownKillers({ killed: kept.named })
  const keys = [...new Set(entries.map(namedKey))].map((key) => ({ key }))
  write(root, { ...kept, named: killedBy(keys, (key) => found.get(key) ?? known(key)) })
}

/** What a named mutation is in the list, wherever it stands in its area. */
export const namedKey = ({ area, promise }) => `${area}: ${promise}`

/** Keys in the form of the list, sorted by file and title. */
const killedBy = (all, killerOf) => {
  const killed = {}
  for (const { key } of all) {
    const killer = killerOf(key)
    if (killer === undefined) continue
    const titles = killed[killer.test] ??= {}
    titles[killer.title] = [...(titles[killer.title] ?? []), key]
  }
  const sorted = (of, make = (one) => one) => Object.fromEntries(Object.keys(of).sort()
    .map((name) => [name, make(of[name])]))
  return sorted(killed, sorted)
}

const write = (root, { killed, named, open }) => {
  const text = JSON.stringify({ killed, named, open }, null, 1)
  writeFileSync(join(root, `${path}.tmp`), `${text}\n`)
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
  const keys = new Set(guards.map(({ key }) => key))
  const known = knownKillers(kept, keys)
  const names = new Set([...keys].map(withoutFile))
  const tried = guards.filter((guard) => !kept.open.includes(guard.key)
    && guardExcuse(excused, guard) === undefined)
  const unknown = tried.filter(({ key }) => known(key) === undefined).map(({ key, file }) =>
    'nothing is known to notice that this is gone '
    + `(npm run mutate -- guards ${file} --write): ${key}`)
  const absent = absentTests(root, kept.killed)
  const listed = Object.values(kept.killed).flatMap((titles) => Object.values(titles)).flat()
  const stale = listed.filter((key) => !keys.has(key) && !names.has(withoutFile(key)))
    .map((key) => `no such guard: ${key}`)
  return [...unknown, ...absent, ...stale]
}

/**
 * What is wrong with the named mutations of the list, a line each: a test that is not there, a
 * mutation that is none.
 * @param {string} root
 * @param {readonly { area: string, promise: string }[]} entries all there are
 */
export const namedProblems = (root, entries, { named } = readKillers(root)) => {
  const keys = new Set(entries.map(namedKey))
  const listed = Object.values(named).flatMap((titles) => Object.values(titles)).flat()
  return [
    ...absentTests(root, named),
    ...listed.filter((key) => !keys.has(key)).map((key) => `no such named mutation: ${key}`),
  ]
}

const absentTests = (root, killed) => Object.entries(killed).flatMap(([test, titles]) => {
  const text = textOf(join(root, test))
  return text === null ? [`no such test: ${test}`] : Object.keys(titles)
    .filter((title) => !hasTitle(text, title)).map((title) => `no such test: ${test}: ${title}`)
})
