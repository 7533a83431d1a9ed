/**
 * Comparing what a million rows say without holding a text of them. Texts are folded into numbers
 * by seeds that are drawn for each comparison, so that nobody can choose rows that fold alike; two
 * that do by chance are one in 2^53 or less.
 */
import { randomBytes } from 'node:crypto'
import { foldText, spread } from './segments/filter.js'

type Seeds = readonly [number, number]

const newSeeds = (): Seeds => {
  const bytes = randomBytes(8)
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4)]
}

/** Bits of the second number that a double holds beside the first. */
const lowBits = 21
const firstRoom = 1_024

/** The number that a text is folded into, below 2^53. */
const numberOf = ([first, second]: Seeds, text: string): number =>
  spread(foldText(first, text)) * 2 ** lowBits
    + (spread(foldText(second, text)) >>> (32 - lowBits))

/** A set of texts, eight bytes each. */
export class TextSet {
  readonly #seeds = newSeeds()
  #numbers = new Float64Array(firstRoom)
  #count = 0
  #isSorted = true

  add(text: string): void {
    if (this.#count === this.#numbers.length) {
      const larger = new Float64Array(this.#numbers.length * 2)
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers[this.#count] = numberOf(this.#seeds, text)
    this.#count += 1
    this.#isSorted = false
  }

  /** Whether a text was taken in; quick once the last one was. */
  has(text: string): boolean {
    if (!this.#isSorted) this.#numbers.subarray(0, this.#count).sort()
    this.#isSorted = true
    const wanted = numberOf(this.#seeds, text)
    let [low, high] = [0, this.#count]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#numbers[middle]! < wanted) low = middle + 1
      else high = middle
    }
    return low < this.#count && this.#numbers[low] === wanted
  }
}

/**
 * A text for each key, sixteen bytes a place of which at most half are taken; asked while it still
 * grows. Two keys that fold alike are one key here.
 */
export class TextPairs {
  readonly #seeds = newSeeds()
  #keys = new Float64Array(firstRoom)
  #texts = new Float64Array(firstRoom)
  #count = 0

  /** How many keys were taken in. */
  get size(): number {
    return this.#count
  }

  /** Where a key lies, or would lie; a place is free while its number is 0. */
  #placeOf(key: number): number {
    const places = this.#keys.length
    let at = key % places
    while (this.#keys[at] !== 0 && this.#keys[at] !== key) at = (at + 1) % places
    return at
  }

  #keyOf(key: string): number {
    return numberOf(this.#seeds, key) + 1
  }

  #grow(): void {
    const [keys, texts] = [this.#keys, this.#texts]
    this.#keys = new Float64Array(keys.length * 2)
    this.#texts = new Float64Array(keys.length * 2)
    for (const [from, key] of keys.entries()) {
      if (key === 0) continue
      const at = this.#placeOf(key)
      this.#keys[at] = key
      this.#texts[at] = texts[from] as number
    }
  }

  /** Takes a key in; false, and nothing is taken, where it is known. */
  add(key: string, text: string): boolean {
    if (this.#count * 2 >= this.#keys.length) this.#grow()
    const number = this.#keyOf(key)
    const at = this.#placeOf(number)
    if (this.#keys[at] !== 0) return false
    this.#keys[at] = number
    this.#texts[at] = numberOf(this.#seeds, text)
    this.#count += 1
    return true
  }

  has(key: string): boolean {
    return this.#keys[this.#placeOf(this.#keyOf(key))] !== 0
  }

  /** Whether it was taken in with this text. */
  holds(key: string, text: string): boolean {
    const at = this.#placeOf(this.#keyOf(key))
    return this.#keys[at] !== 0 && this.#texts[at] === numberOf(this.#seeds, text)
  }
}

interface Sum {
  count: number
  first: number
  second: number
}

const noSum = (): Sum => ({ count: 0, first: 0, second: 0 })

/** Texts on two sides, each as often as it was added, in any order. */
export class TextBalance {
  readonly #seeds = newSeeds()
  readonly #left = noSum()
  readonly #right = noSum()

  #add(sum: Sum, text: string): void {
    sum.count += 1
    sum.first = (sum.first + spread(foldText(this.#seeds[0], text))) >>> 0
    sum.second = (sum.second + spread(foldText(this.#seeds[1], text))) >>> 0
  }

  /** Adds a text on one side. */
  left(text: string): void {
    this.#add(this.#left, text)
  }

  /** Adds a text on the other side. */
  right(text: string): void {
    this.#add(this.#right, text)
  }

  /** Whether both sides have the same texts, each as often. */
  get isEven(): boolean {
    const [one, other] = [this.#left, this.#right]
    return one.count === other.count && one.first === other.first && one.second === other.second
  }
}
