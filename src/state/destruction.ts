/**
 * What stands in the place of STATE once a state is being destroyed. One rename puts it there: from
 * then on nothing opens the directory, nothing makes or restores a state over it, and whatever the
 * removal leaves when it is cut off tells what it is. It goes last.
 */
import * as v from 'valibot'
import { decodeChecked, encodeChecked } from '../base/canonical.js'
import { fail, type SallyportError } from '../base/errors.js'
import { readWhole, type Files } from './files.js'
import { fileBytesMax } from './limits.js'
import { placesOf } from './paths.js'

const shape = v.strictObject({
  schema: v.literal('sallyport.destruction.v1'),
  store_id: v.string(),
  /** When it was begun. */
  begun_at: v.string(),
})
/** Of which state the rest lies there. */
export type Destruction = v.InferOutput<typeof shape>

/** Bytes of the note, in the form of STATE. */
export const encodeDestruction = (facts: Omit<Destruction, 'schema'>): Buffer =>
  encodeChecked({ schema: 'sallyport.destruction.v1', ...facts })

/** The note; undefined for any other bytes. */
export const decodeDestruction = (bytes: Buffer): Destruction | undefined => {
  const parsed = v.safeParse(shape, decodeChecked(bytes))
  return parsed.success ? parsed.output : undefined
}

/** The destruction that was begun of the state at `dir`; undefined where none was. */
export const destructionAt = (files: Files, dir: string): Destruction | undefined => {
  const bytes = readWhole(files, placesOf(dir).state, fileBytesMax.state)
  return bytes === undefined ? undefined : decodeDestruction(bytes)
}

/** Throws `no_state` `state_destroyed` where these bytes say that a destruction was begun. */
export const refuseDestroyed = (bytes: Buffer | undefined): void => {
  if (bytes !== undefined && decodeDestruction(bytes) !== undefined) throw destroyed()
}

const destroyed = (): SallyportError =>
  fail.noState('state_destroyed', 'The destruction of this state was begun, and parts are left.', {
    next: 'Run `sallyport state destroy`: it goes on where it was cut off.',
  })
