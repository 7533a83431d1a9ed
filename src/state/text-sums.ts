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

/** A set of texts, eight bytes each. */
export class TextSet {
  readonly #seeds = newSeeds()
  #numbers = new Float64Array(firstRoom)
  #count = 0
  #isSorted = true

  #numberOf(text: string): number {
    const [first, second] = this.#seeds
    return spread(foldText(first, text)) * 2 ** lowBits
      + (spread(foldText(second, text)) >>> (32 - lowBits))
  }

  /** Takes a text in. */
  add(text: string): void {
    if (this.#count === this.#numbers.length) {
      const larger = new Float64Array(this.#numbers.length * 2)
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers[this.#count] = this.#numberOf(text)
    this.#count += 1
    this.#isSorted = false
  }

  /** Whether a text was taken in; quick once the last one was. */
  has(text: string): boolean {
    if (!this.#isSorted) this.#numbers.subarray(0, this.#count).sort()
    this.#isSorted = true
    const wanted = this.#numberOf(text)
    let [low, high] = [0, this.#count]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#numbers[middle]! < wanted) low = middle + 1
      else high = middle
    }
    return low < this.#count && this.#numbers[low] === wanted
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
