/** A world with a plain code host and one saved connection, and its verbs in short. */
import {
  connectionCollection, type Connection,
} from '../../../src/governance/connections/connection-rows.js'
import type { Place, Loose, Ran, RunOptions, Teardown } from '../../world/place.js'
import type { SignedIn } from '../../world/session.js'
import type { Stateful } from '../../world/state.js'
import { World, type Placed } from '../../world/world.js'
import { movedClock, type StillClock } from '../clock.js'
import { must } from '../must.js'
import { startPlainHost, type PlainHost } from './plain-host.js'

/** What the worlds of these tests have. */
export interface Connected extends Placed<StillClock>, Stateful, SignedIn {
  readonly host: PlainHost
  /** Id of the saved connection. */
  readonly id: string
  readonly place: Place
  /** The row as it is now. */
  row(): Connection
  revision(): number
  /** Consents to opening issues for half an hour, unless the flags say otherwise. */
  consent(flags?: readonly string[], options?: RunOptions): Promise<Ran>
  /** How settings show the consent. */
  state(): Promise<string | undefined>
}

/** The token that it is saved with; it must be found nowhere. */
export const hostToken = 'ghp_MARKTOKEN0123456789abcdefghijklmnop'

/** Makes one; its clock is moved by the test. */
export const connected = async (t: Teardown): Promise<Connected> => {
  const world = World.in(t, { clock: movedClock() })
  const host = await startPlainHost(t, world.place.dir)
  const signed = await world.state({ owner: 'ada', profileFile: host.profileFile }).session()
  const { place, run, json } = signed
  const made: Loose = must(await run([
    'codehost', 'connect', '--repo', 'octo-org/hello', '--token-file',
    place.write('token', `${hostToken}\n`), '--json',
  ])).json()
  const row = (): Connection => {
    const found = signed.view().get(connectionCollection, made.id)
    if (found === undefined) throw new Error('no such row')
    return found
  }
  const revision = (): number => row().revision
  return Object.defineProperties({}, {
    ...Object.getOwnPropertyDescriptors(signed),
    ...Object.getOwnPropertyDescriptors({
      host, id: made.id, row, revision,
      consent: (flags: readonly string[] = [], options?: RunOptions) => run([
        'codehost', 'consent', made.id, '--acknowledge', '--json', '--expected-revision',
        String(revision()), ...(flags.includes('--action') ? [] : ['--action', 'issue.create']),
        ...flags,
      ], options),
      state: async () => (await json(['codehost', 'connections']))[0].consent?.state,
    }),
  }) as Connected
}
