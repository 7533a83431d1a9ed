/** Cells of a PNG: opaque rows and rows that something shows through. */
import { newSums, planeOf, weightScale, type CellSums } from './cells.js'
import { imageLimits } from './image-limits.js'
import type { Pass } from './png-passes.js'

const side = imageLimits.cellPixels

/** Adds a row whose pixels lie side by side. */
const addDense = (sums: CellSums, y: number, values: Uint32Array): void => {
  const { width, columns, sums: cells } = sums
  const first = Math.floor(y / side) * columns
  for (let column = 0, x = 0; column < columns; column += 1) {
    const end = Math.min(x + side, width)
    let sum = 0
    for (; x < end; x += 1) sum += values[x]!
    cells[first + column]! += sum
  }
}

const addSpread = (sums: CellSums, y: number, pass: Pass, values: Uint32Array): void => {
  const first = Math.floor(y / side) * sums.columns
  for (let i = 0, x = pass.x0; i < pass.width; i += 1, x += pass.dx) {
    const cell = first + Math.floor(x / side)
    sums.sums[cell] = (sums.sums[cell] ?? 0) + (values[i] ?? 0)
  }
}

/** Sums of grey; with transparency, of grey times alpha, and of what alpha leaves of white. */
export class Planes {
  readonly #grey: CellSums
  readonly #shaded: Float64Array
  readonly #missing: Float64Array
  #opaque = true

  constructor(readonly width: number, readonly height: number) {
    this.#grey = newSums(width, height)
    this.#shaded = new Float64Array(this.#grey.sums.length)
    this.#missing = new Float64Array(this.#grey.sums.length)
  }

  /** Adds one row of a pass; `alpha` is null where every pixel is opaque. */
  add(y: number, pass: Pass, grey: Uint32Array, alpha: Uint8Array | null): void {
    if (alpha === null || isOpaque(alpha, pass.width)) {
      if (pass.dx === 1) addDense(this.#grey, y, grey)
      else addSpread(this.#grey, y, pass, grey)
      return
    }
    this.#opaque = false
    const first = Math.floor(y / side) * this.#grey.columns
    for (let i = 0, x = pass.x0; i < pass.width; i += 1, x += pass.dx) {
      const cell = first + Math.floor(x / side)
      const seen = alpha[i] ?? 255
      this.#shaded[cell] = (this.#shaded[cell] ?? 0) + (grey[i] ?? 0) * seen
      this.#missing[cell] = (this.#missing[cell] ?? 0) + weightScale * 255 * (255 - seen)
    }
  }

  /** Adds what was summed elsewhere to one cell, opaque. */
  addCell(cell: number, weighed: number): void {
    const { sums } = this.#grey
    sums[cell] = (sums[cell] ?? 0) + weighed
  }

  /** One plane, or two where something shows through. */
  finish(): Uint16Array[] {
    if (this.#opaque) return [planeOf(this.#grey)]
    return [this.#plane(false), this.#plane(true)]
  }

  /** Sums of a plane, over black or over white, in 1/255 of what opaque sums are. */
  #plane(light: boolean): Uint16Array {
    const sums = new Float64Array(this.#shaded)
    this.#grey.sums.forEach((sum, i) => { sums[i]! += sum * 255 })
    if (light) this.#missing.forEach((sum, i) => { sums[i]! += sum })
    return planeOf({ ...this.#grey, sums }, 255 * weightScale)
  }
}

const isOpaque = (alpha: Uint8Array, count: number): boolean => {
  for (let i = 0; i < count; i += 1) if (alpha[i] !== 255) return false
  return true
}
