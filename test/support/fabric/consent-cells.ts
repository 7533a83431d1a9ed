/**
 * One route, one event, one moment: what becomes of the request. A world that has every route is
 * prepared once and put back for each cell; the event is what another person does at the moment.
 */
import { readFileSync } from 'node:fs'
import { systemClock, type Clock } from '../../../src/base/clock.js'
import { latestProof } from '../../../src/gateway/proof.js'
import { findByNameOrId } from '../../../src/governance/principals.js'
import { collections } from '../../../src/governance/rows.js'
import type { Ran, RunOptions, Teardown } from '../../world/place.js'
import { allowed } from '../../world/images.js'
import { moment } from '../../world/texts.js'
import type { StateOptions } from '../../world/state.js'
import { World, type Placed, type RoutesWorld, type TextWorld } from '../../world/world.js'
import { newestTask } from '../board.js'
import { keptOf } from '../kept.js'
import { must } from '../must.js'
import { rowOf, take } from '../shots.js'

/** Every way to somebody outside. */
export const routes = [
  'question', 'report proof', 'screenshot proof', 'image', 'text',
] as const
export type RouteOfTable = (typeof routes)[number]

/** When the event comes. */
export const moments = ['before admission', 'before contact', 'before adoption'] as const
export type MomentOfTable = (typeof moments)[number]

/** Somebody who is not the one who asks: the operator, with a session of their own. */
export interface Cell {
  readonly rig: RoutesWorld & TextWorld
  readonly route: RouteOfTable
  /** Runs a line as the operator, however it ends. */
  attempt(argv: readonly string[], options?: RunOptions): Promise<Ran>
  /** The same, which must succeed. */
  operator(argv: readonly string[], options?: RunOptions): Promise<Ran>
  /** The policy revision that the operator sees. */
  revision(): Promise<number>
  /** Lets wall time go on, milliseconds. */
  pass(ms: number): Promise<void>
  /** Runs when the cell is over. */
  after(act: () => Promise<unknown>): void
}

/** What the asked-for route is set up with. */
const slotOf = (route: RouteOfTable): 'report' | 'screenshot' =>
  (route === 'report proof' || route === 'text' ? 'report' : 'screenshot')

const alphaSave = async ({ revision, operator }: Cell, flags: readonly string[]): Promise<Ran> =>
  operator([
    'alpha', 'setup', '--json', '--acknowledge-plaintext-egress', ...flags,
    '--expected-policy-revision', String(await revision()),
  ])

const gatewaySave = async ({ revision, operator, route }: Cell, flags: readonly string[]) =>
  operator([
    'gateway', 'setup', '--json', '--acknowledge-cloud-egress', '--slot', slotOf(route), ...flags,
    '--expected-policy-revision', String(await revision()),
  ])

const save = (cell: Cell, alpha: readonly string[], gateway: readonly string[]) =>
  (cell.route === 'question' ? alphaSave(cell, alpha) : gatewaySave(cell, gateway))

const disableRoute = ({ route, operator }: Cell): Promise<Ran> =>
  operator([route === 'question' ? 'alpha' : 'gateway', 'setup', '--disable', '--json'])

/** Disabled as a restore does it, which names nobody as the one who did. */
const disabledByRestore = async (cell: Cell): Promise<void> => {
  const store = cell.rig.open('write')
  await store.transact('test', (tx) => {
    const giver = findByNameOrId(tx, 'ada')
    tx.put(collections.principals, giver.principal_id, {
      ...giver, disabled_at: '2026-01-01T00:00:00.000Z', disabled_by_restore: true,
    })
  })
  store.close()
}

/** Grants of the gateway, by slot, for a save that makes new ones. */
const consentsOf = { report: ['report', 'digest'], screenshot: ['vision'] } as const

/** What another person does. */
export const events = {
  'giver disabled': ({ operator }) => operator(['principal', 'disable', 'ada', '--yes']),
  'giver disabled by a restore and enabled again': async (cell) => {
    await disabledByRestore(cell)
    return cell.operator(['principal', 'enable', 'ada'])
  },
  'another owner disabled': ({ operator }) => operator(['principal', 'disable', 'eve', '--yes']),
  'save that keeps the consent': (cell) =>
    save(cell, ['--timeout-seconds', '19'], ['--timeout-seconds', '50']),
  'save that makes a new consent': async (cell) => {
    if (cell.route !== 'question') {
      const slot = slotOf(cell.route)
      return gatewaySave(cell, [
        '--model', `gateway/acme/${slot}-2`, '--consent', ...consentsOf[slot], '--void-answers',
      ])
    }
    await disableRoute(cell)
    return alphaSave(cell, ['--enable'])
  },
  'save that has not ended': (cell) => new Promise<void>((begun, failed) => {
    let goOn = (): void => undefined
    const ended = new Promise<void>((resolve) => { goOn = resolve })
    const saving = cell.operator(['config', 'save', '--from', cell.rig.place.path('save.json')], {
      at: async (step) => {
        if (step !== 'save.revoked') return
        begun()
        await ended
      },
    })
    saving.catch(failed)
    cell.after(async () => {
      goOn()
      await saving
    })
  }),
  'save that was interrupted': ({ rig, attempt }) =>
    attempt(['config', 'save', '--from', rig.place.path('save.json')], {
      at: async (step) => { if (step === 'save.credential') throw new Error('died') },
    }),
  'save of the other capability': (cell) => (cell.route === 'question'
    ? gatewaySave(cell, ['--timeout-seconds', '50'])
    : alphaSave(cell, ['--timeout-seconds', '19'])),
  'cap lowered': (cell) => save(
    cell, ['--max-output-tokens', '200'], ['--request-cost-bound-microusd', '60000'],
  ),
  'policy revoke': ({ operator }) => operator(['policy', 'revoke']),
  'consent withdrawn': disableRoute,
  'asking session ended': ({ rig }) => must(rig.run(['logout'])),
  'asking session expired': async ({ pass }) => pass(11 * 60_000),
} as const satisfies Record<string, (cell: Cell) => Promise<unknown>>
export type EventOfTable = keyof typeof events

const commandOf: Record<RouteOfTable, readonly [step: string, ...argv: string[]]> = {
  question: ['ask', 'alpha', 'ask', '-'],
  'report proof': ['prove', 'gateway', 'prove', 'report'],
  'screenshot proof': ['prove', 'gateway', 'prove', 'screenshot'],
  image: ['analyze', 'shots', 'analyze'],
  text: ['digest', 'shots', 'digest', '--window-end', moment(1)],
}

const stepOf = { 'before contact': 'before_first_byte', 'before adoption': 'replied' } as const

/** What there is of a result, by its id; null without one. */
const resultOf = ({ rig, route }: Pick<Cell, 'rig' | 'route'>): string | null => {
  const view = rig.view()
  if (route === 'question') {
    const [task] = view.all(collections.closedTasks)
    return task?.doc.result_artifact_id ?? null
  }
  if (route === 'image') return rowOf(rig, 'a.png').payload?.artifact_id ?? null
  if (route === 'text') return rig.episodes()[0]?.artifact_id ?? null
  return latestProof(view, slotOf(route))?.operation_id ?? null
}

/** Why a request was refused or its result is not there, as each route tells it. */
const reasonOf = ({ rig, route }: Pick<Cell, 'rig' | 'route'>, ran: Ran): string => {
  if (route === 'image') return String(rowOf(rig, 'a.png').analyzer.reason)
  const said = ran.stdout === '' ? null : ran.json()
  if (said !== null && route === 'text') {
    return String(said.windows[0]?.reason ?? said.reason)
  }
  if (said !== null) return 'succeeded'
  const { reason, code } = ran.error()
  return String(reason ?? code)
}

/** What became of the request of one cell. */
export interface Became {
  /** `adopted`, or `refused`, `held` or `dropped` and the reason. */
  readonly outcome: string
  readonly requests: number
  /** Micro-USD that the ledger took in and that it holds still, since the cell began. */
  readonly settled: number
  readonly held: number
}

const moneyOf = ({ rig }: Pick<Cell, 'rig'>) => {
  const account = rig.view().all(collections.ledgerAccounts)[0]?.doc
  return {
    settled: account?.settled_microusd ?? 0,
    held: (account?.held_microusd ?? 0) + (account?.unknown_microusd ?? 0),
  }
}

/** Where those who do something else are: on the machine of whoever asks, unless said. */
export interface Sides {
  /** How the state is made. */
  readonly state: StateOptions
  /** The machine of the operator, who gives, ends and changes. */
  other(rig: Cell['rig']): Promise<Placed>
  /** What puts everything back to how it is now. */
  keep(rig: Cell['rig'], other: Placed): Promise<() => unknown>
  /** Lets time go on elsewhere than on the machines. */
  readonly pass?: (ms: number) => Promise<void>
}

const oneMachine: Sides = {
  state: {}, other: async (rig) => rig, keep: async (rig) => keptOf(rig),
}

/** Runs cells in one world. */
export type RunCell = (
  route: RouteOfTable, event: EventOfTable, moment: MomentOfTable,
) => Promise<Became>

/** Prepares the world: ada gave every consent, bob asks, and an operator and eve are there. */
export const cellsOf = async (
  t: Teardown, sides: Sides = oneMachine,
): Promise<{ readonly run: RunCell; readonly rig: Cell['rig'] }> => {
  const rig = await World.in(t).sandbox().state({ owner: 'ada', ...sides.state }).session().alpha()
    .gateway({ ceilingMicrousd: 10_000_000 }).images(allowed)
    .proof('screenshot').proof('report').texts()
  const secret = ['--passphrase-file', rig.place.write('passphrase', 'another person')]
  for (const name of ['bob', 'op', 'eve']) {
    must(await rig.run(['principal', 'add', name, ...secret]))
  }
  await take(rig, 'a.png')
  await rig.analysed({ name: 'b.png', at: moment(2, 1) })
  const login = (name: string, ...more: string[]) =>
    rig.run(['login', '--owner', name, ...secret, ...more])
  must(await login('op', '--token-file', rig.place.path('op')))
  must(await login('bob', '--replace', '--ttl', '10m', '--idle', '10m'))
  must(await rig.run(['alpha', 'acknowledge', '--acknowledge-plaintext-egress']))
  rig.place.write('save.json', JSON.stringify({
    alpha_text: {
      enabled: true, timeout_seconds: 18, plaintext_provider_egress_acknowledged: true,
    },
    expected_policy_revision: await rig.revision(),
  }))
  const other = await sides.other(rig)
  const back = await sides.keep(rig, other)
  const env = { SALLYPORT_SESSION: readFileSync(rig.place.path('op'), 'utf8').trim() }
  const run: RunCell = async (route, event, when) => {
    await back()
    let passedMs = 0
    const clock: Clock = { ...systemClock, wallMs: () => systemClock.wallMs() + passedMs }
    const over: (() => Promise<unknown>)[] = []
    const attempt: Cell['attempt'] = (argv, more) => other.run(argv, { ...more, clock, env })
    const cell: Cell = {
      rig, route, attempt,
      operator: async (argv, more) => must(await attempt(argv, more)),
      revision: async () => must(await attempt(['alpha', 'show', '--json'])).json().policy_revision,
      async pass(ms) {
        passedMs += ms
        await sides.pass?.(ms)
      },
      after: (act) => void over.push(act),
    }
    if (route === 'text') rig.say('A person read.')
    const [money, result] = [moneyOf(cell), resultOf(cell)]
    if (when === 'before admission') await events[event](cell)
    const [prefix, ...argv] = commandOf[route]
    let happened = when === 'before admission'
    const ran = await rig.run([...argv, '--json'], {
      clock, stdin: 'What is a sally port?',
      at: async (step) => {
        if (happened || when === 'before admission' || step !== `${prefix}.${stepOf[when]}`) return
        happened = true
        await events[event](cell)
      },
    })
    if (!happened) throw new Error(`${route}, ${event}, ${when}: it did not come: ${ran.stderr}`)
    for (const act of over) await act()
    return becameOf(cell, ran, money, result)
  }
  return { run, rig }
}

const becameOf = (
  cell: Cell, ran: Ran, money: ReturnType<typeof moneyOf>, result: string | null,
): Became => {
  const { rig, route } = cell
  const now = moneyOf(cell)
  const requests = (route === 'question' ? rig.inferences() : rig.calls()).length
  const adopted = resultOf(cell) !== result
  const waits = route === 'question' && requests > 0 && newestTask(rig).state === 'blocked'
  const word = requests === 0 ? 'refused' : waits ? 'held' : 'dropped'
  return {
    outcome: adopted ? 'adopted' : `${word}: ${reasonOf(cell, ran)}`,
    requests, settled: now.settled - money.settled, held: now.held - money.held,
  }
}
