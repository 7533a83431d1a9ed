/** `sallyport shots watch`: follows the image folder until it is told to stop. */
import type { ScanReceipt } from '../../../shots/receipts/scan.js'
import { shotsWatch, type WatchEvent } from '../../../shots/watch/contract.js'
import { writeJsonLine, writeLine } from '../../output.js'
import { verb, type VerbDeps } from '../../verb.js'
import { withJobs } from './open.js'
import { scanCountsLine } from './scan-text.js'

/** `shots watch` takes no flags of its own. */
export type WatchOptions = Record<string, never>

const tickLine = (receipt: ScanReceipt): string =>
  `${receipt.at} ${scanCountsLine(receipt)}`
  + (receipt.status === 'degraded' ? `; degraded: ${receipt.reason ?? 'unknown'}` : '')

const say = (deps: VerbDeps, told: WatchEvent, text: string): void => {
  deps.progress.clear()
  if (deps.globals.json) writeJsonLine(deps, shotsWatch.document(told))
  else writeLine(deps, text)
}

export const watch = verb(shotsWatch, {
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
  damage: 'refuses',
  exits: ['rejected', 'blocked', 'no_state', 'locked', 'damaged'],
  text: () => 'stopped\n',
  run: async (_request, deps) => {
    const { watchFolder } = await import('../../../shots/watch/watch.js')
    await withJobs(deps, (ctx) => watchFolder(ctx, {
      ready: ({ folder }) =>
        say(deps, { event: 'watching', folder }, `watching ${deps.view.foreign(folder)}`),
      tick: (receipt) => say(deps, { event: 'tick', receipt }, tickLine(receipt)),
      trouble: (error) => say(deps, { event: 'trouble', error }, error.message),
    }), 'job')
    return { event: 'stopped' as const }
  },
})
