/** Whoever looks at everything holds a page of it; what grows is never held whole. */
import t from 'tap'
import { recoveryRules, carryRules, gateRules } from '../../src/fabric/recovery.js'
import { stateRules } from '../../src/fabric/state-rules.js'
import { carryKeys } from '../../src/governance/board/carry-keys.js'
import { carryLiabilities } from '../../src/governance/ledger/carry.js'
import { closeAndCarry } from '../../src/governance/carried-restrictions.js'
import { collections } from '../../src/governance/rows.js'
import type { Former } from '../../src/state/care/former.js'
import { openStore } from '../../src/state/store.js'
import type { CollectionSpec, Entry, RangeOptions, Store, View } from '../../src/state/types.js'
import { must } from '../support/must.js'
import { Memory } from '../support/governance/memory.js'
import { World, type AlphaWorld } from '../world/world.js'

const now = '2026-11-20T10:00:00.000Z'

const dirsOf = ({ place: { stateDir, configDir } }: AlphaWorld) => ({ dir: stateDir, configDir })

/** Most rows that may be asked for in one go. */
const pageMax = 1024

/** Collections that grow although records call them small. */
const growing: readonly CollectionSpec<never>[] = [
  collections.roots, collections.openTasks, collections.openReservations,
] as readonly CollectionSpec<unknown>[] as readonly CollectionSpec<never>[]

/** A view that notes which growing collections somebody asks for without a limit. */
const watched = (view: View): { readonly view: View; readonly whole: ReadonlySet<string> } => {
  const whole = new Set<string>()
  const note = <T>(spec: CollectionSpec<T>, limit: number): void => {
    const grows = spec.partition === 'hash256' && !spec.name.includes(':')
    if ((grows || growing.some(({ name }) => name === spec.name)) && limit > pageMax) {
      whole.add(spec.name)
    }
  }
  return {
    whole,
    view: {
      sequence: view.sequence,
      get: (spec, id) => view.get(spec, id),
      getMany: <T>(spec: CollectionSpec<T>, ids: readonly string[]) => {
        note(spec, ids.length)
        return view.getMany(spec, ids)
      },
      all: <T>(spec: CollectionSpec<T>): readonly Entry<T>[] => {
        note(spec, Infinity)
        return view.all(spec)
      },
      range: <T>(spec: CollectionSpec<T>, options: RangeOptions): readonly Entry<T>[] => {
        note(spec, options.limit ?? Infinity)
        return view.range(spec, options)
      },
    },
  }
}

t.test('no rule of a check holds a collection that grows', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  must(await rig.ask())
  const store = openStore({ ...dirsOf(rig), mode: 'read' })
  t.teardown(() => store.close())
  const rules = await stateRules()
  const { view, whole } = watched(store.read())
  for (const rule of rules.documents) t.strictSame(rule(view), [])
  t.ok(rules.referenced(view).size > 0)
  const watching = Object.create(store, { read: { value: () => view } }) as Store
  t.strictSame(rules.openArtifacts(watching), [])
  t.strictSame([...whole].sort(), [])
})

t.test('what is carried over from a former state is read a page at a time', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  must(await rig.ask())
  const store = openStore({ ...dirsOf(rig), mode: 'read' })
  t.teardown(() => store.close())
  const { view, whole } = watched(store.read())
  const former: Former = {
    view, holes: [{ id: 'log-1-0123456789abcdef' }], readable: true, settled: false,
    knows: () => false,
  }
  const [carries, gates] = [await carryRules(), await gateRules()]
  t.ok((await recoveryRules(store)).length > 0)
  const memory = new Memory()
  memory.transact((tx) => {
    const { liabilities } = carryLiabilities(tx, now, [former], 'test')
    t.equal(liabilities.length, 1, 'the ask is owed')
    t.equal(carryKeys(tx, now, [former]), 1, 'its key is spent')
    for (const carry of carries) carry(tx, view)
    closeAndCarry(tx, now, [former], { carriers: gates })
  })
  t.strictSame([...whole].sort(), [])
})
