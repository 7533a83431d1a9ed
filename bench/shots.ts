/**
 * The screenshot source as a whole: `shots scan` with its durable rows beside the programs that
 * only look at pictures, its memory, a tick that finds nothing new, and the status, at 100,000
 * images.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import sharp from 'sharp'
import { walkImageFolder } from '../src/shots/scan/walk.js'
import { newScreen, paint, themes } from '../test/support/images/edit-suite.js'
import { compare, median, type Program } from './pairs.js'
import { dupesPeer } from './peers.js'
import { withPlace, type BenchPlace } from './place.js'
import { costOf, ownCost, wholeCost, type Cost } from './processor.js'
import { seedingGov, seedKnown } from './seed.js'
import type { BenchRow } from './types.js'

const sizes = [[1920, 1080], [2560, 1440]] as const
const distinct = 10
const setFiles = 300
const intakeRounds = 5
const memoryFiles = 1_000
const memoryMebibytesMax = 250
const knownFiles = 100_000
const tickMebibytesMax = 150
const pairs = 9

interface Kind {
  readonly name: string
  readonly overDupes: number
  readonly overSharp: number | null
  encode(image: ReturnType<typeof sharp>): ReturnType<typeof sharp>
}

const kinds: readonly Kind[] = [
  { name: 'png', overDupes: 3, overSharp: 1.5, encode: (image) => image.png() },
  { name: 'jpeg', overDupes: 3, overSharp: 1.2, encode: (image) => image.jpeg({ quality: 85 }) },
  {
    name: 'progressive', overDupes: 8, overSharp: null,
    encode: (image) => image.jpeg({ quality: 85, progressive: true }),
  },
]

/** The same picture under other bytes: a comment where its format keeps one. */
const numbered = (bytes: Buffer, number: number): Buffer => {
  const text = Buffer.from(`Comment\0${number}`)
  if (bytes[0] === 0xff) {
    const head = Buffer.from([0xff, 0xfe, 0, text.length + 2])
    return Buffer.concat([bytes.subarray(0, 2), head, text, bytes.subarray(2)])
  }
  const body = Buffer.concat([Buffer.from('tEXt'), text])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(text.length)
  sum.writeUInt32BE(crc32(body))
  const end = bytes.length - 12
  return Buffer.concat([bytes.subarray(0, end), length, body, sum, bytes.subarray(end)])
}

const start = Date.UTC(2026, 10, 1)

/** Screenshots of the given sizes in turns, no two of the same bytes, no two alike in a row. */
const fill = async (
  folder: string, count: number, kind: Kind, used: readonly (readonly [number, number])[],
): Promise<void> => {
  mkdirSync(folder, { recursive: true })
  const pictures: Buffer[] = []
  for (let i = 0; i < distinct * used.length; i += 1) {
    const [width, height] = used[i % used.length]!
    const screen = newScreen(width, height, themes[i % themes.length]!, i)
    pictures.push(await kind.encode(
      sharp(paint(screen), { raw: { width, height, channels: 3 } })).toBuffer())
  }
  for (let i = 0; i < count; i += 1) {
    const path = join(folder, `${i}.${kind.name === 'png' ? 'png' : 'jpg'}`)
    writeFileSync(path, numbered(pictures[i % pictures.length]!, i))
    utimesSync(path, new Date(start + i * 1000), new Date(start + i * 1000))
  }
}

/** One whole process in a state of its own; all files must become observations. */
const scanCost = (place: BenchPlace, folder: string, state: string): Cost => {
  const stateDir = join(place.dir, state)
  const line = (...argv: readonly string[]): Program => {
    const { args, env } = place.line(argv)
    return { args, env: { ...env, SALLYPORT_STATE_DIR: stateDir } }
  }
  costOf(line('init'))
  const cost = costOf(line('shots', 'scan', '--folder', folder, '--limit', String(setFiles)))
  const { args, env = process.env } = line('shots', 'scan', '--folder', folder, '--json')
  const again = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', env })) as
    { readonly known: number }
  if (again.known !== setFiles) throw new Error(`${again.known} of ${setFiles} were taken in`)
  rmSync(stateDir, { recursive: true })
  return cost
}

const sharpCost = async (folder: string, names: readonly string[]): Promise<Cost> => {
  const waiting = names.values()
  return ownCost(async () => {
    await Promise.all([0, 1].map(async () => {
      for (const name of waiting) {
        const bytes = readFileSync(join(folder, name))
        createHash('sha256').update(bytes).digest('hex')
        await sharp(bytes).greyscale().resize(64, 64, { fit: 'fill' }).raw().toBuffer()
      }
    }))
  })
}

/** Wall time, milliseconds; null where the program is not installed. */
const dupesMs = (folder: string): number | null => {
  const from = performance.now()
  const { error, status } = spawnSync('findimagedupes', ['-R', '--no-compare', folder])
  return error !== undefined || status !== 0 ? null : performance.now() - from
}

const perSecond = (ms: number): string => ((setFiles * 1_000) / ms).toFixed(1)

const rateRow = (
  name: string, ownMs: number, theirMs: number | null, least: number | null, beside = '',
): BenchRow => {
  const ratio = theirMs === null ? null : theirMs / ownMs
  return {
    name, ratio, target: least === null ? 'no target' : `at least ${least}`,
    pass: ratio === null || least === null || ratio >= least,
    ...(ratio === null ? { needs: dupesPeer } : {}),
    detail: `${perSecond(ownMs)} images/s beside ${
      theirMs === null ? '?' : perSecond(theirMs)}; with its rows${beside}`,
  }
}

const intake = async (place: BenchPlace, kind: Kind): Promise<BenchRow[]> => {
  const folder = join(place.dir, kind.name)
  await fill(folder, setFiles, kind, sizes)
  const { names } = walkImageFolder(folder, false)
  await sharpCost(folder, names.slice(0, 20))
  const [ours, theirs]: [Cost[], Cost[]] = [[], []]
  for (let round = 0; round < intakeRounds; round += 1) {
    theirs.push(await sharpCost(folder, names))
    ours.push(scanCost(place, folder, `${kind.name}-${round}`))
  }
  const [own, other] = [ours, theirs].map((costs) => ({
    wallMs: median(costs.map(({ wallMs }) => wallMs)),
    processorMs: median(costs.map(({ processorMs }) => processorMs)),
  })) as [Cost, Cost]
  const processor = (other.processorMs / own.processorMs).toFixed(2)
  return [
    rateRow(
      `shots scan: ${kind.name} over findimagedupes`, own.wallMs, dupesMs(folder), kind.overDupes),
    rateRow(
      `shots scan: ${kind.name} over sharp`, own.wallMs, other.wallMs, kind.overSharp,
      `; in processor time ${processor}`),
  ]
}

const peakOf = (place: BenchPlace, argv: readonly string[]): number =>
  wholeCost(place, place.line(argv)).peakMib

const memoryRow = (name: string, peak: number, most: number): BenchRow => ({
  name, ratio: peak / most, target: 'at most 1', pass: peak <= most,
  detail: `${peak.toFixed(0)} MiB of ${most} MiB`,
})

const intakeMemory = async (place: BenchPlace): Promise<BenchRow> => {
  const folder = join(place.dir, 'memory')
  await fill(folder, memoryFiles, kinds[0]!, [[2560, 1440]])
  const argv = ['shots', 'scan', '--folder', folder, '--limit', String(memoryFiles)]
  return memoryRow(
    `shots scan: peak memory, ${memoryFiles} of 2560x1440`, peakOf(place, argv),
    memoryMebibytesMax)
}

/** Rows as if all files of the folder had been taken in; nothing is decoded for them. */
const knowAll = async (place: BenchPlace, folder: string): Promise<void> => {
  const { store } = seedingGov(place)
  await seedKnown(store, folder, new Date(start).toISOString())
  store.close()
}

const timedCommand = (
  command: string, args: readonly string[], env?: NodeJS.ProcessEnv,
): number => {
  const from = performance.now()
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env })
  if (status !== 0) throw new Error(`${command} ended with ${status}`)
  return performance.now() - from
}

const tick = (place: BenchPlace, folder: string): BenchRow[] => {
  const { args, env } = place.line(['shots', 'scan'])
  const find = (): number => timedCommand('find', [folder, '-printf', '%p %s %T@\\n'], process.env)
  const own = (): number => timedCommand(process.execPath, args, env)
  own()
  find()
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let pair = 0; pair < pairs; pair += 1) {
    theirs.push(find())
    ours.push(own())
  }
  const ratio = median(ours) / median(theirs)
  return [
    {
      name: `shots scan: nothing new among ${knownFiles}`, ratio, target: 'at most 1.8',
      pass: ratio <= 1.8,
      detail: `${median(ours).toFixed(0)} ms beside ${median(theirs).toFixed(0)} ms of find`,
    },
    memoryRow(
      `shots scan: peak memory, nothing new among ${knownFiles}`, peakOf(place, ['shots', 'scan']),
      tickMebibytesMax),
  ]
}

const large = async (place: BenchPlace): Promise<BenchRow[]> => {
  const folder = join(place.dir, 'large')
  mkdirSync(folder)
  for (let i = 0; i < knownFiles; i += 1) {
    const path = join(folder, `Screenshot from 2026-11-20 ${String(i).padStart(6, '0')}.png`)
    writeFileSync(path, String(i))
    utimesSync(path, new Date(start + i * 30_000), new Date(start + i * 30_000))
  }
  await knowAll(place, folder)
  place.run('login')
  place.run('shots', 'config', 'set', '--folder', folder)
  place.run('shots', 'scan')
  const status = compare(place.line(['shots', 'status']), place.line(['--version']), pairs)
  return [
    ...tick(place, folder),
    {
      name: `shots status at ${knownFiles} observations`, ratio: status.ratio,
      target: 'at most 3.5', pass: status.ratio <= 3.5,
      detail: `${status.oursMs.toFixed(0)} ms beside ${status.theirsMs.toFixed(0)} ms of --version`,
    },
  ]
}

/** Intake of each kind, memory, then a folder of 100,000 known images. */
export const run = async (): Promise<BenchRow[]> =>
  withPlace(async (place) => {
    place.run('init')
    const rows: BenchRow[] = []
    for (const kind of kinds) rows.push(...await intake(place, kind))
    rows.push(await intakeMemory(place))
    rows.push(...await large(place))
    return rows
  })
