/**
 * What a day of one picture each 10 seconds costs: windows that are switched between, a caret that
 * blinks, typing, a dialog that comes back, a video, scrolling, and nobody there. The same pictures
 * are scanned and analysed in the sandbox eight times: with a clock that counts and one that is
 * ignored, with repeats asked about or not, and with regions that go on changing told of once in
 * so many seconds. Every number is counted; a picture that changed and
 * took another one's description is found by the pixels that were drawn.
 */
import sharp from 'sharp'
import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas'
import { forImages } from '../../world/gateway.js'
import { allowed } from '../../world/images.js'
import type { Loose, Teardown } from '../../world/place.js'
import { World } from '../../world/world.js'
import { dice } from '../images/edit-suite.js'
import { fonts } from '../images/real-text.js'
import { must } from '../must.js'
import { after } from '../observations.js'
import { sent } from '../shots.js'

/** What somebody does at the screen; each has its share of the pictures of a day. */
const doings = {
  flips: 15, caret: 16, typing: 12, dialog: 6, video: 19, scroll: 5, idle: 27,
} as const
/** One of these. */
export type Doing = keyof typeof doings

const [width, height] = [960, 540]
const frameMs = 10_000
const clock = { x: width - 64, y: 4, width: 60, height: 18 }

/** One picture: who looks at it knows what was done, and its pixels. */
interface Frame {
  readonly doing: Doing
  readonly desk: Desk
  readonly rgba: Buffer
  readonly png: Buffer
}

/** What one way of spending came to. */
export interface DaySpent {
  readonly taken: number
  readonly calls: number
  /** Calls that `shots estimate` told before any was made, by the way of spending. */
  readonly told: Readonly<Record<string, number>>
  /** Calls by what was done. */
  readonly byDoing: Readonly<Record<Doing, number>>
  /** Pictures that took a description of one that looks different outside of what is ignored. */
  readonly lost: number
  /** Pictures that are held for a later one, and those of them that tell of another window. */
  readonly held: number
  readonly heldWrong: number
}

/** A day, spent in each way. */
export interface SimulatedDay {
  readonly seed: number
  readonly pictures: number
  readonly spent: Readonly<Record<string, DaySpent>>
}

const words = ['ledger', 'anchor', 'window', 'harbour', 'reader', 'budget', 'receipt', 'border']

interface Desk {
  readonly window: number
  readonly typed: number
  readonly scrolled: number
  readonly caret: boolean
  readonly dialog: boolean
  readonly video: number | null
}

const drawText = (ctx: SKRSContext2D, { window, typed, scrolled }: Desk): void => {
  ctx.font = `14px "${fonts[window % fonts.length]}"`
  ctx.fillStyle = window % 2 === 0 ? '#333333' : '#d4d4d4'
  for (let line = 0; line < 18; line += 1) {
    const of = line + scrolled
    const text = Array.from({ length: 7 }, (_, i) => words[(of * 5 + i * (window + 2)) % 8])
    ctx.fillText(`${of + 1} ${text.join(' ')} ${window}`, 40, 70 + line * 24)
  }
  // Nobody types the same again and again: a text that repeats would make pictures that do.
  const next = dice(window + 99)
  const own = Array.from({ length: typed }, () => words[next(8)]).join(' ')
  ctx.fillText(own.slice(-90), 40, 516)
}

const draw = async (desk: Desk, minute: number, next: (below: number) => number): Promise<
  Pick<Frame, 'rgba' | 'png'>
> => {
  const ctx = createCanvas(width, height).getContext('2d')
  ctx.fillStyle = desk.window % 2 === 0 ? '#ffffff' : '#1e1e1e'
  ctx.fillRect(0, 0, width, height)
  ctx.fillStyle = '#202428'
  ctx.fillRect(0, 0, width, 24)
  ctx.fillStyle = '#dddddd'
  ctx.font = `14px "${fonts[0]}"`
  ctx.fillText(new Date(minute * 60_000).toISOString().slice(11, 16), clock.x + 4, 17)
  drawText(ctx, desk)
  if (desk.caret) ctx.fillRect(36, 504, 2, 16)
  if (desk.video !== null) {
    for (let i = 0; i < 40; i += 1) {
      ctx.fillStyle = `rgb(${next(256)},${next(256)},${next(256)})`
      ctx.fillRect(560 + next(300), 100 + next(200), 60, 40)
    }
  }
  if (desk.dialog) {
    ctx.fillStyle = '#f0f0f0'
    ctx.fillRect(300, 180, 360, 140)
    ctx.fillStyle = '#111111'
    ctx.fillText('Save the changes before closing?', 340, 240)
  }
  const { data } = ctx.getImageData(0, 0, width, height)
  const rgba = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const png = await sharp(rgba, { raw: { width, height, channels: 4 } })
    .removeAlpha().png({ compressionLevel: 2 }).toBuffer()
  return { rgba, png }
}

/** How the desk goes on while one thing is done. */
const steps: Readonly<Record<Doing, (
  desk: Desk, frame: number, next: (below: number) => number,
) => Desk>> = {
  flips: (desk, _, next) =>
    (next(2) === 0 ? desk : { ...desk, window: (desk.window + 1 + next(2)) % 4 }),
  caret: (desk, _, next) => ({ ...desk, caret: next(2) === 0 }),
  typing: (desk, _, next) => ({ ...desk, typed: desk.typed + 1 + next(3), caret: next(2) === 0 }),
  dialog: (desk, _, next) => ({ ...desk, dialog: next(2) === 0 }),
  video: (desk, frame) => ({ ...desk, video: frame }),
  scroll: (desk, _, next) => ({ ...desk, scrolled: desk.scrolled + 1 + next(6) }),
  idle: (desk) => desk,
}

/** Spells of what is done, in the order of the seed, until there are so many pictures. */
const spellsOf = (pictures: number, next: (below: number) => number): Doing[] => {
  const all: Doing[][] = Object.entries(doings).flatMap(([doing, share]) => {
    const frames = Math.round((pictures * share) / 100)
    const spells = Math.max(1, Math.round(frames / 20))
    return Array.from({ length: spells }, () =>
      Array.from({ length: Math.ceil(frames / spells) }, () => doing as Doing))
  })
  const order: Doing[] = []
  while (all.length > 0) order.push(...all.splice(next(all.length), 1)[0] ?? [])
  return order.slice(0, pictures)
}

const framesOf = async (pictures: number, seed: number): Promise<readonly Frame[]> => {
  const next = dice(seed)
  const frames: Frame[] = []
  let desk: Desk = {
    window: 0, typed: 0, scrolled: 0, caret: false, dialog: false, video: null,
  }
  for (const [i, doing] of spellsOf(pictures, next).entries()) {
    desk = steps[doing]({ ...desk, video: null, dialog: false }, i, next)
    const minute = 540 + Math.floor((i * frameMs) / 60_000)
    frames.push({ doing, desk, ...await draw(desk, minute, next) })
  }
  return frames
}

/** Whether two pictures differ in a channel by more than noise does, outside of the clock. */
const differ = (a: Buffer, b: Buffer, ignoring: boolean): boolean => {
  for (let i = 0; i < a.length; i += 1) {
    if (Math.abs(a[i]! - b[i]!) <= 2) continue
    const [x, y] = [(i >> 2) % width, Math.floor((i >> 2) / width)]
    const isClock = x >= clock.x && x < clock.x + clock.width
      && y >= clock.y && y < clock.y + clock.height
    if (!ignoring || !isClock) return true
  }
  return false
}

const zero = (): Record<Doing, number> =>
  ({ flips: 0, caret: 0, typing: 0, dialog: 0, video: 0, scroll: 0, idle: 0 })

/** Whether a later picture tells of the same window, dialog and video as one before it. */
const standsFor = ({ desk: later }: Frame, { desk }: Frame): boolean =>
  later.window === desk.window && later.dialog === desk.dialog
  && (later.video === null) === (desk.video === null)

/** What a way is called. */
const nameOf = ({ reuse, settle }: Omit<Way, 'ignoring'>): string =>
  `reuse ${reuse}${settle === null ? '' : `, settle ${settle}`}`

/** One way of spending a day. */
interface Way {
  readonly ignoring: boolean
  readonly reuse: 'on' | 'off'
  readonly settle: number | null
}

const toldCalls = ({ choices }: Loose): Record<string, number> => Object.fromEntries(
  choices.map(({ reuse, settle_seconds: settle, calls }: Loose) =>
    [nameOf({ reuse, settle }), calls]))

const spend = async (
  t: Teardown, frames: readonly Frame[], { ignoring, reuse, settle }: Way,
): Promise<DaySpent> => {
  const world = await World.in(t).sandbox().state().session()
    .gateway({ ...forImages, ceilingMicrousd: 1_000_000_000 }).images(allowed).proof('screenshot')
  const area = `${width}x${height}:${clock.x},${clock.y},${clock.width},${clock.height}`
  must(await world.run(['shots', 'config', 'set', '--budget-microusd', '1000000000',
    '--budget-requests', '100000', '--reuse', reuse,
    ...(settle === null ? [] : ['--settle-seconds', String(settle)]),
    ...(ignoring ? ['--ignore', area] : [])]))
  for (const [i, { png }] of frames.entries()) {
    world.file(`${String(i).padStart(5, '0')}.png`, png, after(i * frameMs))
  }
  must(await world.run(['shots', 'scan', '--limit', '10000', '--json']))
  const told = must(await world.run(
    ['shots', 'estimate', '--day', after(0).slice(0, 10), '--time-zone', 'UTC', '--json'])).json()
  for (let left = frames.length; left > 0; left -= 1_000) {
    must(await world.run(['shots', 'analyze', '--limit', '1000', '--json']))
  }
  const rows = world.rows()
  const numberOf = new Map(rows.map((row) =>
    [row.observation_id, Number.parseInt(row.paths[0]?.name.text ?? '', 10)]))
  const frameOf = (id: string): Frame => frames[numberOf.get(id) ?? -1]!
  const byDoing = zero()
  let [lost, held, heldWrong] = [0, 0, 0]
  for (const { observation_id: id, payload, stood_for_by: by } of rows) {
    const of = payload?.payload_of
    if (by !== undefined) {
      held += 1
      if (!standsFor(frameOf(by), frameOf(id))) heldWrong += 1
    } else if (of === undefined) byDoing[frameOf(id).doing] += 1
    else if (differ(frameOf(id).rgba, frameOf(of.observation_id).rgba, ignoring)) lost += 1
  }
  return {
    taken: rows.length, calls: sent(world), told: toldCalls(told), byDoing, lost, held, heldWrong,
  }
}

const ways = [
  { reuse: 'off', settle: null }, { reuse: 'on', settle: null },
  { reuse: 'on', settle: 30 }, { reuse: 'on', settle: 60 },
] as const

/** One day of so many pictures, in each way of spending. */
export const simulatedDay = async (
  t: Teardown, pictures: number, seed: number,
): Promise<SimulatedDay> => {
  const frames = await framesOf(pictures, seed)
  const spent: Record<string, DaySpent> = {}
  for (const [clocked, ignoring] of [['clock', false], ['clock ignored', true]] as const) {
    for (const way of ways) {
      spent[`${clocked}, ${nameOf(way)}`] = await spend(t, frames, { ignoring, ...way })
    }
  }
  return { seed, pictures, spent }
}

/** What `npm run soak` counts, and how many where none are given. */
export const [unit, usual] = ['pictures', 600] as const

/** Seeds of the long run. */
const seeds = [1, 2, 3, 4, 5] as const

/** The long run: five days. */
export const run = async (pictures: number): Promise<void> => {
  for (const seed of seeds) {
    const undo: (() => unknown)[] = []
    try {
      const day = await simulatedDay({ teardown: (fn) => void undo.push(fn) }, pictures, seed)
      for (const [how, one] of Object.entries(day.spent)) {
        const { taken, calls, told, byDoing, lost, ...held } = one
        process.stdout.write(`seed ${seed}, ${how}: ${pictures} pictures, ${taken} taken in, `
          + `${calls} calls (told ${told[how.slice(how.indexOf('reuse'))]}) `
          + `${JSON.stringify(byDoing)}, lost ${lost}, `
          + `held ${held.held} (${held.heldWrong} wrong)\n`)
      }
    } finally {
      for (const one of undo.reverse()) await one()
    }
  }
}
