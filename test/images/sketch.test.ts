/** Sketches refuse, and overlook no repeat. */
import fc from 'fast-check'
import t from 'tap'
import { cellsOf } from '../../src/images/cells.js'
import { compareOutside } from '../../src/images/fingerprint.js'
import { levelScale, visualLimit } from '../../src/images/image-limits.js'
import { sketchCellsOf, sketchesApart, sketchOf } from '../../src/images/sketch.js'
import type { Fingerprint, PixelRect } from '../../src/images/types.js'
import { forAll } from '../support/for-all.js'

const most = 255 * levelScale

interface Pair {
  readonly a: Fingerprint
  readonly b: Fingerprint
  readonly ignored: readonly PixelRect[]
}

/** Two pictures of one size that differ by some levels, in some cells by far more. */
const pair: fc.Arbitrary<Pair> = fc.record({
  width: fc.integer({ min: 1, max: 300 }), height: fc.integer({ min: 1, max: 300 }),
  seed: fc.integer(), by: fc.integer({ min: 0, max: visualLimit * levelScale }),
  far: fc.boolean(),
  planes: fc.tuple(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 1, max: 2 })),
  rect: fc.record({ x: fc.nat(), y: fc.nat(), width: fc.nat(), height: fc.nat() }),
}).map(({ width, height, seed, by, far, planes, rect }) => {
  let state = seed >>> 0
  const roll = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const cells = cellsOf(width) * cellsOf(height)
  const one = Uint16Array.from({ length: cells }, () => roll(most + 1))
  const near = (from: Uint16Array): Uint16Array => Uint16Array.from(from, (level) =>
    Math.max(0, Math.min(most, level + roll(2 * by + 1) - by)))
  const apart = (from: Uint16Array): Uint16Array => {
    const next = near(from)
    if (far) next[roll(cells)] = roll(most + 1)
    return next
  }
  const of = (count: number, make: () => Uint16Array): Fingerprint => ({
    format: 'png', width, height, planes: Array.from({ length: count }, make),
  })
  // An area lies within its screen.
  const [x, y] = [rect.x % width, rect.y % height]
  const ignored = [{
    x, y, width: 1 + (rect.width % (width - x)), height: 1 + (rect.height % (height - y)),
  }]
  return { a: of(planes[0], () => one), b: of(planes[1], () => apart(one)), ignored }
})

t.test('S-071 S-072 what fingerprints find alike, with or without areas that do not count, no sketch keeps apart', (t) => {
  let alike = 0
  forAll(t, fc.property(pair, ({ a, b, ignored }) => {
    for (const rects of [[], ignored]) {
      if (compareOutside(a, b, rects).measure > visualLimit) continue
      alike += 1
      if (sketchesApart(sketchOf(a), sketchOf(b), rects) === null) return false
    }
    return true
  }), { numRuns: 200 })
  t.ok(alike > 20)
  t.end()
})

t.test('sketches of other formats and sizes, and of pictures that look different, are apart', (t) => {
  const grey = (width: number, height: number, level: number): Fingerprint => ({
    format: 'png', width, height,
    planes: [new Uint16Array(cellsOf(width) * cellsOf(height)).fill(level * levelScale)],
  })
  const sketch = sketchOf(grey(200, 100, 10))
  t.equal(sketch.planes[0]?.length, sketchCellsOf(200, 100))
  t.equal(sketchCellsOf(200, 100), 8)
  t.strictSame([...sketch.planes[0] ?? []], Array.from({ length: 8 }, () => 10 * levelScale))
  t.equal(sketchesApart(sketch, sketchOf(grey(200, 100, 13)), []), 3 * levelScale)
  t.equal(sketchesApart(sketch, sketchOf(grey(200, 100, 14)), []), null)
  t.equal(sketchesApart(sketch, sketchOf(grey(201, 100, 10)), []), null)
  t.equal(sketchesApart(sketch, sketchOf(grey(200, 101, 10)), []), null)
  t.equal(sketchesApart(sketch, { ...sketch, format: 'jpeg' }, []), null)
  const other = grey(200, 100, 10)
  for (let row = 0; row < 8; row += 1) other.planes[0]?.fill(0, row * 25, row * 25 + 8)
  t.equal(sketchesApart(sketch, sketchOf(other), []), null)
  t.equal(sketchesApart(sketch, sketchOf(other), [{ x: 20, y: 0, width: 1, height: 1 }]), 0,
    'the whole cell of a rectangle has no say')
  t.end()
})
