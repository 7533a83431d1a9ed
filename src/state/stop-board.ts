/**
 * Stops that wait to be recorded, as everything above the state uses them. Where they lie is the
 * store's own matter; what one covers is governance's.
 */
import * as v from 'valibot'

const text = v.pipe(v.string(), v.maxLength(256))

/** Closed shape of a stop's file. */
export const stopShape = v.strictObject({
  id: v.pipe(v.string(), v.regex(/^stp_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)),
  /** `all`, `principal`, `root`, `task`, one of a connection, device or save; others may come. */
  kind: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,63}$/)),
  /** Id of what is stopped; null for everything. */
  target: v.nullable(text),
  by: v.strictObject({ principal: v.nullable(text), root: v.nullable(text), verb: text }),
  /** When it was asked for. */
  at: v.pipe(v.string(), v.isoTimestamp()),
})
export type Stop = v.InferOutput<typeof stopShape>

/** A stop that lies on the board. */
export interface LyingStop extends Stop {
  /** What it lies under; null where the board itself cannot be read. */
  readonly name: string | null
}

/**
 * Where stops lie from the moment they are in force until they are recorded. It needs no lock, no
 * key and no sound store (C-238, S-146).
 */
export interface StopBoard {
  /** Makes a stop durable: in force once this has answered. Rejects with what the disk does. */
  put(stop: Stop): Promise<void>
  /**
   * Every stop that lies there, oldest first. To be asked before a view of the rows is taken: a
   * stop leaves only after the record that it became. Throws nothing: what cannot be read is one.
   */
  lying(): readonly LyingStop[]
  /** Takes away one that is spent. One that does not go is no harm: its id is recorded. */
  drop(stop: Pick<LyingStop, 'name'>): void
  /** Removes what processes left that died while they put a stop. */
  sweep(nowMs: number): void
  /** Whether those who use the store look here; elsewhere a stop is in force for nobody. */
  isInReach(): boolean
}
