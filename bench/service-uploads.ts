/**
 * Uploads of 1 MiB to the service by paired devices, one and eight at once, beside a bare server
 * over the same TLS that hashes the same bytes, writes them to a file and syncs it; and what eight
 * uploads of 20 MB at once add to the memory of the service. `npm run bench -- service-uploads`.
 */
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { Agent as PlainAgent, request as plainRequest } from 'node:http'
import { request, type Agent } from 'node:https'
import { join } from 'node:path'
import { capture } from '../test/support/edge/uploading.js'
import { headOf, headText } from '../test/support/service/devices.js'
import { median } from './pairs.js'
import { withPlace, type BenchPlace } from './place.js'
import {
  asked, bareIdentity, forgetPeak, keptConnection, paired, peakMib, processorMs,
  residentMib, running, served,
  type Served,
} from './served.js'
import type { BenchRow } from './types.js'

const [small, large] = [1024 * 1024, 20_000_000]
const devices = 8
const uploadsARound = 32
const rounds = Number(process.env['SALLYPORT_BENCH_ROUNDS'] ?? 5)
const rateMin = 0.6
const growthMibMax = 64
/** What one upload to the service syncs once its folders are there, counted. */
const sameSyncs = 5

/** Sends one body. */
type Send = () => Promise<void>

interface Device {
  readonly agent: Agent
  readonly credential: string
  sequence: number
}

/** One connection to a bare server. */
interface Bare {
  readonly port: number
  readonly scheme: 'https' | 'http'
  readonly agent: Agent | PlainAgent
}

/** A bare server, with a TLS and a plain connection for each of eight. */
interface BareServer {
  readonly pid: number
  readonly ends: readonly (readonly [Bare, Bare])[]
}

const requireCreated = ({ status, bytes }: { status: number, bytes: Buffer }): void => {
  if (status !== 201) throw new Error(`${status}: ${bytes.toString().slice(0, 500)}`)
}

/** A device that sends a capture to the service. */
const toService = ({ port }: Served, device: Device, body: Buffer): Send => {
  const sha256 = createHash('sha256').update(body).digest('hex')
  // Whoever sends hashes once, too: it is nothing that a server does.
  const declared = headOf(Buffer.alloc(0), 0, { sha256, bytes: body.length })
  return async () => {
    device.sequence += 1
    const head = {
      ...declared, request_id: crypto.randomUUID(), sequence: device.sequence,
    }
    requireCreated(await asked({
      port, agent: device.agent, method: 'POST', path: '/api/edge/artifacts', headers: {
        'Authorization': `Bearer ${device.credential}`, 'Content-Type': 'image/png',
        'Content-Length': String(body.length), 'Sallyport-Edge-Upload': headText(head),
      },
    }, body))
  }
}

/** The same bytes to a bare server, with so many syncs. */
const toBare = (
  { port, agent, scheme }: Bare, body: Buffer, syncs: number,
): Send => async () => {
  const options = {
    port, agent, method: 'POST', path: `/${syncs}`, headers: {
      'Content-Type': 'image/png', 'Content-Length': String(body.length),
    },
  }
  requireCreated(await asked(options, body, scheme === 'http' ? plainRequest : request))
}

/** So many bodies by each of the senders at once; bodies a second. */
const rateOf = async (senders: readonly Send[]): Promise<number> => {
  const each = uploadsARound / senders.length
  const start = performance.now()
  await Promise.all(senders.map(async (send) => {
    for (let n = 0; n < each; n += 1) await send()
  }))
  return (uploadsARound * 1000) / (performance.now() - start)
}

/** A way to send that is compared. */
interface Way {
  readonly name: string
  readonly pid: number
  readonly senders: readonly Send[]
  readonly rates: number[]
  /** Processor time of whoever is sent to, milliseconds an upload. */
  readonly used: number[]
}

/** Everybody in turns; the first round counts for nobody. */
const measured = async (ways: readonly Way[]): Promise<void> => {
  for (let round = -1; round < rounds; round += 1) {
    for (const { rates, used, senders, pid } of ways) {
      const before = processorMs(pid)
      const rate = await rateOf(senders)
      if (round < 0) continue
      rates.push(rate)
      used.push((processorMs(pid) - before) / uploadsARound)
    }
  }
}

const shown = ({ name, rates, used }: Way): string =>
  `${median(rates).toFixed(1)} a second (${median(used).toFixed(2)} ms of the processor), ${name}`

const rowsOf = (
  [ours, bare, same, plain]: readonly Way[], count: number, syncs: number,
): BenchRow[] => {
  const over = (theirs: Way): number => median(ours!.rates) / median(theirs.rates)
  const ratio = over(bare!)
  const what = `service: uploads of 1 MiB, ${count} at once`
  const printed = { target: 'printed', pass: true }
  return [{
    name: `${what}, over a bare https server`, ratio, target: `at least ${rateMin}`,
    pass: ratio >= rateMin,
    detail: `${shown(ours!)}, ${syncs.toFixed(1)} syncs each; ${shown(bare!)}, one sync each`,
  }, {
    name: `${what}, the same in processor time`,
    ratio: median(bare!.used) / median(ours!.used), ...printed,
    detail: `${median(bare!.used).toFixed(2)} over ${median(ours!.used).toFixed(2)} ms each`,
  }, {
    name: `${what}, over one with ${sameSyncs} syncs`, ratio: over(same!), ...printed,
    detail: shown(same!),
  }, {
    name: `${what}, over plain node:http`, ratio: over(plain!), ...printed, detail: shown(plain!),
  }]
}

const ratesAt = async (
  service: Served, all: readonly Device[], { pid, ends }: BareServer, count: number,
): Promise<BenchRow[]> => {
  const body = capture(small)
  const [tls, plain] = [0, 1].map((at) => ends.slice(0, count).map((pair) => pair[at] as Bare))
  const to = (all: readonly Bare[], syncs: number): readonly Send[] =>
    all.map((one) => toBare(one, body, syncs))
  const ways: Way[] = [
    { name: 'the service', pid: service.pid,
      senders: all.slice(0, count).map((one) => toService(service, one, body)) },
    { name: 'bare https', pid, senders: to(tls!, 1) },
    { name: `bare https with ${sameSyncs} syncs`, pid, senders: to(tls!, sameSyncs) },
    { name: 'bare http', pid, senders: to(plain!, 1) },
  ].map((way) => ({ ...way, rates: [], used: [] }))
  await service.watched()
  await measured(ways)
  const { syncs } = await service.watched()
  return rowsOf(ways, count, syncs / (uploadsARound * (rounds + 1)))
}

/** What eight large uploads at once add to the memory of the service. */
const growth = async (service: Served, all: readonly Device[]): Promise<BenchRow> => {
  const body = capture(large)
  const before = residentMib(service.pid)
  forgetPeak(service.pid)
  await Promise.all(all.map((device) => toService(service, device, body)()))
  const grown = peakMib(service.pid) - before
  return {
    name: `service: ${devices} uploads of 20 MB at once, MiB that its memory grows`, ratio: grown,
    target: `under ${growthMibMax}`, pass: grown < growthMibMax,
    detail: `from ${before.toFixed(0)} MiB resident to ${peakMib(service.pid).toFixed(0)} at most`,
  }
}

const measure = async (place: BenchPlace, service: Served): Promise<BenchRow[]> => {
  const folder = join(place.dir, 'bare')
  mkdirSync(folder)
  const { certificate, file } = await bareIdentity(place)
  const bare = await running([join(process.cwd(), 'bench/bare-uploads.js'), folder, file])
  try {
    const all: Device[] = []
    for (let n = 0; n < devices; n += 1) {
      all.push({
        agent: keptConnection(service.certificate), sequence: 0,
        credential: await paired(place, service),
      })
    }
    const ends = all.map((): readonly [Bare, Bare] => [
      { port: bare.port, scheme: 'https', agent: keptConnection(certificate) },
      { port: Number(bare.told['plain']), scheme: 'http',
        agent: new PlainAgent({ keepAlive: true, maxSockets: 1 }) },
    ])
    return [
      ...await ratesAt(service, all, { pid: bare.pid, ends }, 1),
      ...await ratesAt(service, all, { pid: bare.pid, ends }, devices),
      await growth(service, all),
    ]
  } finally {
    await bare.stop()
  }
}

/** The rows. */
export const run = (): Promise<BenchRow[]> => withPlace(async (place) => {
  place.run('init')
  place.run('login')
  const service = await served(place)
  try {
    return await measure(place, service)
  } finally {
    await service.stop()
  }
})
