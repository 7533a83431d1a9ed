/** `sallyport doctor`: whether this machine can run the program. Looks, and touches nothing. */
import { existsSync } from 'node:fs'
import { doctor as doctorContract, type MachineCheck } from '../../../fabric/doctor-contract.js'
import type { Store } from '../../../state/types.js'
import { verb, type VerbDeps } from '../../verb.js'
import { defaultSandboxDir } from '../sandbox/dir.js'

/** Where no sandbox ever was, nothing of it is loaded. */
const sandboxOf = async (deps: VerbDeps): Promise<readonly MachineCheck[]> => {
  const dir = defaultSandboxDir(deps)
  if (dir === null || !existsSync(dir)) return []
  const { sandboxChecks } = await import('../sandbox/standing.js')
  return sandboxChecks(deps, dir)
}

/** The server of a shared state; of a directory nothing is loaded. */
const placeOf = async (store: Store): Promise<readonly MachineCheck[]> => {
  if (store.keptIn !== 'place') return []
  const { placeChecks } = await import('../../../fabric/machines/place-checks.js')
  return placeChecks(store)
}

/**
 * Runs every check. A state that does not open has no blocks to tell: why it does not is what the
 * checks and `state check` say. Throws `Degraded` with a `blocked` failure when one is a problem.
 */
export const doctor = verb(doctorContract, {
  summary: 'check whether this machine can run sallyport',
  description:
    'Looks at Node, the lock add-on, the folders and key files with their modes, and the '
    + 'environment. It looks at port, certificate and socket recipe of the service. It says '
    + 'what of a state is blocked and waits for a person. It contacts nobody but the server of '
    + 'a shared state, needs no state and changes nothing.',
  examples: ['$ sallyport doctor', '$ sallyport doctor --json'],
  anchor: 'any',
  damage: 'unasked',
  exits: ['blocked', 'rejected'],
  text: ({ checks }, view) => {
    const marks = {
      ok: view.paint('green', 'ok     '),
      note: view.paint('yellow', 'note   '),
      problem: view.paint('red', 'problem'),
    }
    return checks
      .map(({ name, result, text, next }) => {
        const step = next === null ? '' : `         next: ${next}\n`
        return `${marks[result]}  ${name}: ${view.foreign(text)}\n${step}`
      })
      .join('')
  },
  run: async (_request, deps) => {
    const { runChecks, currentBlocks } = await import('../../../fabric/doctor.js')
    const { serviceChecks } = await import('../../../fabric/doctor-service.js')
    const blocks = await deps.gov('read')
      .then(async (gov) => [
        ...await placeOf(gov.store), ...await serviceChecks(gov, deps),
        ...await currentBlocks(gov, deps),
      ])
      .catch(() => [])
    return [...runChecks(deps), ...await sandboxOf(deps), ...blocks]
  },
})
