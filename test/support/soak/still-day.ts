/**
 * What a desktop costs that stands still but for its clock: one picture a minute, scanned and
 * analysed in the sandbox, first as it comes and then with the area ignored that the first scan
 * told. Every number is counted, none is reckoned.
 */
import sharp from 'sharp'
import { createCanvas } from '@napi-rs/canvas'
import type { Teardown } from '../../world/place.js'
import { World, type AnalysisWorld } from '../../world/world.js'
import { forImages } from '../../world/gateway.js'
import { allowed } from '../../world/images.js'
import { fonts } from '../images/real-text.js'
import { must } from '../must.js'
import { after } from '../observations.js'
import { sent } from '../shots.js'

/** One way to spend these minutes. */
export interface Spent {
  readonly pictures: number
  /** Images that were taken in, and those that were held back by their reason. */
  readonly ingested: number
  readonly heldBack: Readonly<Record<string, number>>
  /** Requests that the provider saw. */
  readonly analysed: number
}

/** What became of the same minutes. */
export interface StillDay {
  readonly asItComes: Spent
  /** The area that the scan told, as `--ignore` takes it. */
  readonly area: string | null
  readonly ignored: Spent
}

const [width, height] = [960, 540]
const minuteMs = 60_000
const ofAnalysis = 100

const clockText = (minute: number): string => {
  const [hours, minutes] = [9 + Math.floor(minute / 60), minute % 60]
  return [hours, minutes].map((part) => String(part).padStart(2, '0')).join(':')
}

/** A window with text, and a bar above it with the time. */
const desktop = (minute: number): Promise<Buffer> => {
  const ctx = createCanvas(width, height).getContext('2d')
  ctx.fillStyle = '#ffffff'
  ctx.fillRect(0, 0, width, height)
  ctx.fillStyle = '#1e1e1e'
  ctx.fillRect(0, 0, width, 24)
  ctx.font = `14px "${fonts[0]}"`
  ctx.fillStyle = '#dddddd'
  ctx.fillText(clockText(minute), width - 52, 17)
  ctx.fillStyle = '#333333'
  for (let line = 0; line < 20; line += 1) {
    ctx.fillText(`Line ${line + 1} of a page that nobody reads or scrolls.`, 40, 70 + line * 22)
  }
  const { data } = ctx.getImageData(0, 0, width, height)
  return sharp(Buffer.from(data.buffer, data.byteOffset, data.byteLength), {
    raw: { width, height, channels: 4 },
  }).removeAlpha().png({ compressionLevel: 3 }).toBuffer()
}

const analyseAll = async (world: AnalysisWorld, images: number): Promise<number> => {
  await must(world.prove('screenshot'))
  for (let left = images; left > 0; left -= ofAnalysis) {
    must(await world.run(['shots', 'analyze', '--limit', String(ofAnalysis), '--json']))
  }
  return sent(world)
}

const spend = async (
  t: Teardown, minutes: number, area: string | null,
): Promise<{ readonly spent: Spent; readonly area: string | null }> => {
  const world = await World.in(t).sandbox().state().session()
    .gateway({ ...forImages, ceilingMicrousd: 1_000_000_000 }).images(allowed)
  must(await world.run(['shots', 'config', 'set', '--budget-microusd', '1000000000',
    '--budget-requests', '100000', ...(area === null ? [] : ['--ignore', area])]))
  for (let minute = 0; minute < minutes; minute += 1) {
    const name = `${String(minute).padStart(4, '0')}.png`
    world.file(name, await desktop(minute), after(minute * minuteMs))
  }
  const receipt = must(await world.run(['shots', 'scan', '--limit', '10000', '--json'])).json()
  const analysed = await analyseAll(world, receipt.ingested)
  return {
    spent: { pictures: receipt.scanned, ingested: receipt.ingested, heldBack: receipt.reasons,
      analysed },
    area: receipt.small_changes?.area ?? null,
  }
}

/** Spends so many minutes twice: as they come, and with the told area ignored. */
export const stillDay = async (t: Teardown, minutes: number): Promise<StillDay> => {
  const first = await spend(t, minutes, null)
  const second = await spend(t, minutes, first.area)
  return { asItComes: first.spent, area: first.area, ignored: second.spent }
}

/** What `npm run soak` counts, and how many where none are given: eight hours. */
export const [unit, usual] = ['minutes', 480] as const

const lineOf = (name: string, { pictures, ingested, heldBack, analysed }: Spent): string =>
  `${name}: ${pictures} pictures, ${ingested} taken in, ${analysed} analysed, held back `
  + `${JSON.stringify(heldBack)}\n`

/** The long run. */
export const run = async (minutes: number): Promise<void> => {
  const undo: (() => unknown)[] = []
  try {
    const day = await stillDay({ teardown: (fn) => void undo.push(fn) }, minutes)
    process.stdout.write(`the scan told ${day.area}\n${lineOf('as it comes', day.asItComes)}`
      + lineOf('ignored', day.ignored))
  } finally {
    for (const one of undo.reverse()) await one()
  }
}
