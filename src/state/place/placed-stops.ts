/**
 * Stops of a shared state: the folder of this machine first, which needs nothing and is in force
 * here at once, then the place, which is in force for everybody. Where the place does not answer,
 * the file is carried there by whoever comes next.
 */
import * as v from 'valibot'
import { newId } from '../../base/ids.js'
import { stopShape, type LyingStop, type Stop, type StopBoard } from '../stop-board.js'
import { noteClosing } from './closings.js'
import type { Place, StopRow } from './place.js'
import type { RecordSeal } from './record-seal.js'

/** One that does not open may be anybody's: it stops everything until somebody has looked. */
const unreadable = (id: string): LyingStop => ({
  id, name: id, kind: 'unreadable', target: null, at: '1970-01-01T00:00:00.000Z',
  by: { principal: null, root: null, verb: 'unreadable' },
})

const isStopId = (id: string | null): id is string => v.is(stopShape.entries.id, id)

/** A stop that this process has put at the place, and since when it lies there. */
export interface PutStop {
  readonly id: string
  readonly moment: string | undefined
}

/** The board of a shared state, as one process uses it. */
export class PlacedStops implements StopBoard {
  readonly #local: StopBoard
  readonly #seal: RecordSeal
  readonly #place: () => Place
  #heard: readonly LyingStop[] = []
  /** Stops that this process has put here, in order. */
  readonly #put: Stop[] = []
  /** Ids of those that are in force on this machine alone, as far as this process knows. */
  readonly #unreached = new Set<string>()
  /** Since when they lie at the place, as it said when they first came there; by their ids. */
  readonly #moments = new Map<string, string>()

  constructor(local: StopBoard, seal: RecordSeal, place: () => Place) {
    this.#local = local
    this.#seal = seal
    this.#place = place
  }

  /** How many stops this process has put. */
  get putCount(): number {
    return this.#put.length
  }

  /**
   * The first stop that was put behind that many; undefined where there is none, or where one of
   * them does not lie at the place, although it was tried once more.
   */
  async putAfter(count: number): Promise<PutStop | undefined> {
    const since = this.#put.slice(count)
    for (const stop of since) if (this.#unreached.has(stop.id)) await this.#tryCarry(stop)
    const [first] = since
    if (first === undefined || since.some(({ id }) => this.#unreached.has(id))) return undefined
    return { id: first.id, moment: this.#moments.get(first.id) }
  }

  async put(stop: Stop): Promise<void> {
    await this.#local.put(stop)
    this.#put.push(stop)
    await this.#tryCarry(stop)
  }

  async #tryCarry(stop: Stop): Promise<void> {
    this.#unreached.add(stop.id)
    try {
      await this.#carry(stop)
    } catch {
      // It is in force here. Nothing of it is taken back because others could not be told.
    }
  }

  #rowOf({ id, kind, target, by, at }: Stop): StopRow {
    return { id, body: this.#seal.sealFor('stop', id, { id, kind, target, by, at }) }
  }

  async #carry(stop: Stop): Promise<void> {
    const { id, body } = this.#rowOf(stop)
    this.#moments.set(id, await this.#place().putStop(id, body))
    this.#unreached.delete(id)
  }

  /** What lies here, as the place keeps it. */
  rowsHere(): readonly StopRow[] {
    return this.#ownLying().map((stop) => this.#rowOf(stop))
  }

  #ownLying(): readonly LyingStop[] {
    return this.#local.lying().filter(({ name }) => isStopId(name))
  }

  /** Brings what lies here to the place: it was put while nobody could be reached. */
  async carryAll(): Promise<void> {
    for (const stop of this.#ownLying()) await this.#carry(stop)
  }

  /** Remembers what lies at the place, as of one look. */
  heard(rows: readonly StopRow[]): void {
    this.#heard = rows.map(({ id, body }) => {
      const parsed = v.safeParse(stopShape, this.#seal.openFor('stop', id, body))
      return parsed.success && parsed.output.id === id
        ? { ...parsed.output, name: id } : unreadable(id)
    })
  }

  /** Has what lay at the place when it ended lie here, where nobody has recorded it yet. */
  async takeOver(rows: readonly StopRow[]): Promise<void> {
    const known = new Set(this.#local.lying().map(({ id }) => id))
    this.heard(rows)
    for (const { id, kind, target, by, at } of this.#heard) {
      if (known.has(id)) continue
      // The place made the name of one that does not open: no file is called so.
      await this.#local.put({ id: isStopId(id) ? id : newId('stp'), kind, target, by, at })
    }
  }

  lying(): readonly LyingStop[] {
    const here = this.#local.lying()
    const known = new Set(here.map(({ id }) => id))
    return [...here, ...this.#heard.filter(({ id }) => !known.has(id))]
  }

  drop(stop: Pick<LyingStop, 'name'>): void {
    this.#local.drop(stop)
    if (!isStopId(stop.name)) return
    // What is dropped was recorded, or was never meant: nobody has to be told of it any more.
    this.#unreached.delete(stop.name)
    this.#heard = this.#heard.filter(({ name }) => name !== stop.name)
    noteClosing(this.#place().dropStop(stop.name))
  }

  sweep(nowMs: number): void {
    this.#local.sweep(nowMs)
  }

  isInReach(): boolean {
    return this.#local.isInReach() && this.#unreached.size === 0
  }
}
