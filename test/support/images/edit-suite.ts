/**
 * Pictures like screenshots of text, and small edits of them. The letters are made of stems and
 * bars of one pixel, about as tall as 14-pixel type, at every size of screen: text does not grow
 * with it.
 */

/** Colours of text and ground, 0 to 255. */
export interface Theme {
  readonly name: string
  readonly ink: number
  readonly ground: number
}

/** From strong to faint; `faint` is #bbb on white. */
export const themes: readonly Theme[] = [
  { name: 'light', ink: 0x22, ground: 0xff }, { name: 'faint', ink: 0xbb, ground: 0xff },
  { name: 'dark', ink: 0xcc, ground: 0x1e }, { name: 'terminal', ink: 0x90, ground: 0x0c },
]

/** Letters of a word, 0 to 25 each. */
type Word = readonly number[]

/** What is on the screen. */
export interface Screen {
  readonly width: number
  readonly height: number
  readonly theme: Theme
  readonly lines: readonly (readonly Word[])[]
  /** Pixels that the content is moved up. */
  readonly scrolled: number
}

/** Whole numbers below a bound, repeatable. */
export const dice = (seed: number): ((below: number) => number) => {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Stems, rises above, falls below, bars at top, middle and foot: 26 different letters. */
const letters = Array.from({ length: 26 }, (_, i) => ({
  stems: [2, 2, 1, 2, 3, 2, 1][i % 7]!, rises: i % 5 === 1, falls: i % 6 === 4,
  bars: [i % 2 === 0, i % 3 === 0, i % 4 < 2],
}))

const stemGap = 4
const lineHeight = 20
const [bodyTop, bodyFoot, letterHeight] = [3, 9, 13]

const letterWidth = (letter: number): number => (letters[letter]!.stems - 1) * stemGap + 4

type Dot = (x: number, y: number) => void

const drawLetter = (dot: Dot, letter: number, x: number, y: number): void => {
  const { stems, rises, falls, bars } = letters[letter]!
  for (let stem = 0; stem < stems; stem += 1) {
    const top = stem === 0 && rises ? 0 : bodyTop
    const foot = stem === stems - 1 && falls ? letterHeight : bodyFoot + 1
    for (let row = top; row < foot; row += 1) dot(x + stem * stemGap, y + row)
  }
  for (const [index, row] of [bodyTop, 6, bodyFoot].entries()) {
    if (bars[index] !== true) continue
    for (let i = 1; i < Math.max(3, (stems - 1) * stemGap); i += 1) dot(x + i, y + row)
  }
}

const margin = 40

/** The picture: three bytes a pixel. */
export const paint = ({ width, height, theme, lines, scrolled }: Screen): Buffer => {
  const pixels = Buffer.alloc(width * height * 3, theme.ground)
  const dot: Dot = (x, y) => {
    if (x >= width || y < 30 || y >= height) return
    const at = (y * width + x) * 3
    pixels[at] = theme.ink
    pixels[at + 1] = theme.ink
    pixels[at + 2] = theme.ink
  }
  pixels.fill((theme.ground + theme.ink) >> 1, 0, width * 3 * 30)
  for (const [index, line] of lines.entries()) {
    const y = 40 + index * lineHeight - scrolled
    let x = margin
    for (const word of line) {
      for (const letter of word) {
        drawLetter(dot, letter, x, y)
        x += letterWidth(letter)
      }
      x += 6
    }
  }
  return pixels
}

const newWord = (roll: (below: number) => number): Word =>
  Array.from({ length: 4 + roll(6) }, () => roll(26))

const newLine = (roll: (below: number) => number, width: number): Word[] =>
  Array.from({ length: Math.max(4, Math.floor((width / 70) * (0.3 + roll(40) / 100))) },
    () => newWord(roll))

/** A screen full of text. */
export const newScreen = (width: number, height: number, theme: Theme, seed: number): Screen => {
  const roll = dice(seed)
  const lines = Array.from({ length: Math.floor((height - 60) / lineHeight) }, () =>
    newLine(roll, width))
  return { width, height, theme, lines, scrolled: 0 }
}

const withLines = (screen: Screen, at: number, put: readonly (readonly Word[])[]): Screen => ({
  ...screen, lines: screen.lines.map((line, i) => put[i - at] ?? line),
})

const other = (roll: (below: number) => number, word: Word): Word => {
  const next = word.map(() => roll(26))
  return next.join() === word.join() ? other(roll, word) : next
}

/** Edits that a user would call a change. */
export const edits = {
  word: (screen: Screen, seed: number): Screen => {
    const roll = dice(seed)
    const at = roll(screen.lines.length)
    const line = screen.lines[at]!
    const which = roll(line.length)
    const put = line.map((word, i) => (i === which ? other(roll, word) : word))
    return withLines(screen, at, [put])
  },
  line: (screen: Screen, seed: number): Screen => {
    const roll = dice(seed)
    return withLines(screen, roll(screen.lines.length), [newLine(roll, screen.width)])
  },
  message: (screen: Screen, seed: number): Screen => {
    const roll = dice(seed)
    const put = Array.from({ length: 3 }, () => newLine(roll, screen.width))
    return withLines(screen, roll(screen.lines.length - 3), put)
  },
  scroll: (screen: Screen): Screen => ({ ...screen, scrolled: 24 }),
} as const

/** The same picture with every sample up to two levels off. */
export const withNoise = (pixels: Buffer, seed: number): Buffer => {
  const roll = dice(seed)
  const offsets = Uint8Array.from({ length: 65_521 }, () => roll(5))
  const noisy = Buffer.allocUnsafe(pixels.length)
  for (let i = 0, j = 0; i < pixels.length; i += 1, j = j === 65_520 ? 0 : j + 1) {
    const value = pixels[i]! + offsets[j]! - 2
    noisy[i] = value < 0 ? 0 : value > 255 ? 255 : value
  }
  return noisy
}
