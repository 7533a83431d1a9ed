// What was found out about guards, kept in .build, so that a run that was ended goes on where it
// was: which test comes by which guard, and which test notices that a guard is gone.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const version = 1

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

  /** How a test ran with every guard in place, `{ ok, ms }`; undefined where it did not. */
  unbroken(test) {
    return this.#ofTest(test)
  }

  /** Whether a test comes by a guard; undefined where it was not run with that guard in place. */
  comesBy(test, key) {
    const of = this.#ofTest(test)
    if (of === undefined || !this.#kept.lists[of.list].includes(key)) return undefined
    return of.reached.includes(key)
  }

  /** Notes how a test ran with every guard of `keys` in place, and which it came by. */
  noteUnbroken(test, keys, { ok, ms, reached }) {
    const list = shortHash(keys.join('\n'))
    this.#kept.lists[list] = keys
    this.#kept.tests[test] = { hash: this.#hash(test), list, ok, ms, reached }
    this.#save()
  }

  /** The test that notices that a guard is gone: `{ test, why }`; undefined while none is known. */
  killer(guard) {
    const { killed } = this.#ofGuard(guard)
    return killed !== undefined && this.#has(killed.test, killed.hash) ? killed : undefined
  }

  /** Whether a test, as it is, passed without this guard. */
  passed(guard, test) {
    return this.#ofGuard(guard).passed[test] === this.#hash(test)
  }

  noteKilled(guard, test, why) {
    this.#setGuard(guard, { killed: { test, why, hash: this.#hash(test) } })
  }

  notePassed(guard, test) {
    const { passed } = this.#ofGuard(guard)
    this.#setGuard(guard, { passed: { ...passed, [test]: this.#hash(test) } })
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
    writeFileSync(`${this.#path}.tmp`, JSON.stringify(this.#kept, null, 1))
    renameSync(`${this.#path}.tmp`, this.#path)
  }
}

const readBook = (path) => {
  try {
    const kept = JSON.parse(readFileSync(path, 'utf8'))
    return kept.version === version ? kept : null
  } catch {
    return null
  }
}
