// What was found out about guards, kept in .build, so that a run that was ended goes on where it
// was: which test comes by which guard, and which test notices that a guard is gone.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const version = 3

const shortHash = (data) => createHash('sha256').update(data).digest('hex').slice(0, 16)

/**
 * The book at a path. What it says of a test holds while the text of the test is the same, and what
 * it says of a guard while that of its source is.
 */
export class GuardBook {
  #path
  #hash
  #kept

  /** `textOf` gives the bytes of a file of the project as it is tried. */
  constructor(path, textOf, { fresh = false } = {}) {
    this.#path = path
    const hashes = new Map()
    this.#hash = (file) => {
      if (!hashes.has(file)) hashes.set(file, shortHash(textOf(file)))
      return hashes.get(file)
    }
    this.#kept = fresh ? null : readBook(path)
    this.#kept ??= { version, lists: {}, tests: {}, guards: {} }
  }

  /**
   * The parts of a test file that come by a guard, `{ title, ms, refused }`: the title of a test in
   * it, or none where it is the file itself, and whether the guard refused there. Undefined where
   * it was not run with that guard in place; none where it did not pass.
   */
  partsBy(test, key) {
    const of = this.#ofTest(test)
    const at = of === undefined ? -1 : this.#kept.lists[of.list].indexOf(key)
    if (at < 0) return undefined
    if (!of.ok) return []
    const parts = Object.entries(of.titles).filter(([, { reached }]) => reached.includes(at))
    const whole = parts.some(([title]) => title === '' || of.titles[title].alone === false)
    const refusedIn = ({ refused }) => refused.includes(at)
    return whole ? [{ title: '', ms: of.ms, refused: parts.some(([, one]) => refusedIn(one)) }]
      : parts.map(([title, one]) => ({ title, ms: one.ms, refused: refusedIn(one) }))
  }

  /**
   * Notes how a test file ran with every guard of `keys` in place.
   * @param {{ ok: boolean, ms: number,
   *   titles: readonly { title: string, ms: number, reached: readonly number[],
   *   refused: readonly number[] }[] }} how `reached` and `refused` are places in `keys`
   */
  noteUnbroken(test, keys, { ok, ms, titles }) {
    const list = shortHash(keys.join('\n'))
    this.#kept.lists[list] = keys
    const byTitle = Object.fromEntries(titles.map(({ title, ...rest }) => [title, rest]))
    this.#kept.tests[test] = { hash: this.#hash(test), list, ok, ms, titles: byTitle }
    this.#save()
  }

  /** Whether a test passes without the others of its file; undefined where nobody tried. */
  alone(test, title) {
    return this.#ofTest(test)?.titles[title]?.alone
  }

  noteAlone(test, title, alone) {
    const of = this.#kept.tests[test]?.titles[title]
    if (of === undefined) return
    of.alone = alone
    this.#save()
  }

  /** What notices that a guard is gone: `{ test, title, why }`; undefined while none is known. */
  killer(guard) {
    const { killed } = this.#ofGuard(guard)
    return killed !== undefined && this.#has(killed.test, killed.hash) ? killed : undefined
  }

  /** Whether a part of a test, as it is, passed without this guard. */
  passed(guard, test, title) {
    return this.#ofGuard(guard).passed[nameOf(test, title)] === this.#hash(test)
  }

  noteKilled(guard, test, title, why) {
    this.#setGuard(guard, { killed: { test, title, why, hash: this.#hash(test) } })
  }

  notePassed(guard, test, title) {
    const { passed } = this.#ofGuard(guard)
    this.#setGuard(guard, { passed: { ...passed, [nameOf(test, title)]: this.#hash(test) } })
  }

  #ofTest(test) {
    const of = this.#kept.tests[test]
    return of !== undefined && of.hash === this.#hash(test) ? of : undefined
  }

  #ofGuard({ key, hash }) {
    const of = this.#kept.guards[key]
    return of !== undefined && of.hash === hash ? of : { passed: {} }
  }

  #setGuard(guard, more) {
    this.#kept.guards[guard.key] = { ...this.#ofGuard(guard), hash: guard.hash, ...more }
    this.#save()
  }

  /** A test may be gone since. */
  #has(test, hash) {
    try {
      return this.#hash(test) === hash
    } catch {
      return false
    }
  }

  #save() {
    mkdirSync(dirname(this.#path), { recursive: true })
    writeFileSync(`${this.#path}.tmp`, JSON.stringify(this.#kept))
    renameSync(`${this.#path}.tmp`, this.#path)
  }
}

const nameOf = (test, title) => `${test} ${title}`

const readBook = (path) => {
  try {
    const kept = JSON.parse(readFileSync(path, 'utf8'))
    return kept.version === version ? kept : null
  } catch {
    return null
  }
}
