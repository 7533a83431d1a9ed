/**
 * Recomputes the chain of every history, entry by entry and with no more than one entry in memory:
 * entries and heads of a history stand in the same order, so that one pass over both is enough.
 */
import { emptyHead, lineBytes, linkOf, sameHead } from '../history/chain.js'
import { mayBeLost } from '../history/lost.js'
import { collectionsNamed, historyOf, placeOfId, type LostRanges } from '../history/spec.js'
import type { Bounds } from '../segments/read-segment.js'
import type { Row } from '../segments/row.js'
import { boundsOf } from '../segments/table.js'
import type { HistoryHead, Problem } from '../types.js'

/** What is wrong with histories, by code. */
const findings = {
  history_entry_missing: 'Entries of a history are missing.',
  history_entry_untrue: 'Entries of a history do not follow from those before.',
  history_entry_beyond: 'A history has entries that its head does not count.',
  history_head_missing: 'A history has entries and no head.',
  history_head_untrue: 'The head of a history is not that of its entries.',
} as const
type Finding = keyof typeof findings

/** What damage explains that a repair has noted; anything else is damage of its own. */
const explained: ReadonlySet<Finding> = new Set([
  'history_entry_missing', 'history_entry_beyond', 'history_head_missing',
])

/** Histories named for each finding; the others are counted. */
const shownMost = 5

const rowForm = /^\{"digest":"([0-9a-f]{64})","entry":(.*)\}$/s

/** The chain of one key, entry by entry. */
class Chain {
  readonly #name: string
  readonly key: string
  readonly found = new Set<Finding>()
  #number = 0
  /** Of the last entry; undefined where that cannot be told. */
  #digest: string | undefined
  /** Undefined where an entry is not there to be counted. */
  #bytes: number | undefined = 0

  constructor(name: string, key: string) {
    this.#name = name
    this.key = key
    this.#digest = emptyHead({ name, key }).digest
  }

  add(number: number, text: string): void {
    const [, digest, entry] = rowForm.exec(text) ?? []
    const follows = number === this.#number + 1
    const before = follows ? this.#digest : undefined
    if (!follows) this.found.add('history_entry_missing')
    // Behind a gap an entry's own digest is taken; what follows is compared with it.
    const isUntrue = entry === undefined || (before !== undefined &&
      linkOf({ name: this.#name, key: this.key }, number, before, entry) !== digest)
    if (isUntrue) this.found.add('history_entry_untrue')
    this.#number = number
    this.#digest = digest
    const bytes = follows && entry !== undefined ? this.#bytes : undefined
    this.#bytes = bytes === undefined ? undefined : bytes + lineBytes(entry ?? '')
  }

  end(head: HistoryHead | undefined): void {
    if (head === undefined) {
      this.found.add('history_head_missing')
    } else if (head.entries > this.#number) {
      this.found.add('history_entry_missing')
    } else if (head.entries < this.#number) {
      this.found.add('history_entry_beyond')
    } else {
      const own = {
        entries: this.#number,
        bytes: this.#bytes ?? head.bytes,
        digest: this.#digest ?? head.digest,
      }
      if (!sameHead(head, own)) this.found.add('history_head_untrue')
    }
  }
}

/** Heads of a history, one looked at before it is taken. */
class Heads {
  readonly #rows: Iterator<Row>
  next: Row | undefined

  constructor(rows: Iterable<Row>) {
    this.#rows = rows[Symbol.iterator]()
    this.take()
  }

  take(): void {
    const result = this.#rows.next()
    this.next = result.done === true ? undefined : result.value
  }

  /** Ends a history by its head, if it is the next one. */
  end(chain: Chain): Chain {
    const isOwn = this.next?.id === `${chain.key}/`
    chain.end(isOwn ? headOf(this.next?.text ?? '') : undefined)
    if (isOwn) this.take()
    return chain
  }

  /** A history that has no entries. */
  alone(name: string, { id, text }: Row): Chain {
    const chain = new Chain(name, id.replace(/\/$/, ''))
    if (id.endsWith('/')) chain.end(headOf(text ?? ''))
    else chain.found.add('history_head_untrue')
    this.take()
    return chain
  }
}

/** A head; one that is no object at all equals none. */
const headOf = (text: string): HistoryHead => ({ ...JSON.parse(text) as HistoryHead })

/** The history of each key, lowest key first, with what is wrong with it. */
function* chainsOf(name: string, entries: Iterable<Row>, heads: Heads): Generator<Chain> {
  function* withoutEntries(before?: string): Generator<Chain> {
    while (heads.next !== undefined && (before === undefined || heads.next.id < before)) {
      yield heads.alone(name, heads.next)
    }
  }
  let chain: Chain | undefined
  for (const { id, text } of entries) {
    const place = placeOfId(id)
    const key = place?.key ?? id.replace(/\/.*$/s, '')
    if (chain !== undefined && chain.key !== key) yield heads.end(chain)
    if (chain?.key !== key) {
      yield* withoutEntries(`${key}/`)
      chain = new Chain(name, key)
    }
    if (place === undefined) chain.found.add('history_entry_untrue')
    else chain.add(place.number, text ?? '')
  }
  if (chain !== undefined) yield heads.end(chain)
  yield* withoutEntries()
}

interface RowSource { rows(bounds: Bounds): Iterable<Row> }

/** Findings of all histories, so many named of each kind. */
class Findings {
  readonly #seen = new Map<string, {
    readonly problem: Problem; readonly keys: string[]; more: number
  }>()

  add(problem: Problem, key: string): void {
    const id = `${problem.code} ${problem.severity} ${problem.subject}`
    const found = this.#seen.get(id) ?? { problem, keys: [], more: 0 }
    this.#seen.set(id, found)
    const isPlain = /^[\w.:-]{1,200}$/.test(key)
    if (isPlain && found.keys.length < shownMost) found.keys.push(key)
    else found.more += 1
  }

  problems(): Problem[] {
    return [...this.#seen.values()].map(({ problem, keys, more }) => {
      const shown = more > 0 ? [...keys, `${more} more`] : keys
      return { ...problem, message: `${problem.message} (${shown.join(', ')})` }
    })
  }
}

/**
 * What is wrong with the histories that lie in some collections. What a repair has noted as lost
 * is a notice, `history_incomplete`: nothing can bring it back, and no append goes on from it.
 */
export const historyProblems = (
  source: RowSource, collections: Iterable<string>, lost: LostRanges | undefined,
): Problem[] => {
  const names = new Set([...collections].flatMap((name) => historyOf(name) ?? []))
  const found = new Findings()
  for (const name of [...names].sort()) {
    const { entries, heads } = collectionsNamed(name)
    const rowsOf = (collection: string): Iterable<Row> => source.rows(boundsOf(collection))
    const isKnown = (key: string): boolean => lost !== undefined &&
      [entries, heads].some((collection) => mayBeLost(lost, collection, key))
    for (const chain of chainsOf(name, rowsOf(entries), new Heads(rowsOf(heads)))) {
      for (const code of chain.found) {
        const problem: Problem = explained.has(code) && isKnown(chain.key)
          ? {
              code: 'history_incomplete', severity: 'notice', subject: name,
              message: 'Entries of a history were lost; what is left is kept as it is.',
            }
          : { code, severity: 'damage', message: findings[code], subject: name }
        found.add(problem, chain.key)
      }
    }
  }
  return found.problems()
}
