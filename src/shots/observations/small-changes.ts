/**
 * Where images differ from the one before them in one small rectangle only: a clock, a caret, a
 * spinner. Few areas are kept; one that comes near another one grows with it.
 */
import { nextStepsOf } from '../../base/next-step.js'
import { smallChangeShare } from '../../images/image-limits.js'
import { around, grown, liesIn, meet } from '../../images/rect.js'
import type { SmallChangesTold } from '../receipts/scan.js'
import { areaText, canBeIgnored, ignoredOf } from '../source/ignored.js'
import type { Observation, SmallChanges } from './observation-rows.js'

type Area = SmallChanges['areas'][number]

const areasMax = 8
/** Digits of one clock stand as near as this, pixels. */
const gap = 16
/** An area is worth a word from so many images on. */
const imagesMin = 3

const isNear = (area: Area, own: Area): boolean => {
  if (area.screen_width !== own.screen_width || area.screen_height !== own.screen_height) {
    return false
  }
  const { width, height } = around(area, own)
  return meet(grown(area, gap), own)
    && width * height <= own.screen_width * own.screen_height * smallChangeShare
}

const byImages = (a: Area, b: Area): number =>
  b.images - a.images || Date.parse(b.latest_at) - Date.parse(a.latest_at)

/** With a new observation among them, if it differs in a small rectangle. */
export const withSmallChange = (
  before: SmallChanges | undefined, row: Observation,
): SmallChanges | undefined => {
  const { changed_region: rect, width, height, captured_at } = row
  if (rect === undefined || width === null || height === null) return before
  const { images, areas } = before ?? { images: 0, areas: [] }
  const own: Area = {
    screen_width: width, screen_height: height, ...rect, images: 1, latest_at: captured_at,
  }
  const near = areas.find((area) => isNear(area, own))
  const joined: Area = near === undefined ? own : {
    ...own, ...around(near, own), images: near.images + 1,
    latest_at: near.latest_at > captured_at ? near.latest_at : captured_at,
  }
  const others = areas.filter((area) => area !== near)
  return {
    images: images + 1,
    areas: [...others, joined].sort(byImages).slice(0, areasMax),
  }
}

/** An area in which many images differ and that is not ignored yet. */
interface Ignorable {
  /** As `shots setup --ignore` takes it. */
  readonly area: string
  readonly images: number
}

const textOf = ({ screen_width, screen_height, ...rect }: Area): string =>
  areaText({ screenWidth: screen_width, screenHeight: screen_height, ...rect })

/**
 * The area that most images differ in alone, where it may be ignored beside those that are; null
 * where none is worth a word. `saved`: the areas as they are saved.
 */
export const ignorableOf = (
  changes: SmallChanges | undefined, saved: readonly string[] | null | undefined,
): Ignorable | null => {
  const ignored = ignoredOf(saved)
  const isIgnored = (area: Area): boolean =>
    ignored(area.screen_width, area.screen_height)?.rects.some((rect) => liesIn(area, rect))
      ?? false
  const found = changes?.areas.find((area) =>
    area.images >= imagesMin && !isIgnored(area) && canBeIgnored(saved, textOf(area)))
  return found === undefined ? null : { area: textOf(found), images: found.images }
}

/** What is told of so many images, with where most of their folder's changed. */
export const toldOf = (images: number, most: Ignorable | null): SmallChangesTold => ({
  images,
  area: most?.area ?? null,
  area_images: most?.images ?? 0,
  next: most === null
    ? [] : nextStepsOf(`\`sallyport shots setup --ignore ${most.area}\``),
})
