import { fail } from '../../../base/errors.js'
import { sandboxEndingShape, sandboxStop } from '../../../sandbox/sandbox-contract.js'
import { verb } from '../../verb.js'
import { isRunning } from './claim.js'
import { askControl } from './control.js'
import { dirFlag, sandboxCommand, sandboxDir } from './dir.js'

const endMsMax = 10_000
const lookMs = 50

export const stop = verb(sandboxStop, {
  summary: 'end a running sandbox',
  description:
    'Asks the sandbox of the folder to end, and returns when it has. It may have been started '
    + 'anywhere, and its terminal may be closed. Folder, certificate and ports stay, so a state '
    + 'made against it works again after the next start.',
  examples: ['$ sallyport sandbox stop', '$ sallyport sandbox stop --dir ./sandbox --json'],
  damage: 'unasked',
  exits: ['rejected', 'not_found', 'remote', 'locked'],
  flags: (command) => command.option(...dirFlag),
  text: ({ pid }) => `The sandbox has ended (process ${pid}).\n`,
  run: async ({ dir: given }, deps) => {
    const dir = sandboxDir(deps, given)
    const request = { method: 'POST', path: '/stop', body: {} } as const
    const { pid } = await askControl(deps, given, request, sandboxEndingShape)
    const until = deps.clock.monotonicMs() + endMsMax
    while (isRunning(dir)) {
      if (deps.clock.monotonicMs() > until) {
        throw fail.locked('sandbox_still_ending', 'The sandbox was told to end and still runs.', {
          next: `Look again: \`${sandboxCommand(deps, dir, 'status')}\`.`, details: { pid },
        })
      }
      await deps.clock.sleep(lookMs, deps.stop)
    }
    return { dir, pid }
  },
})
