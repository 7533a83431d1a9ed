/**
 * Reads of the service at 50 connections: `/healthz` beside a bare server of the same framework,
 * an authenticated read beside `/healthz`, the same while `shots scan` runs in another process, and
 * the longest pause of its event loop while it scans itself, at 100,000 known images.
 * `npm run bench -- service-reads`; SALLYPORT_SERVICE_IMAGES makes them fewer.
 */
import { execFile, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isoFromMs, systemClock } from '../src/base/clock.js'
import { loadToken, tokenPath } from '../src/governance/session/token.js'
import { image } from '../test/support/png.js'
import { makeImageFiles } from './image-files.js'
import { median } from './pairs.js'
import { program, withPlace, type BenchPlace } from './place.js'
import { seedingGov, seedKnown } from './seed.js'
import { asked, bareIdentity, running, served, type Running, type Served } from './served.js'
import type { BenchRow } from './types.js'

const images = Number(process.env['SALLYPORT_SERVICE_IMAGES'] ?? 100_000)
const rounds = Number(process.env['SALLYPORT_BENCH_ROUNDS'] ?? 3)
const [connections, seconds] = [50, 5]
const newImages = 20
const [healthzMin, readMin, tailMax, pauseMsMax] = [0.5, 0.15, 5, 50]
/** The read that is measured, and others that are told. */
const [read, ...others] = ['/api/session', '/api/status', '/api/work-board/tasks'] as const

const day = 24 * 3_600_000

/** What `bench/load.js` tells. */
interface Load {
  readonly rate: number
  readonly p50: number
  readonly p99: number
  readonly worst: number
  readonly refused: number
}

const node = promisify(execFile)

const loadOf = async (
  { dir }: BenchPlace, { port }: Running, path: string, token: string | null,
): Promise<Load> => {
  const file = join(dir, 'load.json')
  const url = `https://127.0.0.1:${port}${path}`
  writeFileSync(file, JSON.stringify({ url, token, connections, seconds }), { mode: 0o600 })
  const { stdout } = await node(process.execPath, [join(process.cwd(), 'bench/load.js'), file])
  return JSON.parse(stdout) as Load
}

let made = 0

/** Images that nobody knows yet. */
const addImages = (folder: string): void => {
  for (let n = 0; n < newImages; n += 1) {
    made += 1
    writeFileSync(join(folder, `New ${made}.png`), image(made % 256))
  }
}

/** Scans in another process, one after the other, while `work` goes on; gives how many ended. */
const whileScanning = async <T>(
  place: BenchPlace, folder: string, work: () => Promise<T>,
): Promise<readonly [T, number]> => {
  let [isOver, scans] = [false, 0]
  const scanning = (async () => {
    while (!isOver) {
      addImages(folder)
      const child = spawn(process.execPath, [program, 'shots', 'scan'], {
        env: place.env, stdio: 'ignore',
      })
      const status = await new Promise((resolve) => child.once('close', resolve))
      if (status !== 0) throw new Error(`a scan ended with ${String(status)}`)
      scans += 1
    }
  })()
  try {
    return [await work(), scans + 1]
  } finally {
    isOver = true
    await scanning
  }
}

const ratesOf = async (
  place: BenchPlace, service: Served, bare: Running, token: string,
): Promise<BenchRow[]> => {
  const ways = [
    { at: bare, path: '/healthz', token: null }, { at: service, path: '/healthz', token: null },
    ...[read, ...others].map((path) => ({ at: service, path, token })),
  ].map((way) => ({ ...way, rates: [] as number[], refused: 0 }))
  for (let round = 0; round < rounds; round += 1) {
    for (const way of ways) {
      const { rate, refused } = await loadOf(place, way.at, way.path, way.token)
      way.rates.push(rate)
      way.refused += refused
    }
  }
  const [bareRate = 0, healthz = 0, reads = 0, ...more] = ways.map(({ rates }) => median(rates))
  const refused = ways.reduce((sum, way) => sum + way.refused, 0)
  const row = (name: string, ratio: number, least: number | null, detail: string): BenchRow => ({
    name: `service: ${name}`, ratio, detail, pass: least === null || ratio >= least,
    target: least === null ? 'printed' : `at least ${least}`,
  })
  const a = (rate: number): string => `${rate.toFixed(0)} a second`
  return [
    row('/healthz over bare hono', healthz / bareRate, healthzMin, `${a(healthz)}, ${a(bareRate)}`),
    row(`${read} over /healthz`, reads / healthz, readMin, `${a(reads)}, ${refused} refused`),
    ...others.map((path, at) =>
      row(`${path} over /healthz`, (more[at] ?? 0) / healthz, null, a(more[at] ?? 0))),
  ]
}

const besideScans = async (
  place: BenchPlace, service: Served, token: string, folder: string,
): Promise<BenchRow[]> => {
  await service.watched()
  const [{ p50, p99, worst, rate, refused }, scans] = await whileScanning(place, folder, () =>
    loadOf(place, service, read, token))
  const { pauseMs } = await service.watched()
  return [{
    name: `service: ${read} beside scans, 99 of 100 over half`, ratio: p99 / p50,
    target: `below ${tailMax}, none refused`, pass: p99 < tailMax * p50 && refused === 0,
    detail: `${p50} and ${p99} ms (worst ${worst}), ${rate.toFixed(0)} a second, ${refused} `
      + `refused; ${scans} scans of ${images} known and ${newImages} new images each`,
  }, pauseRow('while others scan and 50 connections read', pauseMs)]
}

const pauseRow = (when: string, pauseMs: number, more = ''): BenchRow => ({
  name: `service: longest pause of its event loop, ms, ${when}`, ratio: pauseMs,
  target: `under ${pauseMsMax}`, pass: pauseMs < pauseMsMax,
  detail: `by monitorEventLoopDelay in the process, loaded before the program${more}`,
})

/** Scans by the service itself, while one connection asks it for nothing much. */
const ownScan = async (
  service: Served, token: string, folder: string,
): Promise<BenchRow> => {
  const ask = (method: string, path: string): ReturnType<typeof asked> => asked({
    port: service.port, method, path, ca: [service.certificate],
    headers: { Authorization: `Bearer ${token}` },
  })
  await service.watched()
  for (let round = 0; round < rounds; round += 1) {
    addImages(folder)
    const { status, bytes } = await ask('POST', '/api/observer/screenshot-folder/scan')
    if (status !== 200) throw new Error(bytes.toString().slice(0, 500))
  }
  const { pauseMs, pause99Ms } = await service.watched()
  return pauseRow('its own scans', pauseMs,
    `; ${rounds} scans, ${pause99Ms.toFixed(0)} ms at 99 of 100 looks`)
}

const seed = async (place: BenchPlace, folder: string): Promise<void> => {
  makeImageFiles(folder, images, day)
  const { store } = seedingGov(place)
  await seedKnown(store, folder, isoFromMs(systemClock.wallMs()))
  store.close()
}

const measure = async (place: BenchPlace, service: Served, folder: string): Promise<BenchRow[]> => {
  const { file } = await bareIdentity(place)
  const bare = await running([join(process.cwd(), 'bench/bare-hono.js'), file])
  const token = loadToken(tokenPath(place.stateDir)) ?? ''
  try {
    return [
      ...await ratesOf(place, service, bare, token),
      ...await besideScans(place, service, token, folder),
      await ownScan(service, token, folder),
    ]
  } finally {
    await bare.stop()
  }
}

/** The rows. */
export const run = (): Promise<BenchRow[]> => withPlace(async (place) => {
  const folder = join(place.dir, 'images')
  place.run('init')
  place.run('login')
  place.run('shots', 'config', 'set', '--folder', folder)
  await seed(place, folder)
  const service = await served(place)
  try {
    return await measure(place, service, folder)
  } finally {
    await service.stop()
  }
})
