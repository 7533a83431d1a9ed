import type { Png } from './png-chunks.js'

/** One pass over the picture: where its pixels lie. */
export interface Pass {
  readonly x0: number
  readonly y0: number
  readonly dx: number
  readonly dy: number
  readonly width: number
  readonly height: number
}

const adam7 = [
  [0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2],
] as const

/** The passes of a picture: one, or the seven of Adam7 that have pixels. */
export const passesOf = ({ width, height, interlaced }: Png): Pass[] => {
  if (!interlaced) return [{ x0: 0, y0: 0, dx: 1, dy: 1, width, height }]
  return adam7
    .map(([x0, y0, dx, dy]) => ({
      x0, y0, dx, dy,
      width: Math.ceil((width - x0) / dx), height: Math.ceil((height - y0) / dy),
    }))
    .filter((pass) => pass.width > 0 && pass.height > 0)
}
