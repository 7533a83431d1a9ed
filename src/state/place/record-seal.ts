/**
 * What a place gets to see: bodies sealed by the key of the store, each bound to what it is, and
 * links that name a history without telling it. A record's body is bound to store, sequence and
 * the chain before it, so that none can be put in the place of another.
 */
import { timingSafeEqual } from 'node:crypto'
import { replicaForked, type TakenRecord } from '../commit.js'
import { openWith, sealWith, type KeyRing } from '../keys.js'
import { encodeRecord, type LogBinding } from '../log/format.js'
import type { PlacedRecord } from './place.js'

const recordMagic = 'SPR1'

/** How far a log goes. */
export interface LogEnd {
  readonly sequence: number
  readonly chain: string
}

/** Seals and opens what goes to a place and comes from it. */
export class RecordSeal {
  readonly #keys: KeyRing
  readonly #storeId: string

  constructor(keys: KeyRing, storeId: string) {
    this.#keys = keys
    this.#storeId = storeId
  }

  link(chain: string): Buffer {
    return Buffer.from(this.#keys.hmac('shared/link', chain), 'hex')
  }

  #context(sequence: number, before: string): string {
    return `${this.#storeId}|${sequence}|${before}`
  }

  /** A record as the place gets it; `before` is the chain value in front of it. */
  seal({ sequence, chain, payload }: TakenRecord, before: string): PlacedRecord {
    const body = sealWith(
      this.#keys.subkey('shared/record'), recordMagic, this.#context(sequence, before),
      Buffer.from(payload))
    return { sequence, link: this.link(chain), body }
  }

  /**
   * Opens records that follow one another behind `end`. `damaged` `replica_forked` where one does
   * not open, leaves a number out or does not lead to its link.
   */
  open(records: readonly PlacedRecord[], end: LogEnd, binding: LogBinding): TakenRecord[] {
    const opened: TakenRecord[] = []
    let { sequence, chain } = end
    for (const record of records) {
      const bytes = record.sequence === sequence + 1
        ? openWith(this.#keys.subkey('shared/record'), recordMagic,
          this.#context(record.sequence, chain), record.body) : undefined
      if (bytes === undefined) throw replicaForked()
      const payload = bytes.toString('utf8')
      sequence = record.sequence
      chain = encodeRecord(binding, sequence, chain, payload).chain
      if (!sameBytes(this.link(chain), record.link)) throw replicaForked()
      opened.push({ sequence, chain, payload })
    }
    return opened
  }

  /** Seals something small that is no record; `what` and `id` are bound to it. */
  sealFor(what: 'stop' | 'fence' | 'base', id: string, content: unknown): Buffer {
    return sealWith(this.#keys.subkey(`shared/${what}`), recordMagic, `${this.#storeId}|${id}`,
      Buffer.from(JSON.stringify(content)))
  }

  /** Opens it; undefined where it is not what was sealed. */
  openFor(what: 'stop' | 'fence' | 'base', id: string, body: Buffer): unknown {
    const bytes = openWith(
      this.#keys.subkey(`shared/${what}`), recordMagic, `${this.#storeId}|${id}`, body)
    return bytes === undefined ? undefined : JSON.parse(bytes.toString('utf8')) as unknown
  }
}

const sameBytes = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b)
