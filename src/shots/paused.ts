/** Whether the slots that jobs use are left alone for now, because the gateway refused them. */
import { pauseLeftBy, pauseOf, type Pause } from '../gateway/call/pause.js'
import type { View } from '../state/types.js'
import type { ShotsContext } from './context.js'

const pauseNow = (
  { gov }: Pick<ShotsContext, 'gov'>, view: View, slot: Pause['slot'],
): Pause | null => pauseOf(view, slot, gov.clock.wallMs())

/** That of images; null where they may be tried. */
export const visionPause = (ctx: Pick<ShotsContext, 'gov'>, view: View): Pause | null =>
  pauseNow(ctx, view, 'screenshot')

/** That of digests; null where they may be tried. */
export const textPause = (ctx: Pick<ShotsContext, 'gov'>, view: View): Pause | null =>
  pauseNow(ctx, view, 'report')

/**
 * That of a slot behind a call of a pass: what this call left, or what keeps the slot alone anyway;
 * null where the next call may go out.
 */
export const pauseBehind = (
  { gov }: Pick<ShotsContext, 'gov'>, slot: Pause['slot'], operationId: string | null,
): Pause | null => {
  const view = gov.store.read()
  return (operationId === null ? null : pauseLeftBy(view, slot, operationId))
    ?? pauseNow({ gov }, view, slot)
}

/** What a person may do about a pause; `slot` is the one that is left alone. */
export const pausedNext = (slot: Pause['slot']): string =>
  'It goes on by itself then. To ask at once, with one small paid request: '
  + `\`sallyport gateway prove ${slot}\`.`
