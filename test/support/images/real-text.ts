/**
 * Small screens of real type, drawn with free fonts, and one edit of each kind: what a person who
 * looked at the screen would call another picture.
 */
import { createRequire } from 'node:module'
import { createCanvas, GlobalFonts, type SKRSContext2D } from '@napi-rs/canvas'
import { dice } from './edit-suite.js'

const require = createRequire(import.meta.url)

/** The fonts there are: a sans, a monospaced and a serif one. */
export const fonts = ['Inter', 'JetBrains Mono', 'Source Serif 4'] as const

for (const name of fonts) {
  const file = name.toLowerCase().replaceAll(' ', '-')
  GlobalFonts.registerFromPath(
    require.resolve(`@fontsource/${file}/files/${file}-latin-400-normal.woff2`), name)
}

/** Sizes of type, CSS pixels, and how many pixels of the screen one of these is. */
export const sizes = [11, 14, 18] as const
export const scales = [1, 1.5, 2] as const

/** Colours of text and ground. */
export const looks = [
  ['#333333', '#ffffff'], ['#999999', '#ffffff'], ['#bbbbbb', '#ffffff'], ['#cccccc', '#ffffff'],
  ['#6a6a6a', '#1e1e1e'], ['#d4d4d4', '#0d1117'], ['#e6e6e6', '#ffffff'], ['#2e2e2e', '#1e1e1e'],
] as const

/** What is on a screen. */
export interface Scene {
  readonly font: string
  readonly size: number
  readonly scale: number
  readonly ink: string
  readonly ground: string
  readonly lines: readonly string[]
  /** Pixels of the screen by which one line lies lower. */
  readonly moved: { readonly line: number; readonly by: number } | null
  readonly badge: string
  readonly icon: number
  readonly mirrored: boolean
  readonly extra: 'separator' | 'underline' | 'caret' | null
  /** Colour of the first word of a line. */
  readonly accent: string
}

/** RGBA of a picture. */
export interface Drawn {
  readonly width: number
  readonly height: number
  readonly rgba: Buffer
}

const cssWidth = 300
const lineCount = 5
const rowOf = ({ size }: Scene, line: number): number => 8 + (line + 1) * Math.ceil(size * 1.5)

/** Two strokes and a dot; none is its own mirror image. */
const drawIcon = (ctx: SKRSContext2D, { icon, mirrored, ink }: Scene): void => {
  ctx.save()
  ctx.translate(284, 12)
  ctx.scale(mirrored ? -1 : 1, 1)
  ctx.strokeStyle = ink
  ctx.beginPath()
  if (icon === 0) [[-5, -4], [3, 0], [-5, 4]].forEach(([x, y]) => ctx.lineTo(x!, y!))
  else [[-5, 4], [-2, -4], [1, 2], [5, 0]].forEach(([x, y]) => ctx.lineTo(x!, y!))
  ctx.stroke()
  ctx.fillStyle = ink
  ctx.fillRect(4, -4, 2, 2)
  ctx.restore()
}

const drawExtra = (ctx: SKRSContext2D, scene: Scene): void => {
  const row = rowOf(scene, 2)
  if (scene.extra === 'separator') {
    ctx.fillStyle = scene.ground === '#ffffff' ? '#eeeeee' : '#2b2f36'
    ctx.fillRect(8, row + 4, cssWidth - 16, 1)
  }
  ctx.fillStyle = scene.ink
  if (scene.extra === 'underline') ctx.fillRect(8, row + 2, 40, 1)
  if (scene.extra === 'caret') ctx.fillRect(150, row - scene.size, 1, scene.size + 2)
}

/** Draws a screen. */
export const draw = (scene: Scene): Drawn => {
  const { scale, size, lines, moved } = scene
  const [width, height] = [
    Math.round(cssWidth * scale), Math.round((rowOf(scene, lineCount) + 8) * scale),
  ]
  const ctx = createCanvas(width, height).getContext('2d')
  ctx.scale(scale, scale)
  ctx.fillStyle = scene.ground
  ctx.fillRect(0, 0, cssWidth + 1, height)
  ctx.font = `${size}px "${scene.font}"`
  for (const [line, text] of lines.entries()) {
    const y = rowOf(scene, line) + (moved?.line === line ? moved.by / scale : 0)
    const [first = '', ...rest] = text.split(' ')
    ctx.fillStyle = line === 1 ? scene.accent : scene.ink
    ctx.fillText(first, 8, y)
    ctx.fillStyle = scene.ink
    ctx.fillText(rest.join(' '), 8 + ctx.measureText(`${first} `).width, y)
  }
  ctx.fillStyle = scene.badge
  ctx.fillRect(220, 4, 48, 14)
  drawIcon(ctx, scene)
  drawExtra(ctx, scene)
  const { data } = ctx.getImageData(0, 0, width, height)
  return { width, height, rgba: Buffer.from(data.buffer, data.byteOffset, data.byteLength) }
}

const words = ['build', 'merge', 'green', 'tests', 'queue', 'union', 'early', 'night', 'cards',
  'found', 'route', 'plain', 'usage', 'north', 'count', 'value'] as const
const nearWords = [['on', 'no'], ['net', 'not'], ['united', 'untied'], ['causal', 'casual'],
  ['form', 'from'], ['was', 'saw'], ['trail', 'trial']] as const

type Dice = ReturnType<typeof dice>

const wordOf = (next: Dice): string => words[next(words.length)]!
const numberOf = (next: Dice): string => String(1_000 + next(9_000))

/** A screen by its number: fonts, sizes, scales and looks take turns, text is made of the seed. */
export const sceneOf = (seed: number): Scene => {
  const next = dice(seed * 7_919 + 13)
  const [ink, ground] = looks[Math.floor(seed / 27) % looks.length]!
  const line = (): string =>
    `${wordOf(next)} ${nearWords[next(nearWords.length)]![0]} ${numberOf(next)}, ${wordOf(next)}.`
  return {
    font: fonts[seed % 3]!, size: sizes[Math.floor(seed / 3) % 3]!,
    scale: scales[Math.floor(seed / 9) % 3]!, ink, ground,
    lines: Array.from({ length: lineCount }, line),
    moved: null, badge: '#cf222e', icon: 0, mirrored: false, extra: null, accent: '#cf222e',
  }
}

type Edit = (scene: Scene, next: Dice) => Scene

const editLine = (scene: Scene, next: Dice, edit: (line: string) => string): Scene => {
  const at = next(scene.lines.length)
  return { ...scene, lines: scene.lines.map((line, i) => i === at ? edit(line) : line) }
}

/** Another one of these than the one that stands there. */
const other = <T>(next: Dice, all: readonly T[], than: T): T => {
  const rest = all.filter((one) => one !== than)
  return rest[next(rest.length)]!
}

const replaceAt = (text: string, at: number, by: string): string =>
  text.slice(0, at) + by + text.slice(at + 1)

const letters = [...'abcdefghijklmnopqrstuvwxyz']
const digits = [...'0123456789']

/** One edit of each kind. */
export const realEdits: Readonly<Record<string, Edit>> = {
  character: (scene, next) => editLine(scene, next, (line) => {
    const at = next(5)
    return replaceAt(line, at, other(next, letters, line[at]!))
  }),
  digit: (scene, next) => editLine(scene, next, (line) => {
    const at = line.search(/\d/) + next(4)
    return replaceAt(line, at, other(next, digits, line[at]!))
  }),
  'near word': (scene, next) => editLine(scene, next, (line) => {
    const [first, middle = '', ...rest] = line.split(' ')
    const [, near] = nearWords.find(([one]) => one === middle)!
    return [first, near, ...rest].join(' ')
  }),
  word: (scene, next) => editLine(scene, next, (line) =>
    other(next, words, line.slice(0, 5) as typeof words[number]) + line.slice(5)),
  number: (scene, next) => editLine(scene, next, (line) => line.replace(/\d{4}/, (old) =>
    String(1_000 + ((Number(old) - 1_000 + 1 + next(8_999)) % 9_000)))),
  'point and comma': (scene, next) => editLine(scene, next, (line) =>
    next(2) === 0 ? line.replace(',', '.') : line.replace('.', ',')),
  line: (scene, next) => editLine(scene, next, () =>
    `${wordOf(next)} at ${numberOf(next)} ${wordOf(next)}!`),
  'line moved by a pixel': (scene, next) => ({ ...scene, moved: { line: next(lineCount), by: 1 } }),
  'faint separator': (scene) => ({ ...scene, extra: 'separator' }),
  underline: (scene) => ({ ...scene, extra: 'underline' }),
  caret: (scene) => ({ ...scene, extra: 'caret' }),
  colour: (scene) => ({ ...scene, accent: '#1a7f37' }),
  badge: (scene) => ({ ...scene, badge: '#1a7f37' }),
  icon: (scene) => ({ ...scene, icon: 1 }),
  'mirrored icon': (scene) => ({ ...scene, mirrored: true }),
}
