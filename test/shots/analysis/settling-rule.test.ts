/** Which picture stands for one of a region that goes on changing, by fingerprints alone. */
import t from 'tap'
import type { Fingerprint, PixelRect } from '../../../src/images/types.js'
import { stoodFor } from '../../../src/shots/analysis/settling-rule.js'

const [columns, rows] = [40, 40]
const width = columns * 8
const height = rows * 8

type Part = readonly [PixelRect, number]

/** A picture whose rectangles of cells have levels of their own, the later ones upon the others. */
const picture = (...parts: readonly Part[]): Fingerprint => {
  const plane = new Uint16Array(columns * rows).fill(6_400)
  for (const [{ x, y, width: w, height: h }, level] of parts) {
    for (let row = y; row < y + h; row += 1) {
      plane.fill(level * 64, row * columns + x, row * columns + x + w)
    }
  }
  return { format: 'png', width, height, planes: [plane] }
}

const cells = (x: number, y: number, w: number, h: number): PixelRect =>
  ({ x, y, width: w, height: h })

/** A video of 10 x 10 cells; each number is another frame. */
const video = cells(10, 10, 10, 10)
const frame = (level: number): Fingerprint => picture([video, level])

const stood = (
  [twoBefore, before, now, ...later]: readonly Fingerprint[], ignored: readonly PixelRect[] = [],
) => stoodFor({ twoBefore: twoBefore!, before: before!, now: now!, later, ignored })

const by = (...asked: Parameters<typeof stood>) => stood(...asked)?.by ?? null

t.test('a frame of a video is stood for by each later one, the last one first, with the region around both changes', (t) => {
  t.strictSame(stood([10, 20, 30, 40, 50].map(frame)),
    { region: { x: 64, y: 64, width: 112, height: 112 }, by: [1, 0] })
  t.end()
})

t.test('none stands for the first picture of a change, or where nothing comes behind it', (t) => {
  t.equal(by([picture(), picture(), frame(20), frame(30)]), null, 'nothing changed before it')
  const aside = cells(23, 10, 2, 2)
  t.equal(by([picture([aside, 9]), picture(), frame(20), frame(30)]), null, 'it changed elsewhere')
  const beside = cells(21, 10, 2, 2)
  t.strictSame(by([picture([beside, 9]), picture(), frame(20), frame(30)]), [0])
  t.equal(by([10, 20, 30].map(frame)), null)
  t.end()
})

t.test('a change outside of the region ends it: what lies behind it stands for nothing', (t) => {
  const elsewhere = picture([video, 50], [cells(0, 0, 2, 2), 9])
  t.strictSame(by([frame(10), frame(20), frame(30), frame(40), elsewhere]), [0])
  t.equal(by([frame(10), frame(20), frame(30), elsewhere, frame(60)]), null)
  t.end()
})

t.test('a line of text that comes and goes beside a large video is stood for by no picture without it', (t) => {
  const large = (level: number, ...more: Part[]): Fingerprint =>
    picture([cells(8, 6, 8, 22), level], ...more)
  const line = cells(8, 28, 8, 2)
  t.equal(by([large(10), large(20), large(30, [line, 9]), large(40)]), null)
  t.strictSame(by([large(10), large(20), large(30, [line, 9]), large(40, [line, 9])]), [0])
  t.end()
})

t.test('a dialog that comes and goes is stood for by no picture without it', (t) => {
  const line = cells(4, 30, 6, 2)
  const typed = (level: number, ...more: readonly Part[]) => picture([line, level], ...more)
  const dialog = [cells(6, 16, 14, 12), 240] as const
  t.equal(by([typed(10), typed(20), typed(30, dialog), typed(40)]), null)
  t.strictSame(by([typed(10), typed(20), typed(30, dialog), typed(40, dialog)]), [0],
    'one that is still there is told of by the later picture')
  t.end()
})

t.test('what comes back to what it was is no region that goes on changing', (t) => {
  t.equal(by([frame(10), frame(20), frame(10), frame(20)]), null)
  t.equal(by([frame(10), frame(20), frame(10), frame(30)]), null)
  t.end()
})

t.test('what was taken back wholly is told of by no picture that shows what was before it', (t) => {
  t.equal(by([10, 20, 30, 20].map(frame)), null)
  t.strictSame(by([10, 20, 30, 20, 40].map(frame)), [1], 'the one behind it shows it changed')
  t.end()
})

t.test('more than a quarter of the screen is another page, and is asked about', (t) => {
  const page = (side: number) => [10, 20, 30, 40].map((level) =>
    picture([cells(10, 10, side, side), level]))
  t.strictSame(by(page(16)), [0], '20 of 40 cells with its edges')
  t.equal(by(page(17)), null)
  t.equal(by(page(24)), null)
  t.end()
})

t.test('what is ignored counts for nothing: a clock neither ends a region nor makes one', (t) => {
  const clock = cells(0, 0, 3, 1)
  const ticking = (level: number): Fingerprint => picture([video, level], [clock, level * 2])
  const pictures = [10, 20, 30, 40].map(ticking)
  t.equal(by(pictures), null)
  t.strictSame(by(pictures, [{ x: 0, y: 0, width: 24, height: 8 }]), [0])
  t.end()
})

t.test('pictures of another format or size are of no passage', (t) => {
  const [first, ...others] = [10, 20, 30, 40].map(frame)
  t.equal(by([{ ...first!, format: 'jpeg' }, ...others]), null)
  t.equal(by([first!, { ...others[0]!, width: width - 8 }, ...others.slice(1)]), null)
  t.end()
})
