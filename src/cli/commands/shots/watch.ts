/** `sallyport shots watch`: follows the image folder until it is told to stop. */
import * as v from 'valibot'
import { errorBody } from '../../../base/outcome.js'
import type { ScanReceipt } from '../../../shots/scan/types.js'
import type { VerbDeps } from '../../bound.js'
import { writeJsonLine } from '../../output.js'
import { terminalSafe } from '../../text.js'
import { defineVerb, type Run, type Verb, type VerbDefinition } from '../../verb.js'
import { withJobs } from './open.js'
import { scanCountsLine, scanReceiptShape } from './scan-receipt.js'

/** `shots watch` takes no flags of its own. */
export type WatchOptions = Record<string, never>

const errorShape = v.strictObject({
  code: v.string(), message: v.string(), reason: v.nullable(v.string()), status: v.number(),
  details: v.record(v.string(), v.unknown()),
})
const lineShape = v.strictObject({
  event: v.picklist(['watching', 'tick', 'trouble', 'stopped']),
  /** The folder; null at `trouble` and `stopped`. */
  root: v.nullable(v.string()),
  receipt: v.nullable(scanReceiptShape),
  error: v.nullable(errorShape),
})
/** One line of `shots watch`. */
export type WatchLine = v.InferOutput<typeof lineShape>

const line = (event: WatchLine['event'], rest: Partial<WatchLine> = {}): WatchLine =>
  ({ event, root: null, receipt: null, error: null, ...rest })

const definition: VerbDefinition<WatchLine> = {
  meta: {
    name: 'shots watch',
    summary: 'take in new screenshots as they appear',
    description:
      'Follows the configured folder and takes a finished file in within two seconds. Notices of '
      + 'the system only say when to look; the look itself is a scan, as `shots scan` makes one, '
      + 'and a slow one comes in any case. The folder may be removed, made again and renamed '
      + 'meanwhile. One line for each tick that changed something. It stays in the foreground '
      + 'until Ctrl-C or SIGTERM and then ends with status 0. It analyses nothing: see `shots '
      + 'run`.',
    examples: ['$ sallyport shots watch', '$ sallyport shots watch --json'],
    session: 'none',
    exits: ['rejected', 'blocked', 'no_state', 'locked', 'damaged'],
    json: { version: 1, schema: lineShape, lines: true },
  },
  text: () => 'stopped\n',
}

const tickLine = (receipt: ScanReceipt): string =>
  `${receipt.at} ${scanCountsLine(receipt)}`
  + (receipt.status === 'degraded' ? `; degraded: ${receipt.reason ?? 'unknown'}` : '')

const say = (deps: VerbDeps, value: WatchLine, text: string): void => {
  deps.progress.clear()
  if (deps.globals.json) writeJsonLine(deps, value)
  else deps.io.writeOut(deps.io.terminal.stdout ? terminalSafe(`${text}\n`) : `${text}\n`)
}

/** Watches until stopped. */
export const run: Run<WatchOptions, WatchLine> = async (_options, deps) => {
  const { watchFolder } = await import('../../../shots/watch/watch.js')
  await withJobs(deps, (ctx) => watchFolder(ctx, {
    ready: ({ folder }) =>
      say(deps, line('watching', { root: folder }), `watching ${deps.view.foreign(folder)}`),
    tick: (receipt) =>
      say(deps, line('tick', { root: receipt.root, receipt }), tickLine(receipt)),
    trouble: (error) => {
      const { details, ...body } = errorBody(error).error
      say(deps, line('trouble', { error: { ...body, details: { ...details } } }), error.message)
    },
  }), 'job')
  return line('stopped')
}

/** The verb. */
export const build = (deps: VerbDeps, doIt: Run<WatchOptions, WatchLine> = run): Verb =>
  defineVerb(deps, definition, doIt)
