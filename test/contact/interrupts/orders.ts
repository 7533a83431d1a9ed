/** The orders of the table: how each is given, and what it keeps of what it paid for. */
import { proofCollection } from '../../../src/gateway/proof.js'
import type { CommandTable } from '../../../src/cli/verb.js'
import type { Registry } from '../../../src/governance/capability.js'
import { collections, type Task } from '../../../src/governance/rows.js'
import { conclusionCollections } from '../../../src/shots/report/report-rows.js'
import { digestCollections } from '../../../src/shots/digest/digest-rows.js'
import { shotCollections } from '../../../src/shots/observations/observation-rows.js'
import type { SandboxHooks, SeenRequest } from '../../../src/sandbox/types.js'
import type { View } from '../../../src/state/types.js'
import { must } from '../../support/must.js'
import { greyPng } from '../../support/png.js'
import { question } from '../../world/alpha.js'
import { forImages } from '../../world/gateway.js'
import { allowed } from '../../world/images.js'
import type { Teardown } from '../../world/place.js'
import type { Outside } from '../../world/sandbox.js'
import type { Stateful, StateOptions } from '../../world/state.js'
import { moment } from '../../world/texts.js'
import { World, type Placed } from '../../world/world.js'
import { nothingCommands } from '../../fabric/nothing/command.js'
import { registry } from '../../fabric/nothing/capability.js'
import { grantLooks } from '../../fabric/nothing/grant.js'
import { nothingCollection } from '../../fabric/nothing/rows.js'
import type { Kind, Outcome } from './rule.js'

/** What every world of an order has. */
export type OrderWorld = Placed & Stateful & Outside & { readonly goalId?: string }

/** What the outside does when a request has reached it; the table changes it from cell to cell. */
export interface Outskirts {
  at(request: SeenRequest): Promise<void>
}

/** One order of the table. */
export interface TableOrder extends Kind {
  readonly name: string
  /** The table of the page that it has together with others, where one tells the same of all. */
  readonly table?: string
  /** First word of its steps. */
  readonly steps: string
  /** The line that gives it. */
  argv(world: OrderWorld): readonly string[]
  readonly stdin?: string
  /** The fault that the sandbox has. */
  readonly fault?: string
  /** The first step of its table, where the ones before it are another table's. */
  readonly from?: string
  /** The verb that sets its route up; null where nothing does that has a cap. */
  readonly route: 'alpha' | 'gateway' | null
  /**
   * Where it is ended as a process, which costs most of the time: at every step, or at the first
   * and the last one of each phase, where the same engine is ended at every step of an ask.
   */
  readonly ended: 'every step' | 'edges of phases'
  /** What an order brings that is none of the shipped program's. */
  readonly own?: Own
  /** How an order without money ended. Throws where its rows contradict each other. */
  end?(view: View): Outcome['end']
  /** Makes a world in which the line goes through; `state`: how its state is made. */
  world(t: Teardown, outskirts: Outskirts, state?: StateOptions): PromiseLike<OrderWorld>
  /** How many results of such orders are kept. */
  kept(view: View): number
  /** Whether a request is one that must not be sent twice; all but bills, unless said. */
  counts?(request: SeenRequest): boolean
}

/** A capability that only tests have. */
export interface Own {
  /** What the test entry knows its commands by. */
  readonly name: string
  readonly commands: CommandTable
  readonly registry: Registry
}

/** The task that was made last. Throws where there is none. */
export const newestTaskOf = (view: View): Task => {
  const tasks = [...view.all(collections.openTasks), ...view.all(collections.closedTasks)]
  const task = tasks.map(({ doc }) => doc).sort((a, b) => (a.task_id < b.task_id ? 1 : -1))[0]
  if (task === undefined) throw new Error('there is no task')
  return task
}

/** A sandbox that tells of every request that has reached it. */
export const hooksOf = (outskirts: Outskirts): { hooks: SandboxHooks } => ({
  hooks: { onRequest: (_service, request) => outskirts.at(request) },
})

/** One question with its bill. */
export const ask: TableOrder = {
  name: 'ask', steps: 'ask', stdin: question,
  // A goal of its own: the default one cannot be closed.
  argv: ({ goalId = '' }) => ['alpha', 'ask', '-', '--json', '--goal', goalId],
  session: true, task: true, charge: 'bill', capWithBound: true, takesNewKey: true,
  route: 'alpha', ended: 'every step',
  world: (t, outskirts, state) => World.in(t).sandbox(hooksOf(outskirts)).state(state)
    .session().alpha()
    .with(async (world) => ({
      goalId: (await world.json(['goal', 'add', 'An aim'])).id as string,
    })),
  kept: (view) => [...view.all(collections.openTasks), ...view.all(collections.closedTasks)]
    .filter(({ doc }) => doc.result_artifact_id !== null).length,
}

/** The same where the first bill tells nothing, from the second one on. */
export const secondBill: TableOrder = {
  ...ask, name: 'second bill', fault: 'billing_no_entry_once', from: 'billing_2',
}

const slots = ['chat', 'report', 'screenshot'] as const

/** A proof, of one slot after the other: they differ in nothing that the table looks at. */
export const proof = (): TableOrder => {
  let turn = 0
  return {
    name: 'proof', steps: 'prove',
    argv: () => ['gateway', 'prove', slots[turn++ % slots.length] ?? 'chat', '--json'],
    session: true, task: false, charge: 'reply', capWithBound: false,
    route: 'gateway', ended: 'edges of phases',
    world: (t, outskirts, state) =>
      World.in(t).sandbox(hooksOf(outskirts)).state(state).session().gateway(),
    kept: (view) => view.all(proofCollection).length,
  }
}

/** Orders that rest on a consent and on no task end alike. */
const ofImages = 'analysis, digest and conclusion'

/** The analysis of one image. */
export const analysis: TableOrder = {
  name: 'analysis', table: ofImages, steps: 'analyze', argv: () => ['shots', 'analyze', '--json'],
  session: false, task: false, charge: 'reply', capWithBound: false, switches: true,
  route: 'gateway', ended: 'edges of phases',
  world: async (t, outskirts, state) => {
    const world = await World.in(t).sandbox(hooksOf(outskirts)).state(state).session()
      .gateway(forImages).images(allowed).proof('screenshot')
    world.file('a.png', greyPng(64, 48, 2_000))
    must(await world.run(['shots', 'scan', '--json']))
    return world
  },
  kept: (view) => view.all(shotCollections.observations)
    .filter(({ doc }) => doc.payload !== null).length,
}

const textWorld = async (t: Teardown, outskirts: Outskirts, state?: StateOptions) => {
  const world = await World.in(t).sandbox(hooksOf(outskirts)).state(state).session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  return world
}

/** The digest of one window. */
export const digest: TableOrder = {
  name: 'digest', table: ofImages, steps: 'digest', argv: () => ['shots', 'digest', '--json'],
  session: false, task: false, charge: 'reply', capWithBound: false, switches: true,
  route: 'gateway', ended: 'edges of phases',
  world: textWorld,
  kept: (view) => view.all(digestCollections.episodes).length,
}

/** The conclusion of a report. */
export const conclusion: TableOrder = {
  name: 'conclusion', table: ofImages, steps: 'conclude',
  argv: () => ['shots', 'report', '--conclude', '--json', '--since', moment(20)],
  session: false, task: false, charge: 'reply', capWithBound: false, switches: true,
  route: 'gateway', ended: 'edges of phases',
  world: async (t, outskirts, state) => {
    const world = await textWorld(t, outskirts, state)
    must(await world.digest())
    return world
  },
  kept: (view) => view.all(conclusionCollections.conclusions)
    .filter(({ doc }) => doc.made !== null).length,
}

const nothingEnd = (view: View): Outcome['end'] => {
  const { task_id, state, blocked } = newestTaskOf(view)
  // A look that never left is forgotten when it was recovered.
  const row = view.get(nothingCollection, task_id)?.state ?? 'unsent'
  const ends: Readonly<Record<string, Outcome['end']>> = {
    'succeeded done': 'done', 'blocked lost': 'unknown',
    'cancelled unsent': 'cancelled', 'failed unsent': 'failed',
  }
  const end = ends[`${state} ${row}`]
  if (end !== undefined && (blocked === null) === (end !== 'unknown')) return end
  throw new Error(`a task that is ${state} and a look that is ${row}`)
}

/** The one effect of the capability of nothing, which costs nothing. */
export const look: TableOrder = {
  name: 'look', steps: 'nothing',
  argv: ({ sandbox, goalId = '' }) =>
    ['nothing', 'look', sandbox.profile.gateway.base_url, '--goal', goalId, '--json'],
  session: true, task: true, charge: null, capWithBound: false,
  route: null, ended: 'every step',
  own: { name: 'nothing', commands: nothingCommands, registry },
  end: nothingEnd,
  world: (t, outskirts, state) => World.in(t).sandbox(hooksOf(outskirts)).state(state).session()
    .with(async (world) => {
      await grantLooks(world.gov, world.session())
      return { goalId: (await world.json(['goal', 'add', 'An aim'])).id as string }
    }),
  kept: (view) => view.all(nothingCollection).filter(({ doc }) => doc.state === 'done').length,
}
