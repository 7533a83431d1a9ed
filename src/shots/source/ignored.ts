/**
 * Areas of the screen that do not count when two images are compared: a clock, a caret, a spinner.
 * They are told as `WIDTHxHEIGHT:X,Y,W,H`, in pixels of the image, for each size of screen by
 * itself. Nothing of an image is hidden by them: whatever is sent is sent as it is.
 */
import { digestOf } from '../../base/canonical.js'
import { fail, SallyportError } from '../../base/errors.js'
import { liesIn, pixelsIn } from '../../images/rect.js'
import type { PixelRect } from '../../images/types.js'

/** Bounds of what may be ignored. */
export const ignoreLimits = {
  areasPerSizeMax: 16,
  sizesMax: 8,
  /** Part of a screen that its areas may cover together: one of so many. */
  partMax: 4,
} as const

/** An area of the screens of one size. */
interface IgnoredArea extends PixelRect {
  readonly screenWidth: number
  readonly screenHeight: number
}

/** What is ignored of images of one size. */
export interface IgnoredHere {
  readonly rects: readonly PixelRect[]
  /** Digest of the rectangles, in whatever order they were named. */
  readonly sha256: string
}

/** What is ignored of images of a size; null where nothing is. */
export type IgnoredOf = (width: number | null, height: number | null) => IgnoredHere | null

const number = '(0|[1-9][0-9]{0,7})'
const positive = '([1-9][0-9]{0,7})'
const form = new RegExp(
  `^(?:${positive}x${positive}:)?${number},${number},${positive},${positive}$`)

/** An area as it may be told: where its size is left out, whoever reads it has to know it. */
export interface ToldArea extends PixelRect {
  readonly screen: { readonly width: number; readonly height: number } | null
}

/** Reads an area; null for any other text. */
export const toldAreaOf = (text: string): ToldArea | null => {
  const found = form.exec(text)
  if (found === null) return null
  const [, w, h, x, y, width, height] = found
  return {
    screen: w === undefined || h === undefined ? null : { width: Number(w), height: Number(h) },
    x: Number(x), y: Number(y), width: Number(width), height: Number(height),
  }
}

/** The text of an area. */
export const areaText = ({ screenWidth, screenHeight, x, y, width, height }: IgnoredArea): string =>
  `${screenWidth}x${screenHeight}:${x},${y},${width},${height}`

/** Whether a text is that of an area, and the only one that it has. */
export const isAreaText = (text: string): boolean => {
  const told = toldAreaOf(text)
  return told !== null && told.screen !== null
}

const areaOf = (text: string): IgnoredArea => {
  const told = toldAreaOf(text)
  if (told === null || told.screen === null) throw new TypeError('an area was saved unread')
  const { screen, ...rect } = told
  return { ...rect, screenWidth: screen.width, screenHeight: screen.height }
}

const bySize = (areas: readonly IgnoredArea[]): ReadonlyMap<string, readonly IgnoredArea[]> => {
  const sizes = new Map<string, IgnoredArea[]>()
  for (const area of areas) {
    const size = `${area.screenWidth}x${area.screenHeight}`
    sizes.set(size, [...sizes.get(size) ?? [], area])
  }
  return sizes
}

/** How areas that were saved are asked for, by the size of an image. */
export const ignoredOf = (texts: readonly string[] | null | undefined): IgnoredOf => {
  if (texts === null || texts === undefined || texts.length === 0) return () => null
  const sizes = new Map([...bySize(texts.map(areaOf))].map(([size, areas]) => {
    const rects = areas.map(({ x, y, width, height }): PixelRect => ({ x, y, width, height }))
    const sha256 = digestOf({ ignored: areas.map(areaText).sort() })
    return [size, { rects, sha256 }]
  }))
  return (width, height) => sizes.get(`${width}x${height}`) ?? null
}

const example = '1920x1080:1800,0,120,40'

const refused = (code: string, text: string): SallyportError => fail.rejected(code, text, {
  next: 'Nothing was saved. The form and an example: `sallyport shots setup --help`.',
})

const malformed = (): SallyportError => refused('ignore_malformed',
  'An area to ignore is WIDTHxHEIGHT:X,Y,W,H in plain pixels: the screen size, left upper corner, '
  + `width and height, as ${example}.`)

const compareAreas = (a: IgnoredArea, b: IgnoredArea): number =>
  a.screenWidth - b.screenWidth || a.screenHeight - b.screenHeight || a.y - b.y || a.x - b.x
  || a.width - b.width || a.height - b.height

/** Throws where an area lies outside of its screen, or they are too many or too large for it. */
const judgeSize = (areas: readonly IgnoredArea[]): void => {
  const { areasPerSizeMax, partMax } = ignoreLimits
  const [{ screenWidth: width, screenHeight: height } = { screenWidth: 0, screenHeight: 0 }] = areas
  if (!areas.every((area) => liesIn(area, { x: 0, y: 0, width, height }))) {
    throw refused('ignore_outside', 'An area to ignore must lie inside its screen.')
  }
  if (areas.length > areasPerSizeMax) {
    throw refused('ignore_too_many',
      `At most ${areasPerSizeMax} areas of one screen size are ignored.`)
  }
  if (pixelsIn(areas) * partMax > width * height) {
    throw refused('ignore_too_large',
      'The ignored areas of a screen may cover a quarter of it at most.')
  }
}

/** Each once, in order. */
const judged = (areas: readonly IgnoredArea[]): string[] => {
  const each = new Map(areas.map((area) => [areaText(area), area]))
  const sorted = [...each.values()].sort(compareAreas)
  const sizes = bySize(sorted)
  const { sizesMax } = ignoreLimits
  if (sizes.size > sizesMax) {
    throw refused('ignore_too_many', `Areas of at most ${sizesMax} screen sizes are ignored.`)
  }
  for (const here of sizes.values()) judgeSize(here)
  return sorted.map(areaText)
}

/** What somebody asks to have ignored. */
interface IgnoreChange {
  /** The whole list in place of the saved one; null: none. */
  readonly ignore?: readonly string[] | null | undefined
  readonly remove_ignore?: readonly string[] | undefined
  readonly add_ignore?: readonly string[] | undefined
}

const told = (text: string): ToldArea => {
  const area = toldAreaOf(text)
  if (area === null) throw malformed()
  return area
}

const sizeUnknown = (): SallyportError => fail.rejected('ignore_size_unknown',
  'No image of this folder was taken in yet that would tell which screen size is meant.', {
    next: 'Name it before the area, as in: `sallyport shots setup --help`.',
  })

const withSize = (text: string, size: () => ToldArea['screen']): IgnoredArea => {
  const { screen, ...rect } = told(text)
  const known = screen ?? size()
  if (known === null) throw sizeUnknown()
  return { ...rect, screenWidth: known.width, screenHeight: known.height }
}

/** Without what a text names: an area without a size is meant of every one. */
const without = (areas: readonly IgnoredArea[], text: string): IgnoredArea[] => {
  const { screen, ...rect } = told(text)
  const same = (area: IgnoredArea): boolean =>
    area.x === rect.x && area.y === rect.y
    && area.width === rect.width && area.height === rect.height
    && (screen === null
      || (area.screenWidth === screen.width && area.screenHeight === screen.height))
  const left = areas.filter((area) => !same(area))
  if (left.length < areas.length) return left
  throw fail.rejected('ignore_not_found', 'This area is not ignored, so it cannot be taken back.', {
    next: 'Nothing was saved. See what is ignored: `sallyport shots show`.',
  })
}

/**
 * What is to be saved after a change: the list it names, else the saved one, without what it takes
 * back and with what it adds. `size` tells the screen of an area that names none. Undefined where
 * the change says nothing of it; null for no area. Throws `rejected` `ignore_malformed`,
 * `ignore_outside`, `ignore_too_many`, `ignore_too_large`, `ignore_size_unknown` and
 * `ignore_not_found`.
 */
export const changedIgnore = (
  saved: readonly string[] | null | undefined, change: IgnoreChange, size: () => ToldArea['screen'],
): string[] | null | undefined => {
  const { ignore, remove_ignore: remove = [], add_ignore: add = [] } = change
  if (ignore === undefined && remove.length + add.length === 0) return undefined
  const named = (ignore === undefined ? saved : ignore) ?? []
  let areas = named.map((text) => withSize(text, size))
  for (const text of remove) areas = without(areas, text)
  const after = judged([...areas, ...add.map((text) => withSize(text, size))])
  return after.length === 0 ? null : after
}

/** Whether an area may be ignored beside those that are saved. */
export const canBeIgnored = (
  saved: readonly string[] | null | undefined, area: string,
): boolean => {
  try {
    return changedIgnore(saved, { add_ignore: [area] }, () => null) !== undefined
  } catch (error) {
    if (error instanceof SallyportError) return false
    throw error
  }
}
