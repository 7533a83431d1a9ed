/** Looking into images through the pool, beside findimagedupes and a pipeline of sharp. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHash } from 'node:crypto'
import sharp from 'sharp'
import { createImagePool, type ImagePool } from '../src/images/pool.js'
import { newScreen, paint, themes } from '../test/support/images/edit-suite.js'
import { dupesPeer } from './peers.js'
import { ownCost } from './processor.js'
import type { BenchRow } from './types.js'

const sizes = [[1920, 1080], [2560, 1440]] as const
const distinct = 10
const files = 300
const threads = 2
const memoryImages = 1_000
const memoryMebibytesMax = 250

interface Kind {
  readonly name: string
  readonly overDupes: number
  /** Null: nothing was promised. */
  readonly overSharp: number | null
  encode(image: ReturnType<typeof sharp>): ReturnType<typeof sharp>
}

const kinds: readonly Kind[] = [
  { name: 'png', overDupes: 3, overSharp: 1.5, encode: (image) => image.png() },
  { name: 'jpeg', overDupes: 3, overSharp: 1, encode: (image) => image.jpeg({ quality: 85 }) },
  {
    name: 'progressive', overDupes: 8, overSharp: null,
    encode: (image) => image.jpeg({ quality: 85, progressive: true }),
  },
]

/** Files of one kind, both sizes in turns; each picture stands there several times. */
const makeFiles = async (dir: string, kind: Kind): Promise<string[]> => {
  mkdirSync(dir)
  const paths: string[] = []
  for (let i = 0; i < files; i += 1) {
    const path = join(dir, `${i}.${kind.name === 'png' ? 'png' : 'jpg'}`)
    const [width, height] = sizes[i % 2]!
    if (i < 2 * distinct) {
      const screen = newScreen(width, height, themes[i % themes.length]!, i)
      await kind.encode(sharp(paint(screen), { raw: { width, height, channels: 3 } })).toFile(path)
    } else copyFileSync(paths[i % (2 * distinct)]!, path)
    paths.push(path)
  }
  return paths
}

/** Runs `work` for each path, some at a time; gives images per second. */
const rate = async (
  paths: readonly string[], atOnce: number, work: (path: string) => Promise<unknown>,
): Promise<number> => {
  const waiting = paths.values()
  const start = performance.now()
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (const path of waiting) await work(path)
  }))
  return (paths.length * 1_000) / (performance.now() - start)
}

const ownRate = async (paths: readonly string[]): Promise<number> => {
  const pool = createImagePool({ workers: threads })
  try {
    return await rate(paths, 2 * threads, async (path) => {
      const { reason } = await pool.examine(readFileSync(path))
      if (reason !== null) throw new Error(`${path}: ${reason}`)
    })
  } finally {
    await pool.close()
  }
}

const sharpRate = async (paths: readonly string[]): Promise<number> =>
  rate(paths, threads, async (path) => {
    const bytes = readFileSync(path)
    createHash('sha256').update(bytes).digest('hex')
    await sharp(bytes).greyscale().resize(64, 64, { fit: 'fill' }).raw().toBuffer()
  })

/** Null where the program is not installed. */
const dupesRate = (dir: string, count: number): number | null => {
  const start = performance.now()
  const { error, status } = spawnSync('findimagedupes', ['-R', '--no-compare', dir])
  if (error !== undefined || status !== 0) return null
  return (count * 1_000) / (performance.now() - start)
}

const row = (name: string, own: number, their: number | null, least: number | null): BenchRow => {
  const ratio = their === null ? null : own / their
  return {
    name, ratio,
    target: least === null ? 'no target' : `at least ${least}`,
    pass: ratio === null || least === null || ratio >= least,
    ...(ratio === null ? { needs: dupesPeer } : {}),
    detail: `${own.toFixed(0)} images/s beside ${their?.toFixed(0) ?? '?'}; hash and fingerprint`,
  }
}

const measureKind = async (dir: string, kind: Kind): Promise<BenchRow[]> => {
  const folder = join(dir, kind.name)
  const paths = await makeFiles(folder, kind)
  const [warm] = [paths.slice(0, 20)]
  await sharpRate(warm)
  const [dupes, other, own] = [
    dupesRate(folder, files), await sharpRate(paths), await ownRate(paths)]
  return [
    row(`images: ${kind.name} over findimagedupes`, own, dupes, kind.overDupes),
    row(`images: ${kind.name} over sharp`, own, other, kind.overSharp),
  ]
}

/** Runs in a process of its own: looks into one folder's images of 2560x1440, prints its peak. */
const memoryProgram = `
  const [pool, folder, count] = process.argv.slice(1)
  const { createImagePool } = await import(pool)
  const { readFileSync } = await import('node:fs')
  const threads = createImagePool({ workers: ${threads} })
  let next = 0
  await Promise.all(Array.from({ length: ${2 * threads} }, async () => {
    while (next < Number(count)) {
      const at = (next++ * 2 + 1) % ${files}
      await threads.examine(readFileSync(folder + '/' + at + '.png'))
    }
  }))
  await threads.close()
  const [, peak] = /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  console.log(Number(peak) / 1024)`

const measureMemory = (dir: string): BenchRow => {
  const pool = new URL('../src/images/pool.js', import.meta.url).href
  const { stdout, stderr, status } = spawnSync(process.execPath, [
    '--input-type=module', '-e', memoryProgram, pool, join(dir, 'png'), String(memoryImages),
  ], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const peak = Number(stdout)
  return {
    name: `images: peak memory, ${memoryImages} of 2560x1440`,
    ratio: peak / memoryMebibytesMax, target: 'at most 1', pass: peak <= memoryMebibytesMax,
    detail: `${peak.toFixed(0)} MiB of ${memoryMebibytesMax} MiB`,
  }
}

const repeats = 40
const repeatMost = 2

/** Encodings of one screen: the first stands, the others are repeats of it. */
const repeatsOf = async (width: number, height: number, kind: string): Promise<Buffer[]> => {
  const image = sharp(paint(newScreen(width, height, themes[0]!, 5)), {
    raw: { width, height, channels: 3 },
  })
  return Promise.all([0, 1].map((n) => kind === 'png'
    ? image.clone().png({ compressionLevel: 4 + n }).toBuffer()
    : image.clone().jpeg({ quality: 85, progressive: n === 1 }).toBuffer()))
}

/** A repeat that is looked into and confirmed, beside one that is only looked into. */
const measureRepeat = async (
  pool: ImagePool, [width, height]: readonly [number, number], kind: string,
): Promise<BenchRow> => {
  const [first, again] = await repeatsOf(width, height, kind)
  const standing = { sha256: createHash('sha256').update(first!).digest('hex'), bytes: first! }
  const take = async (confirm: boolean): Promise<void> => {
    for (let i = 0; i < repeats; i += 1) {
      await pool.examine(again!)
      if (!confirm) continue
      const { verdict } = await pool.compare({ bytes: again!, standing })
      if (verdict !== 'same') throw new Error(`a repeat is ${verdict}`)
    }
  }
  await take(true)
  const [alone, confirmed] = [await ownCost(() => take(false)), await ownCost(() => take(true))]
  const ratio = confirmed.processorMs / alone.processorMs
  const most = kind === 'png' ? repeatMost : null
  return {
    name: `images: a confirmed ${kind} repeat, ${width}x${height}`, ratio,
    target: most === null ? 'no target' : `at most ${most}`, pass: most === null || ratio <= most,
    detail: `processor time, ${(confirmed.processorMs / repeats).toFixed(1)} ms beside`
      + ` ${(alone.processorMs / repeats).toFixed(1)} ms of one that its cells refuse`,
  }
}

/** For `npm run bench`, and alone. */
export const measureRepeats = async (): Promise<BenchRow[]> => {
  const pool = createImagePool({ workers: 1 })
  try {
    const rows: BenchRow[] = []
    for (const kind of ['png', 'jpeg']) {
      for (const size of [...sizes, [3840, 2160] as const]) {
        rows.push(await measureRepeat(pool, size, kind))
      }
    }
    return rows
  } finally {
    await pool.close()
  }
}

/** Each kind against both, then memory, then repeats. */
export const run = async (): Promise<BenchRow[]> => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-images-'))
  try {
    const rows: BenchRow[] = []
    for (const kind of kinds) rows.push(...await measureKind(dir, kind))
    return [...rows, measureMemory(dir), ...await measureRepeats()]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
