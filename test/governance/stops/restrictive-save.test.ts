/** Stops that a save puts: whoever else writes leaves them to the save, and a dead save's end. */
import { existsSync, readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { fail } from '../../../src/base/errors.js'
import { silentObserver } from '../../../src/base/observer.js'
import type { Gov } from '../../../src/governance/context.js'
import { holdGuard } from '../../../src/state/holds/guard.js'
import { collections } from '../../../src/governance/rows.js'
import { newStop } from '../../../src/governance/stops/act.js'
import { stopCovering } from '../../../src/governance/stops/pending.js'
import { putStop } from '../../../src/state/stop-folder.js'
import { closeBySave } from '../../../src/governance/stops/restrictive-save.js'
import { recordedSince, stopsRecorded } from '../../../src/governance/stops/recent.js'
import { covers, offRoutes, stopsEverybody } from '../../../src/governance/stops/stop.js'
import { anchorOf } from '../../support/anchor.js'
import { must } from '../../support/must.js'
import { World, type AlphaWorld } from '../../world/world.js'
import { stopsDirOf } from '../../support/stops-dir.js'

const by = { principal: 'prn_a', root: 'root_a', verb: 'shots config set' }
const aim = { kind: 'folder', target: 'a' } as const
const party = { principal: 'prn_b', root: null, task: null, connection: null }
const picture = { ...party, ...offRoutes, folder: 'a' }

t.test('a stop of a save covers what it is aimed at, and what is not known', async (t) => {
  const all = { ...party, provider: 'p', slot: 's', purpose: 'u', folder: 'f' }
  for (const [kind, target] of [
    ['alpha', 'p'], ['gateway_slot', 's'], ['shots_purpose', 'u'], ['folder', 'f'],
  ] as const) {
    t.ok(covers({ kind, target }, all), kind)
    t.ok(covers({ kind, target: null }, all), `${kind} of any`)
    t.notOk(covers({ kind, target: 'another' }, all), `${kind} of another`)
    for (const one of [target, null]) {
      t.notOk(covers({ kind, target: one }, { ...party, ...offRoutes }), `${kind}: it has none`)
      t.ok(covers({ kind, target: one }, party), `${kind}: nobody knows`)
    }
    t.notOk(stopsEverybody({ kind, target: null }), kind)
  }
})

interface Rigged {
  readonly rig: AlphaWorld
  readonly gov: Gov
  readonly files: () => readonly string[]
}

const rigged = async (t: Test): Promise<Rigged> => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const store = rig.open('write')
  const gov: Gov = { store, clock: rig.clock, observer: silentObserver, face: 'cli' }
  const files = () => (existsSync(stopsDirOf(store)) ? readdirSync(stopsDirOf(store)) : [])
  return { rig, gov, files }
}

const recordedRows = ({ rig }: Rigged) => rig.view().all(collections.stops).map(({ doc }) => doc)

t.test('while its save lives nobody else records its stop; its record spends it', async (t) => {
  const one = await rigged(t)
  const { gov, rig, files } = one
  const known = stopsRecorded(gov.store.read())
  await closeBySave(gov, { aims: [aim], by }, async (spend) => {
    must(await rig.run(['goal', 'add', 'somebody else writes']))
    t.strictSame(recordedRows(one), [], 'it is left to the save')
    t.ok(stopCovering(gov.store, picture) !== undefined, 'and in force')
    const before = anchorOf(rig.place)
    await gov.store.transact('shots config set', spend)
    t.not(anchorOf(rig.place), before, 'an old copy forgets no record of it')
  })
  t.hasStrict(recordedRows(one), [{ kind: 'folder', target: 'a', outcome: 'recorded' }])
  t.strictSame(recordedSince(rig.view(), known), [{ number: known + 1, ...aim }],
    'a request that had begun to leave before is told')
  t.equal(stopCovering(gov.store, picture), undefined, 'what is opened later is not covered')
  t.strictSame(files(), [])
})

t.test('of a save of several parts no stop is left lying', async (t) => {
  const one = await rigged(t)
  const { gov, files } = one
  const aims = [aim, { kind: 'folder', target: 'b' }, { kind: 'alpha', target: null }] as const
  await closeBySave(gov, { aims, by }, async (spend) => {
    t.equal(files().length, aims.length)
    await gov.store.transact('shots config set', spend)
  })
  t.hasStrict(recordedRows(one).map(({ outcome }) => outcome), aims.map(() => 'recorded'))
  t.strictSame(files(), [])
})

t.test('of a save that is refused the stop is refused', async (t) => {
  const one = await rigged(t)
  const { gov, files } = one
  const refused = closeBySave(gov, { aims: [aim], by }, () => gov.store.transact('test', () => {
    throw fail.conflict('settings_changed', 'No.')
  }))
  await t.rejects(refused, { code: 'settings_changed' })
  t.hasStrict(recordedRows(one), [{ outcome: 'refused', reason: 'save_not_made' }])
  t.strictSame(files(), [], 'and waits for no other writer')
})

t.test('of a save that changed nothing the stop is refused', async (t) => {
  const one = await rigged(t)
  const { gov, files } = one
  await closeBySave(gov, { aims: [aim], by }, async () => undefined)
  t.hasStrict(recordedRows(one), [{ outcome: 'refused', reason: 'save_not_made' }])
  t.strictSame(files(), [], 'and waits for no other writer')
})

t.test('the record of a command that closes a route spends its stop', async (t) => {
  const one = await rigged(t)
  must(await one.rig.run(['alpha', 'setup', '--disable', '--json']))
  t.hasStrict(recordedRows(one), [{ kind: 'alpha', outcome: 'recorded' }])
  t.strictSame(one.files(), [])
})

t.test('of a save that died the stop is in force until the next writer refuses it', async (t) => {
  const one = await rigged(t)
  const { gov, rig, files } = one
  const stop = newStop(rig.clock, aim, by)
  const guard = await holdGuard(gov.store.dir, stop.id)
  putStop(stopsDirOf(gov.store), stop)
  must(await rig.run(['goal', 'add', 'it lives']))
  t.strictSame(files(), [stop.id])
  guard.release()
  t.ok(stopCovering(gov.store, picture) !== undefined)
  must(await rig.run(['goal', 'add', 'it is dead']))
  t.hasStrict(recordedRows(one), [{ outcome: 'refused', reason: 'save_not_made' }])
  t.equal(stopCovering(gov.store, picture), undefined)
  t.strictSame(files(), [])
})
