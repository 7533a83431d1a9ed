/**
 * Numbers of uploads. One is given out durably before the first byte that carries it, together with
 * the request that it is for: after a crash the same request goes out under the same number, and no
 * other request ever gets it (S-028, S-040).
 */
import * as v from 'valibot'
import { SallyportError } from '../../base/errors.js'
import { closedObject, parseClosed, count, counted } from '../../base/schema.js'
import { parseStrictJson } from '../../base/strict-json.js'
import { orIoFailure, publish, readWhole, type Files } from '../../state/files.js'
import { requestIdShape } from './spool/item.js'

const shape = closedObject({
  schema: v.literal('sallyport.edge.sending.v1'),
  device_id: v.string(),
  last_sequence: count,
  under_way: v.nullable(closedObject({
    request_id: requestIdShape, sequence: counted,
    /** Written before the first byte to the service; left out: nothing of it ever left. */
    contacted: v.optional(v.literal(true)),
  })),
})
type State = v.InferOutput<typeof shape>

const bytesMax = 4_096

/** The numbers of one pairing; held by whoever holds the lock of the daemon. */
export class Numbers {
  readonly #files: Files
  readonly #path: string
  readonly #deviceId: string
  #state: State | null

  constructor(files: Files, path: string, deviceId: string) {
    this.#files = files
    this.#path = path
    this.#deviceId = deviceId
    const state = orIoFailure('the numbers', () => read(files, path))
    // What is of another pairing counts as lost.
    this.#state = state?.device_id === deviceId ? state : null
  }

  /** Whether the last number is known; where it is not, the service is asked. */
  get known(): boolean {
    return this.#state !== null
  }

  /**
   * Goes on behind what the service took last; never back. A request that may have come by a
   * pairing of before may be there for good, so it takes the first number of this one, as such.
   */
  raiseTo(lastSequence: number): void {
    const last = Math.max(this.#state?.last_sequence ?? 0, lastSequence)
    const mayBeThere = this.#state === null ? contactedRequest(this.#files, this.#path) : null
    if (mayBeThere === null) return this.#write({ last_sequence: last, under_way: null })
    const underWay = { request_id: mayBeThere, sequence: last + 1, contacted: true as const }
    this.#write({ last_sequence: last + 1, under_way: underWay })
  }

  /** The number for a request: the one it has, or the next one, durable. */
  numberFor(requestId: string): number {
    const state = this.#state
    if (state === null) throw new Error('no number is known yet')
    if (state.under_way?.request_id === requestId) return state.under_way.sequence
    const sequence = state.last_sequence + 1
    this.#write({ last_sequence: sequence, under_way: { request_id: requestId, sequence } })
    return sequence
  }

  /** Notes, durable, whether the request under way may be at the service; as it was before. */
  mark(contacted: boolean): boolean {
    const { last_sequence = 0, under_way = null } = this.#state ?? {}
    const before = under_way?.contacted === true
    if (under_way === null || before === contacted) return before
    const { request_id, sequence } = under_way
    const told = { request_id, sequence, ...(contacted ? { contacted: true as const } : {}) }
    this.#write({ last_sequence, under_way: told })
    return before
  }

  #write(part: Pick<State, 'last_sequence' | 'under_way'>): void {
    const state: State = { schema: 'sallyport.edge.sending.v1', device_id: this.#deviceId, ...part }
    orIoFailure('the numbers', () =>
      publish(this.#files, this.#path, Buffer.from(`${JSON.stringify(state)}\n`)))
    this.#state = state
  }
}

/**
 * The request of which the service may have all, though no answer said so; null for none. Called
 * by whoever lets captures go, without the lock of the daemon: the file is replaced whole.
 */
export const contactedRequest = (files: Files, path: string): string | null => {
  const underWay = read(files, path)?.under_way
  return underWay?.contacted === true ? underWay.request_id : null
}

/** What is not there or not readable counts as lost. */
const read = (files: Files, path: string): State | null => {
  try {
    const bytes = readWhole(files, path, bytesMax)
    if (bytes === undefined) return null
    const value = parseStrictJson(bytes, { bytesMax, depthMax: 3 })
    return parseClosed(shape, value, { code: 'lost', what: 'the numbers' })
  } catch (error) {
    if (error instanceof SallyportError) return null
    throw error
  }
}
