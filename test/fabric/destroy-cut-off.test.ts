/** A destruction that is killed, that the disk refuses, and one beside others. */
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '../../src/base/errors.js'
import { newId } from '../../src/base/ids.js'
import { holdGuard, type Guard } from '../../src/state/holds/guard.js'
import { collections } from '../../src/governance/rows.js'
import { holdService } from '../../src/governance/service/running.js'
import { destroyState } from '../../src/state/care/destroy.js'
import { destructionAt } from '../../src/state/destruction.js'
import { nodeFiles } from '../../src/state/files.js'
import { isStateAt } from '../../src/state/paths.js'
import { openStore } from '../../src/state/store.js'
import { destroy, keyNames, treeOf } from '../support/fabric/destroyed.js'
import { must } from '../support/must.js'
import { slice } from '../support/slice.js'
import { faulty, plan, Stopped, type Plan } from '../support/state/faults.js'
import { t } from '../support/tests-in-slices.js'
import { until } from '../support/until.js'
import type { Teardown } from '../world/place.js'
import { World } from '../world/world.js'

const asked = (t: Teardown) => World.in(t).sandbox().state().session().alpha()

/** Steps, and whether a process that dies there leaves a state that opens. */
const steps: readonly (readonly [step: string, left: 'whole' | 'rest' | 'nothing'])[] = [
  ['revoked', 'whole'], ['quiet', 'whole'], ['begun', 'rest'], ['gone_artifacts', 'rest'],
  ['gone_collections', 'rest'], ['gone_run', 'rest'], ['gone_wal', 'rest'],
  ['gone_witness.log', 'rest'], ['emptied', 'rest'], ['ended', 'nothing'],
]

const cells = (): typeof steps =>
  slice('killed', steps, { axesOf: ([, left]) => [left], idOf: ([step]) => step, atLeast: 4 })

t.test('a destruction that is killed at any step leaves a revoked state, or what no command opens and nothing is made over; the same line again ends it', async (t) => {
  const rig = await asked(t)
  const { place, run } = rig
  must(await rig.ask())
  must(await run(['state', 'backup', place.path('copy')]))
  for (const [at, [step, left]] of cells().entries()) {
    const where = join(place.dir, `of-${at}`)
    const env = { SALLYPORT_STATE_DIR: where }
    must(await run(['state', 'restore', place.path('copy'), '--json'], { env }))
    must(await run(['login'], { env }))
    const line = ['state', 'destroy', '--acknowledged-destroy', `of-${at}`, '--json',
      '--acknowledged-open-microusd',
      String((await rig.json(['state', 'destroy', '--dry-run'], { env })).open.microusd)]
    const cut = await place.spawn(line, {
      entry: 'test', coverage: false, env: { ...env, TEST_STOP_AT: `destroy.${step}` },
    })
    t.equal(cut.status, 137, `${step}: ${cut.stderr}`)
    const status = await run(['status', '--json'], { env })
    if (left === 'whole') {
      t.equal(status.json().policy.state, 'revoked', step)
      t.equal((await rig.json(['state', 'check'], { env })).ok, true, step)
    } else if (left === 'rest') {
      t.strictSame([status.status, status.error().code], [10, 'state_destroyed'], step)
      const made = await run(['init', '--json'], { env })
      const restored = await run(
        ['state', 'restore', place.path('copy'), '--yes', '--json'], { env })
      t.strictSame([made.error().code, restored.error().code],
        ['state_destroyed', 'state_destroyed'], step)
    } else t.equal(status.error().code, 'no_state', step)
    const again = await run(line, { env })
    if (left === 'nothing') t.equal(again.error().code, 'no_state', step)
    else t.equal(must(again).json().begun_at === null, left === 'whole', step)
    t.strictSame([step, treeOf(where)], [step, []])
  }
})

t.test('a disk that stops, or refuses, at any of its calls leaves a whole state or the rest of one, and says so; the next run ends it', async (t) => {
  const world = await World.in(t).state().session()
  const { place } = world
  must(await world.run(['goal', 'add', 'x']))
  const storeId = world.gov.store.storeId
  world.gov.store.close()
  const removal = async (dir: string, to: Plan): Promise<unknown> => {
    try {
      return await destroyState({
        dir, configDir: place.configDir, storeId, files: faulty(nodeFiles, to),
        lastLook: () => undefined, at: () => Promise.resolve(),
      })
    } catch (error) {
      return error
    }
  }
  const copy = (name: string): string => {
    cpSync(place.stateDir, place.path(name), { recursive: true })
    return place.path(name)
  }
  const count = plan()
  await removal(copy('counted'), count)
  t.ok(count.calls > 20)
  const places = Array.from({ length: count.calls }, (_, at) => at + 1)
  const faults = ['stop', 'ENOSPC', 'EIO', 'EACCES'] as const
  const callOf = (at: number): string => count.seen[at - 1]?.split(' ')[0] ?? ''
  const table = places.flatMap((at) => faults.map((fault) => [at, fault] as const))
  for (const [at, fault] of slice('refused', table, {
    axesOf: ([at, fault]) => [callOf(at), fault], idOf: ([at, fault]) => `${fault}-${at}`,
    cover: 'pairs',
  })) {
    const told = `${fault} at ${at}: ${count.seen[at - 1]}`
    const dir = copy(`${fault}-${at}`)
    const error = await removal(dir, plan(at, fault))
    const isWhole = existsSync(join(dir, 'STATE')) && destructionAt(nodeFiles, dir) === undefined
    if (isWhole) {
      const store = openStore({ dir, configDir: place.configDir, mode: 'read' })
      t.equal(store.read().all(collections.principals).length, 1, told)
      store.close()
    } else if (existsSync(join(dir, 'STATE'))) {
      t.throws(() => openStore({ dir, configDir: place.configDir, mode: 'read' }),
        { code: 'state_destroyed' }, told)
    } else t.notOk(isStateAt(dir), told)
    if (error instanceof SallyportError) t.equal(error.kind, 'failed', told)
    else t.ok(fault === 'stop' ? error instanceof Stopped : existsSync(dir) === false
      || treeOf(dir).length === 0, `${told}: ${String(error)}`)
    await removal(dir, plan())
    t.strictSame([told, treeOf(dir)], [told, []])
  }
})

t.test('a folder that may not be changed is told with what is left, and the next run goes on',
  async (t) => {
  const rig = await asked(t)
  const { place } = rig
  const ran = await destroy(place, [], {
    at: (step) => {
      if (step === 'destroy.begun') writeFileSync(join(place.stateDir, 'artifacts', 'mine'), '')
    },
  })
  t.strictSame([ran.status, ran.error().code], [1, 'destruction_unfinished'])
  t.hasStrict(ran.error().details, { errno: 'ENOTEMPTY', left: 'artifacts', left_in_all: 1 })
  t.match(ran.stderr, 'sallyport state destroy')
  t.strictSame(readdirSync(place.stateDir).sort(), ['STATE', 'artifacts', 'fold', 'lock'])
  rmSync(join(place.stateDir, 'artifacts', 'mine'))
  must(await destroy(place))
})

t.test('an ask that is under way is stopped first and waited for: it sends nothing more, and what it leaves open has to be acknowledged anew', async (t) => {
  const rig = await asked(t)
  const { place } = rig
  const go = place.path('go')
  const running = place.spawn(['alpha', 'ask', '-', '--json'], {
    entry: 'test', stdin: 'what is a sally port?',
    env: { TEST_STOP_AT: 'ask.contact_intent', TEST_STOP_DO: 'wait', TEST_GO_FILE: go },
  })
  await until('its contact mark', () => rig.view().all(collections.openReservations)
    .some(({ doc }) => doc.state === 'contacted'))
  const open = await destroy(place, ['--wait', '0'])
  t.strictSame([open.status, open.error().code], [7, 'open_not_acknowledged'])
  t.equal((await rig.json(['policy', 'show'])).policy.state, 'active')
  const sum = ['--acknowledged-open', '0.05usd']
  const beside = await destroy(place, ['--wait', '0', ...sum])
  t.strictSame([beside.status, beside.error().code], [11, 'work_under_way'])
  t.match(beside.error().details.held, /^run\/ops\/op_/)
  t.equal((await rig.json(['policy', 'show'])).policy.state, 'revoked')
  const waiting = destroy(place, sum)
  writeFileSync(go, '')
  t.not((await running).status, 0)
  t.equal(rig.inferences().length, 0, 'nothing left behind the stop')
  const ended = await waiting
  t.strictSame([ended.status, existsSync(place.stateDir)], [0, false], ended.stderr)
})

t.test('work that began behind the wait for others is found by the last look, and nothing is removed under it', async (t) => {
  const { place, json } = await World.in(t).state().session()
  let guard: Guard | undefined
  const ran = await destroy(place, [], {
    at: async (step) => {
      if (step === 'destroy.quiet') guard = await holdGuard(place.stateDir, newId('op'))
    },
  })
  t.strictSame([ran.status, ran.error().code], [11, 'work_under_way'])
  t.equal((await json(['state', 'check'])).ok, true)
  guard?.release()
  must(await destroy(place))
})

t.test('a service that runs is named, and the state stays', async (t) => {
  const { place, json } = await World.in(t).state().session()
  const service = await holdService(place.stateDir, '2026-11-20T12:00:00.000Z')
  service.listensAt('https://localhost:1', null)
  const ran = await destroy(place, ['--wait', '0'])
  t.strictSame([ran.status, ran.error().code], [11, 'work_under_way'])
  t.match(ran.error().message, /the service, process \d+ since .* at https:\/\/localhost:1/)
  t.equal((await json(['state', 'check'])).ok, true)
  service.release()
  must(await destroy(place))
})

t.test('a process that had the state open writes nothing behind its end, also where the directory stays', async (t) => {
  for (const isEmpty of [true, false]) {
    const rig = await World.in(t).state().session()
    const { place } = rig
    await rig.transact(() => undefined)
    if (!isEmpty) writeFileSync(join(place.stateDir, 'mine'), '')
    must(await destroy(place))
    await t.rejects(rig.transact((tx) => tx.remove(collections.principals, 'x')), {
      code: isEmpty ? 'io_failed' : 'no_valid_generation',
    })
    t.equal(isStateAt(place.stateDir), false)
    t.equal((await rig.run(['status', '--json'])).error().code, 'no_state')
    t.equal(keyNames(place).length, 2)
  }
})
