/** Which areas are kept of images that differ in one small rectangle, by rows alone. */
import t from 'tap'
import type { PixelRect } from '../../../src/images/types.js'
import { smallChangeShare } from '../../../src/images/image-limits.js'
import { withSmallChange } from '../../../src/shots/observations/small-changes.js'
import type { Observation, SmallChanges } from '../../../src/shots/observations/observation-rows.js'

const [width, height] = [640, 400]

const row = (rect: PixelRect): Observation => {
  const seen: Pick<Observation, 'changed_region' | 'width' | 'height' | 'captured_at'> = {
    changed_region: rect, width, height, captured_at: '2026-11-20T10:00:00.000Z',
  }
  return seen as Observation
}

const after = (rects: readonly PixelRect[]): SmallChanges | undefined =>
  rects.reduce<SmallChanges | undefined>((all, rect) => withSmallChange(all, row(rect)), undefined)

const square = (x: number, y: number): PixelRect => ({ x, y, width: 32, height: 32 })

t.test('an area that goes on growing is another one before it is a large part of the screen', async (t) => {
  const steps = Array.from({ length: 12 }, (_, i) => square(i * 32, i * 16))
  const areas = after(steps)?.areas ?? []
  t.ok(areas.length > 1)
  for (const area of areas) {
    t.ok(area.width * area.height <= width * height * smallChangeShare,
      `${area.width}x${area.height}`)
  }
  t.hasStrict(after([square(0, 0), square(16, 0), square(32, 0)]),
    { images: 3, areas: [{ x: 0, y: 0, width: 64, height: 32, images: 3 }] })
})
