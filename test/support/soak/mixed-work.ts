/** What goes on at once under a mixed load: each loop notes what was answered and what was not. */
import { createHash, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { alphaCapability } from '../../../src/alpha/constants.js'
import type { Images } from '../../world/images.js'
import type { Ran } from '../../world/place.js'
import type { TextRoute } from '../../world/alpha.js'
import type { Working } from '../codehost/working.js'
import { capture, codeOf } from '../edge/uploading.js'
import { must } from '../must.js'
import { image } from '../png.js'
import { headOf, offeredAt, sendOver } from '../service/devices.js'
import type { Got } from '../service/serving.js'
import { Away, type MixedService } from './mixed-service.js'

/** The world of a mixed load. */
export type MixedWorld = Working & TextRoute & Omit<Images, 'folder'> & {
  /** The folder of images. */
  readonly pictures: string
}

/** What was answered, and what was asked for without an answer; names as `reckon` has them. */
export class Told {
  readonly told: string[] = []
  readonly maybe: string[] = []
}

/** What is done. */
export interface MixedNotes {
  /** `device request sequence sha256` of each upload; by artifact id, what its bytes are. */
  readonly uploads: Told
  readonly bodies: Map<string, Buffer>
  /** Keys of asks that have their answer. */
  readonly asks: Told
  /** Keys of asks without an answer: the service was ended in the middle of them. */
  readonly unknown: string[]
  /** Questions, of which each was sent once at most. */
  readonly questions: string[]
  readonly goals: Told
  readonly images: Told
  /** Jobs that ended in success. */
  readonly publications: Told
  reads: number
  scans: number
  away: number
  /** Whatever else came back, as texts. */
  readonly surprises: string[]
}

/** Nothing yet. */
export const noNotes = (): MixedNotes => ({
  uploads: new Told(), bodies: new Map(), asks: new Told(), unknown: [], questions: [],
  goals: new Told(), images: new Told(), publications: new Told(), reads: 0, scans: 0, away: 0,
  surprises: [],
})

/** What every loop works with. */
export interface Load {
  readonly world: MixedWorld
  readonly service: MixedService
  readonly notes: MixedNotes
  readonly isOver: () => boolean
}

const [uploadEveryMs, readEveryMs, otherEveryMs] = [250, 50, 1_500]

/** Asks until it is answered, over as many lives of the service as that takes. */
const insist = async (
  { notes }: Load, ask: () => Promise<Got>, again: (got: Got) => boolean = () => false,
): Promise<Got> => {
  for (;;) {
    try {
      const got = await ask()
      if (!again(got)) return got
      await sleep(readEveryMs)
    } catch (error) {
      if (!(error instanceof Away)) throw error
      notes.away += 1
    }
  }
}

const codeIn = (got: Got): string =>
  (got.status < 400 ? '' : String(got.json().error.code))

const surprise = ({ notes }: Load, what: string, got: Got): void =>
  void notes.surprises.push(`${what}: ${got.status} ${codeIn(got)}`)

/** Bytes like no others, mostly small. */
const bodyOf = (device: number, n: number): Buffer => {
  const bytes = n % 20 === 0 ? 3_000_000 : 2_000 + ((n * 7_919) % 400_000)
  const body = capture(bytes, n % 251)
  body.writeUInt32BE(n, 16)
  body.writeUInt32BE(device, 20)
  return body
}

/** A device that uploads, each capture until it is answered. */
export const uploading = async (load: Load, device: number): Promise<void> => {
  const { world, service, notes } = load
  const code = codeOf(await offeredAt(world, service.told))
  const paired = await insist(load, () => service.ask('POST', '/api/edge/pairings', {
    token: null, body: { code, device_name: `camera ${device}` },
  }))
  if (paired.status !== 201) return surprise(load, 'pairing', paired)
  const { credential, device_id: id } = paired.json()
  for (let n = 1; !load.isOver(); n += 1) {
    const body = bodyOf(device, n)
    const head = headOf(body, n)
    const name = `${String(id)} ${head.request_id} ${n} ${head.sha256}`
    // One that was cut off may hold its guard for a moment.
    const got = await insist(load, () => sendOver(service, credential, body, head),
      (one) => codeIn(one) === 'upload_under_way')
    if (got.status > 201) surprise(load, 'upload', got)
    else {
      notes.uploads.told.push(name)
      notes.bodies.set(String(got.json().artifact_id), body)
    }
    await sleep(uploadEveryMs)
  }
}

/** Reads of an operator, and of what was just uploaded. */
export const reading = async (load: Load): Promise<void> => {
  const { service, notes } = load
  const paths = ['/api/session', '/api/status', '/api/work-board/tasks', '/api/edge/devices']
  for (let n = 0; !load.isOver(); n += 1) {
    const got = await insist(load, () => service.ask('GET', paths[n % paths.length] ?? ''))
    if (got.status === 200) notes.reads += 1
    else surprise(load, 'read', got)
    const [id, body] = [...notes.bodies].at(-1) ?? []
    if (id !== undefined && n % 10 === 0) {
      const bytes = await insist(load, () => service.ask('GET', `/api/edge/artifacts/${id}/bytes`))
      if (body === undefined || !bytes.bytes.equals(body)) surprise(load, 'readback', bytes)
    }
    await sleep(readEveryMs)
  }
}

/** Questions to the service, each with one key until it has ended. */
export const asking = async (load: Load): Promise<void> => {
  const { service, notes } = load
  while (!load.isOver()) {
    const [key, question] = [randomUUID(), `MARK-QUESTION ${randomUUID()}`]
    notes.questions.push(question)
    const input = await insist(load, () => service.ask('POST', '/api/work-board/inputs', {
      body: { schema: 'svc.alpha.text.input.v1', question, max_output_tokens: 100 },
    }))
    if (input.status !== 201) surprise(load, 'input', input)
    else {
      const body = {
        kind: alphaCapability, input_artifact_id: input.json().input_artifact_id,
        idempotency_key: key,
      }
      const got = await insist(load, () => service.ask('POST', '/api/work-board/tasks', {
        headers: { Prefer: 'wait=20' }, body,
      }), (one) => one.status === 202 || codeIn(one) === busyCode)
      noteAsk(load, key, got.status === 200, codeIn(got), got)
    }
    await sleep(otherEveryMs)
  }
}

/**
 * Endings of an ask whose service was ended: before contact it is none, after a kill nobody knows.
 * One that was stopped keeps what it has paid for.
 */
const endedBy = new Set(['ask_failed', 'ask_blocked', 'ask_cancelled cancelled_before_contact'])
const endOf = (code: string, got: Got): string =>
  (code === 'ask_cancelled' ? `${code} ${String(got.json().error.reason)}` : code)
/** One owner has one operation at a time: the other asker's. Nothing was done. */
const busyCode = 'operation_outstanding'

const noteAsk = (load: Load, key: string, isAnswered: boolean, code: string, got: Got): void => {
  const { notes } = load
  if (isAnswered) notes.asks.told.push(key)
  else {
    notes.asks.maybe.push(key)
    if (endedBy.has(endOf(code, got))) notes.unknown.push(key)
    else surprise(load, 'ask', got)
  }
}

const failed = ({ notes }: Load, what: string, { status, stderr }: Ran): void =>
  void notes.surprises.push(`${what} ended with ${status}: ${stderr.slice(0, 200)}`)

const quiet = { coverage: false } as const

/** The same line until nothing else of the owner is under way. */
const whileBusy = async (line: () => Promise<Ran>): Promise<Ran> => {
  for (;;) {
    const ran = await line()
    if (ran.status === 0 || ran.error().code !== busyCode) return ran
    await sleep(readEveryMs)
  }
}

/** Lines of a terminal beside it: asks, goals, lists. */
export const typing = async (load: Load): Promise<void> => {
  const { world: { place }, notes } = load
  for (let n = 1; !load.isOver(); n += 1) {
    const goal = `Goal ${n}`
    const added = await place.spawn(['goal', 'add', goal, '--json'], quiet)
    if (added.status === 0) notes.goals.told.push(goal)
    else failed(load, 'goal add', added)
    const [key, question] = [randomUUID(), `MARK-QUESTION ${randomUUID()}`]
    notes.questions.push(question)
    const ran = await whileBusy(() => place.spawn(
      ['alpha', 'ask', '-', '--json', '--idempotency-key', key], { ...quiet, stdin: question }))
    if (ran.status === 0) notes.asks.told.push(key)
    else failed(load, 'alpha ask', ran)
    const listed = await place.spawn(['task', 'list', '--json'], quiet)
    if (listed.status !== 0) failed(load, 'task list', listed)
    await sleep(otherEveryMs)
  }
}

/** As many pictures as look like no other one. */
const imagesMax = 250

/** Scans by the service and by a terminal in turn, each with a picture more. */
export const scanning = async (load: Load): Promise<void> => {
  const { world: { place, pictures }, service, notes } = load
  for (let n = 0; !load.isOver(); n += 1) {
    if (n < imagesMax) {
      const name = `Screenshot ${n}.png`
      writeFileSync(join(pictures, name), image(n))
      notes.images.told.push(name)
    }
    if (n % 2 === 0) {
      const path = '/api/observer/screenshot-folder/scan'
      const got = await insist(load, () => service.ask('POST', path),
        // One that the end of the service cut off is asked for again.
        (one) => ['scan_running', 'scan_cancelled'].includes(codeIn(one)))
      if (got.status !== 200) surprise(load, 'scan', got)
    } else {
      const ran = await place.spawn(['shots', 'scan', '--json'], quiet)
      if (ran.status !== 0) failed(load, 'shots scan', ran)
    }
    notes.scans += 1
    await sleep(otherEveryMs)
  }
}

/** Publications by processes of their own. */
export const publishing = async (load: Load): Promise<void> => {
  const { world, notes } = load
  const { place } = world
  for (let n = 1; !load.isOver(); n += 1) {
    must(await world.consentToPublish())
    const source = world.folder({
      'README.md': `# Notes of round ${n}\n`, 'src/one.ts': `export const one = ${n}\n`,
      'binary': Buffer.from([0, n % 256, n >> 8, 255]),
    }, `source-${n}`)
    const line = async (...words: string[]): Promise<Ran> =>
      place.spawn(['codehost', ...words, '--json'], quiet)
    const prepared = await line('prepare', 'publication', '--connection', world.id,
      '--source', source, '--base', 'main', '--branch', `topic/${n}`,
      '--title', `Publication ${n}`, '--author', 'Ann <ann@example.org>')
    if (prepared.status !== 0) failed(load, 'prepare', prepared)
    else {
      const job = String(prepared.json().id)
      const { digest } = must(await line('preview', job)).json()
      const approved = await line('approve', job, '--preview-digest', String(digest))
      const ran = approved.status === 0 ? await line('run', job) : approved
      if (ran.status === 0) notes.publications.told.push(job)
      else failed(load, 'publication', ran)
    }
    await sleep(otherEveryMs)
  }
}

/** SHA-256 in hex. */
export const sha256 = (bytes: Buffer): string =>
  createHash('sha256').update(bytes).digest('hex')
