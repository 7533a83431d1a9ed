/** `nothing look <url>`: one look from the line, as the terminal gives every other order. */
import { clientOf } from '../../../src/fabric/client.js'
import { currentToken } from '../../../src/cli/login.js'
import type { VerbRecord, CommandTable } from '../../../src/cli/verb.js'
import { openWork } from '../../../src/fabric/open-work.js'
import { deploymentProfile } from '../../../src/governance/profile.js'
import type { Task } from '../../../src/governance/rows.js'
import { registry } from './capability.js'
import { lookOnce } from './order.js'

interface LookOptions {
  readonly url: string
  readonly goal?: string
}

const look: VerbRecord<LookOptions, Task> = {
  summary: 'look at the other side', description: 'Looks once.',
  examples: [], session: 'required', damage: 'refuses', exits: [], json: null,
  flags: (command) => command.argument('<url>', 'where to look').option('--goal <id>', 'what for'),
  text: ({ state, reason, blocked }) => `${state} ${reason ?? blocked?.reason ?? '-'}`,
  run: async ({ url, goal }, deps) => {
    const store = await deps.openStore('write')
    const { stateDir, configDir } = deps.places
    const { gov, session } = await openWork({
      stateDir, configDir, store, registry, token: currentToken({ store }, deps.env),
      clock: deps.clock, observer: deps.observer, signal: deps.stop, face: 'cli', mode: 'mutate',
    })
    const context = { gov, client: clientOf(deps, deploymentProfile(store)), signal: deps.stop }
    return lookOnce(context, session, url, goal)
  },
}

/** Its commands alone. */
export const nothingCommands: CommandTable = [{
  noun: 'nothing', summary: 'nothing at all',
  verbs: [{ verb: 'look', load: async () => look }],
}]
