/** The shipped service as a process of its own, to be measured: asked, watched, stopped. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createPrivateKey } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request, type RequestOptions } from 'node:https'
import { join } from 'node:path'
import { systemClock } from '../src/base/clock.js'
import { makeCertificate, newServiceKey } from '../src/service/material.js'
import { codeOf } from '../test/support/edge/uploading.js'
import { until } from '../test/support/until.js'
import { program, type BenchPlace } from './place.js'

/** What `bench/watch-service.js` tells of the time since it was last asked. */
export interface Watched {
  readonly syncs: number
  readonly pauseMs: number
  readonly pause99Ms: number
}

/** Bytes and status of an answer. */
export interface Answer {
  readonly status: number
  readonly bytes: Buffer
}

/** Anything that listens on loopback. */
export interface Running {
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

/** A service. */
export interface Served extends Running {
  readonly certificate: string
  /** What happened in it since it was last asked; begins anew. */
  watched(): Promise<Watched>
}

/** Starts a program that prints one line of JSON once it listens. */
export const running = async (
  args: readonly string[], env: NodeJS.ProcessEnv = process.env,
): Promise<Running & { readonly told: Readonly<Record<string, unknown>> }> => {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const told = await firstDocument(child)
  return {
    told, port: Number(told['port']), pid: child.pid ?? 0,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

const firstDocument = (child: ChildProcess): Promise<Record<string, unknown>> =>
  new Promise((resolve, reject) => {
    let printed = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      if (printed.endsWith('}\n')) resolve(JSON.parse(printed) as Record<string, unknown>)
    })
    child.once('error', reject)
    child.once('close', () => reject(new Error('it ended before it listened')))
  })

/** Starts `sallyport serve` at a place, watched. */
export const served = async (place: BenchPlace): Promise<Served> => {
  const file = join(place.dir, 'watched')
  const hook = join(process.cwd(), 'bench/watch-service.js')
  const { SALLYPORT_BENCH_PROFILE: profile } = process.env
  const all = await running([
    ...profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
    '--import', hook, program, 'serve', '--json',
  ], {
    ...place.env, SALLYPORT_BENCH_WATCH: file,
  })
  const certificate = readFileSync(String(all.told['certificate_file']), 'utf8')
  return {
    ...all, certificate,
    watched: async () => {
      rmSync(file, { force: true })
      process.kill(all.pid, 'SIGUSR2')
      let text = ''
      await until('the service to tell', () => {
        text = readOr(file)
        return text !== ''
      })
      return JSON.parse(text) as Watched
    },
  }
}

const readOr = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** One request over TLS, or by `send` over something else. */
export const asked = (
  options: RequestOptions, body: Buffer | null = null, send = request,
): Promise<Answer> => new Promise((resolve, reject) => {
  const sent = send({ host: '127.0.0.1', ...options }, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('error', reject)
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, bytes: Buffer.concat(chunks) }))
  })
  sent.on('error', reject)
  sent.end(body ?? undefined)
})

/** A certificate as the service makes it, for a bare server over the same TLS. */
export const bareIdentity = async (place: BenchPlace): Promise<{
  readonly certificate: string
  /** File from which a bare server reads its key and this certificate. */
  readonly file: string
}> => {
  const der = await newServiceKey()
  const certificate = await makeCertificate(der, systemClock.wallMs())
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const file = join(place.dir, 'bare-identity.json')
  const text = JSON.stringify({ key: key.export({ type: 'pkcs8', format: 'pem' }), certificate })
  writeFileSync(file, text, { mode: 0o600 })
  return { certificate, file }
}

/** One connection that is kept. */
export const keptConnection = (certificate: string): Agent =>
  new Agent({ keepAlive: true, maxSockets: 1, ca: [certificate] })

let pairings = 0

/** Pairs a device as a person does; gives its credential. */
export const paired = async (place: BenchPlace, at: Served): Promise<string> => {
  pairings += 1
  const file = join(place.dir, `pairing-${pairings}`)
  place.run('edge', 'pair', '--file', file)
  const body = Buffer.from(JSON.stringify({
    code: codeOf(readFileSync(file, 'utf8').trim()), device_name: `bench ${pairings}`,
  }))
  const { status, bytes } = await asked({
    port: at.port, method: 'POST', path: '/api/edge/pairings', ca: [at.certificate], headers: {
      'Content-Type': 'application/json', 'Content-Length': String(body.length),
    },
  }, body)
  if (status !== 201) throw new Error(bytes.toString())
  return (JSON.parse(bytes.toString()) as { readonly credential: string }).credential
}

const line = (pid: number, name: string): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024
}

/** Memory of a process that is resident now, MiB. */
export const residentMib = (pid: number): number => line(pid, 'VmRSS')

/** Forgets the peak: it is counted anew from what is resident now. */
export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5')

/** The most that was resident since the process began, or since `forgetPeak`, MiB. */
export const peakMib = (pid: number): number => line(pid, 'VmHWM')

/** Processor time of a process, all threads, in the program and the system, milliseconds. */
export const processorMs = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  // In ticks of a hundredth of a second, whatever the kernel's own tick is.
  return (Number(fields[11]) + Number(fields[12])) * 10
}
