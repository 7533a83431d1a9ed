/** An old copy comes into force closed, and what people had taken back since stays taken back. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { alphaSetupCollection, alphaSetupId } from '../../src/alpha/setup.js'
import { alphaRows } from '../../src/alpha/capability-rows.js'
import { gatewayRows } from '../../src/gateway/capability-rows.js'
import { gatewayCollection, gatewayRouteId } from '../../src/gateway/setup.js'
import type { Carrier } from '../../src/governance/carrier.js'
import { nowIso } from '../../src/governance/context.js'
import { setCeiling } from '../../src/governance/ledger/account.js'
import { closeAndCarry } from '../../src/governance/carried-restrictions.js'
import { listPrincipals } from '../../src/governance/principals.js'
import { collections } from '../../src/governance/rows.js'
import { shotRows } from '../../src/shots/capability-rows.js'
import { savedSettings } from '../../src/shots/source/settings.js'
import type { Former } from '../../src/state/care/former.js'
import { openStore } from '../../src/state/store.js'
import type { Store, Tx, View } from '../../src/state/types.js'
import { fail } from '../../src/base/errors.js'
import { Memory } from '../support/governance/memory.js'
import { must } from '../support/must.js'
import { followsNobody, lostForGood, takenBack } from '../support/place/over-a-place.js'
import { t } from '../support/tests-in-slices.js'
import type { Place } from '../world/place.js'
import { World } from '../world/world.js'

const carriers: Readonly<Record<string, Carrier>> = Object.fromEntries(
  Object.entries({ alpha: alphaRows, gateway: gatewayRows, shots: shotRows })
    .flatMap(([name, { narrowed }]) => (narrowed === undefined ? [] : [[name, narrowed]])),
)

/** The copy that was made before, as it is put back; its key folder is the same. */
const copyOf = async (t: Test, { dir, configDir }: Place): Promise<Store> => {
  await followsNobody({ dir: join(dir, 'copy'), configDir })
  const store = openStore({ dir: join(dir, 'copy'), configDir, mode: 'write' })
  t.teardown(() => store.close())
  return store
}

const keepCopy = ({ dir, stateDir }: Place): void =>
  cpSync(stateDir, join(dir, 'copy'), { recursive: true })

const whole = (view: View, more: Partial<Former> = {}): Former =>
  ({ view, holes: [], readable: true, settled: false, knows: () => false, ...more })

const carried = async (
  store: Store, formers: readonly Former[], restorer: string | null = null,
): Promise<readonly string[]> =>
  store.transact('test', (tx: Tx) => {
    const now = nowIso({ clock: { wallMs: () => Date.now(), monoMs: () => 0 } as never })
    return closeAndCarry(tx, now, formers, { carriers, restorer })
  })

const owners = (view: View): Record<string, boolean> => Object.fromEntries(
  listPrincipals(view).map(({ name, disabled_at }) => [name, disabled_at === null]))

const withOwners = (t: Test, ...names: string[]) =>
  World.in(t).state({ owner: 'ada' }).session().with(async (at) => {
    const file = at.place.write('passphrase', 'correct horse battery')
    for (const name of names) {
      await at.json(['principal', 'add', name, '--passphrase-file', file])
    }
  })

t.test('A-070 an owner who was disabled since stays so for good, the others wait', async (t) => {
  const at = await withOwners(t, 'bob', 'eve')
  keepCopy(at.place)
  must(await at.run(['principal', 'disable', 'bob', '--yes']))
  const copy = await copyOf(t, at.place)
  t.strictSame(await carried(copy, [whole(at.view())]), ['eve'])
  t.strictSame(owners(copy.read()), { ada: true, bob: false, eve: false })
  const [, bob, eve] = listPrincipals(copy.read())
  t.equal(bob?.disabled_by_restore, undefined, 'for good')
  t.equal(eve?.disabled_by_restore, true)
  const later = listPrincipals(at.view()).find(({ name }) => name === 'bob')
  t.equal(bob?.disabled_at, later?.disabled_at)
})

t.test('A-070 every session and consent has ended, and goals, results and routes that were closed '
  + 'since are closed', async (t) => {
  const at = await World.in(t).sandbox().state({ owner: 'ada' }).session().alpha().gateway()
  const other = (await at.json(['login', '--token-file', at.place.path('other')])).root.id
  const goal = (await at.json(['goal', 'add', 'Read'])).id
  const task = must(await at.ask()).json().task.id
  must(await at.run(['state', 'backup', 'kept']))
  must(await at.run(['task', 'review', task, '--reject']))
  must(await at.run(['goal', 'close', goal]))
  must(await at.run(['session', 'revoke', other]))
  must(await at.run(['alpha', 'setup', '--disable']))
  const closed = at.view().get(collections.goals, goal)
  await takenBack(at)
  must(await at.run(['state', 'restore', 'kept', '--yes']))
  const view = at.view()
  t.equal(view.all(collections.roots).length, 2)
  t.ok(view.all(collections.roots).every(({ doc }) => doc.ended?.reason === 'restored'))
  t.ok(view.all(collections.consents).length > 1)
  t.ok(view.all(collections.consents).every(({ doc }) => doc.state === 'revoked'))
  t.strictSame(view.get(collections.goals, goal), closed)
  t.equal(view.get(collections.closedTasks, task)?.review, 'rejected')
  t.equal(view.get(collections.closedTasks, task)?.done_at, null)
  t.equal(view.get(alphaSetupCollection, alphaSetupId)?.enabled, false)
})

t.test('A-070 A-083 limits of the routes are the lower ones, and their ceiling the ledger’s', async (t) => {
  const at = await World.in(t).sandbox().state({ owner: 'ada' }).session().alpha().gateway()
  keepCopy(at.place)
  const later = at.open('write')
  await later.transact('test', (tx) => {
    const setup = tx.get(alphaSetupCollection, alphaSetupId)
    const route = tx.get(gatewayCollection, gatewayRouteId)
    if (!setup || !route?.slots.chat) throw new Error('the routes are not set up')
    tx.put(alphaSetupCollection, alphaSetupId, { ...setup, request_cost_bound_microusd: 7 })
    tx.put(gatewayCollection, gatewayRouteId, {
      ...route, slots: {
        ...route.slots, report: null, chat: { ...route.slots.chat, timeout_seconds: 1 },
        screenshot: route.slots.screenshot && {
          ...route.slots.screenshot, upstream_allow: ['elsewhere'],
        },
      },
    })
  })
  const copy = await copyOf(t, at.place)
  await copy.transact('test', (tx) => void setCeiling(tx, '2026-01-01T00:00:00.000Z', 500))
  await carried(copy, [whole(later.read())])
  const setup = copy.read().get(alphaSetupCollection, alphaSetupId)
  t.strictSame([setup?.enabled, setup?.request_cost_bound_microusd, setup?.spend_ceiling_microusd],
    [true, 7, 500])
  const route = copy.read().get(gatewayCollection, gatewayRouteId)
  t.equal(route?.slots.report, null)
  t.equal(route?.slots.screenshot, null, 'no upstream that both allow')
  t.equal(route?.slots.chat?.timeout_seconds, 1)
  t.equal(route?.spend_ceiling_microusd, 500)
})

t.test('A-070 S-010 a gate of the screenshots that was closed since stays closed', async (t) => {
  const at = await World.in(t).state({ owner: 'ada' }).session().images()
  const set = (...words: string[]) => at.run(['shots', 'config', 'set', ...words])
  must(await set('--cloud-upload', 'on', '--analysis', 'on', '--budget-requests', '9',
    '--fallbacks', 'deny', '--ingest-limit', '5', '--renew-proof', 'on',
    '--ignore', '1920x1080:0,0,40,10'))
  keepCopy(at.place)
  must(await set('--cloud-upload', 'off', '--budget-requests', '3', '--fallbacks', 'allow',
    '--ingest-enabled', 'off', '--ingest-limit', '8', '--renew-proof', 'off',
    '--no-ignore', '--ignore', '1920x1080:0,0,50,20'))
  const copy = await copyOf(t, at.place)
  await carried(copy, [whole(at.view())])
  t.hasStrict(savedSettings(copy.read()), {
    cloud_upload: 'off', analysis: 'on', budget_requests: 3, fallbacks: 'deny', renew_proof: 'off',
    ingest_enabled: false, ingest_limit: 5, budget_microusd: null,
    ignore: ['1920x1080:0,0,50,20'],
  })
})

for (const [what, formers] of Object.entries({
  'there is no replaced state': () => [],
  'nothing of it could be read': () => [whole(new Memory().view(), { readable: false })],
  'a part of it could not be read': (view: View) => [whole(view, { holes: [{ id: 'a part' }] })],
  'it was carried over before': (view: View) => [whole(view, { settled: true })],
} satisfies Record<string, (view: View) => Former[]>)) {
  t.test(`A-070 where ${what}, every other owner waits to be enabled by name`, async (t) => {
    const at = await withOwners(t, 'bob', 'eve')
    keepCopy(at.place)
    must(await at.run(['principal', 'disable', 'bob', '--yes']))
    const copy = await copyOf(t, at.place)
    t.strictSame(await carried(copy, formers(at.view())),
      what.startsWith('a part') ? ['eve'] : ['bob', 'eve'])
    t.strictSame(owners(copy.read()), { ada: true, bob: false, eve: false })
    const eve = listPrincipals(copy.read()).find(({ name }) => name === 'eve')
    t.equal(eve?.disabled_by_restore, true)
  })
}

t.test('A-070 the owner who restores may be another than the first one', async (t) => {
  const at = await withOwners(t, 'bob')
  const store = at.open('write')
  t.strictSame(await carried(store, [], 'bob'), ['ada'])
  t.strictSame(owners(store.read()), { ada: false, bob: true })
})

t.test('rows of one kind that cannot be read keep nothing else from being carried', async (t) => {
  const at = await withOwners(t, 'bob', 'eve')
  keepCopy(at.place)
  must(await at.run(['principal', 'disable', 'bob', '--yes']))
  const view = at.view()
  const range: View['range'] = (spec, options) => {
    if (spec.name === 'goals') throw fail.damaged('collection_damaged', 'A part is damaged.')
    return view.range(spec, options)
  }
  const broken: View = {
    sequence: view.sequence, get: (spec, id) => view.get(spec, id), range,
    getMany: (spec, ids) => view.getMany(spec, ids), all: (spec) => range(spec, {}),
  }
  const copy = await copyOf(t, at.place)
  t.strictSame(await carried(copy, [whole(broken)]), ['eve'])
  t.strictSame(owners(copy.read()), { ada: true, bob: false, eve: false })
  t.equal(listPrincipals(copy.read())[1]?.disabled_by_restore, undefined)
})

t.test('A-070 a copy whose owners were all disabled since knows those of later', async (t) => {
  const at = await World.in(t).state({ owner: 'ada' }).session()
  keepCopy(at.place)
  const file = at.place.write('passphrase', 'correct horse battery')
  await at.json(['principal', 'add', 'bob', '--passphrase-file', file])
  must(await at.run(['login', '--owner', 'bob', '--passphrase-file', file]))
  must(await at.run(['principal', 'disable', 'ada', '--yes']))
  const copy = await copyOf(t, at.place)
  t.strictSame(await carried(copy, [whole(at.view())]), [])
  t.strictSame(owners(copy.read()), { ada: false, bob: true })
  const bob = listPrincipals(copy.read()).find(({ name }) => name === 'bob')
  const goals = copy.read().all(collections.goals).map(({ doc }) => doc.owner)
  t.equal(goals.filter((owner) => owner === bob?.principal_id).length, 1)
})

t.test('A-070 a copy in which nobody is left knows whom later states enabled, and nobody whom one of '
  + 'them disabled', async (t) => {
  const at = await withOwners(t, 'bob')
  await carried(at.open('write'), [], 'ada')
  keepCopy(at.place)
  must(await at.run(['principal', 'enable', 'bob']))
  const file = at.place.path('passphrase')
  must(await at.run(['login', '--owner', 'bob', '--passphrase-file', file]))
  await at.json(['principal', 'add', 'eve', '--passphrase-file', file])
  const earlier = at.view()
  must(await at.run(['principal', 'disable', 'ada', '--yes']))
  must(await at.run(['principal', 'disable', 'eve', '--yes']))
  const copy = await copyOf(t, at.place)
  t.strictSame(owners(copy.read()), { ada: true, bob: false }, 'bob waits in it')
  t.strictSame(await carried(copy, [whole(earlier), whole(at.view())]), [])
  t.strictSame(owners(copy.read()), { ada: false, bob: true })
})

t.test('whom one restore left waiting may be the one who restores next', async (t) => {
  const at = await withOwners(t, 'bob')
  keepCopy(at.place)
  t.strictSame(await carried(at.open('write'), [], 'bob'), ['ada'])
  const copy = await copyOf(t, at.place)
  t.strictSame(await carried(copy, [whole(at.view())], 'ada'), ['bob'])
  t.strictSame(owners(copy.read()), { ada: true, bob: false })
})

t.test('A-070 whom an earlier restore left waiting in the copy restores it by name, which lets in nobody else '
  + 'and nobody whom a person disabled', async (t) => {
  const at = await withOwners(t, 'bob', 'eve', 'maria')
  must(await at.run(['principal', 'disable', 'bob', '--yes']))
  must(await at.run(['state', 'backup', 'first']))
  await takenBack(at)
  must(await at.run(['state', 'restore', 'first', '--yes']))
  t.strictSame(owners(at.view()), { ada: true, bob: false, eve: false, maria: false })
  must(await at.run(['state', 'backup', 'kept']))
  lostForGood(at)
  must(await at.run(['state', 'restore', 'kept', '--owner', 'bob']))
  t.strictSame(owners(at.view()), { ada: true, bob: false, eve: false, maria: false })
  lostForGood(at)
  const { owners_to_enable: waiting } = await at.json(
    ['state', 'restore', 'kept', '--owner', 'maria'])
  t.strictSame(waiting, ['ada'])
  t.strictSame(owners(at.view()), { ada: false, bob: false, eve: false, maria: true })
  const file = at.place.path('passphrase')
  must(await at.run(['login', '--owner', 'maria', '--passphrase-file', file]))
  must(await at.run(['principal', 'enable', 'ada']))
})

t.test('A-070 an owner who restores after waiting has consented to nothing and acknowledged nothing', async (t) => {
  const at = await World.in(t).sandbox().state({ owner: 'ada' }).session().alpha()
  const secret = ['--passphrase-file', at.place.write('passphrase', 'another person')]
  await at.json(['principal', 'add', 'bob', ...secret])
  must(await at.run(['login', '--owner', 'bob', '--replace', ...secret]))
  must(await at.run(['alpha', 'acknowledge', '--acknowledge-plaintext-egress']))
  const store = at.open('write')
  const agreed = () => store.read().all(collections.consents)
    .map(({ doc }) => [doc.state, doc.acknowledgments.length])
  t.strictSame(agreed(), [['granted', 2]])
  await carried(store, [], 'ada')
  t.strictSame(await carried(store, [], 'bob'), ['ada'])
  t.strictSame(agreed(), [['granted', 1]])
  t.strictSame(await carried(store, [], 'ada'), ['bob'])
  t.strictSame(agreed(), [['withdrawn', 1]])
})

t.test('an owner that waits is enabled by name; one that a person disabled never is', async (t) => {
  const at = await withOwners(t, 'bob', 'eve')
  must(await at.run(['principal', 'disable', 'bob', '--yes']))
  t.strictSame(await carried(at.open('write'), []), ['eve'])
  const file = at.place.path('passphrase')
  const login = ['login', '--owner', 'eve', '--passphrase-file', file, '--token-file', 'eve']
  t.equal((await at.run(login)).status, 4)
  const enabled = await at.json(['principal', 'enable', 'eve'])
  t.hasStrict(enabled, { enabled: true, principal: { name: 'eve', disabled_at: null } })
  t.hasStrict(await at.json(['principal', 'enable', 'eve']), { enabled: false })
  must(await at.run(login))
  const bob = await at.run(['principal', 'enable', 'bob', '--json'])
  t.strictSame([bob.status, bob.error().code], [5, 'disabled_for_good'])
  t.equal((await at.run(['principal', 'enable', 'nobody'])).status, 6)
  t.strictSame(owners(at.view()), { ada: true, bob: false, eve: true })
})

t.test('an owner that a restore has disabled is disabled for good by a person who says so, and the list tells one from the other', async (t) => {
  const at = await withOwners(t, 'bob', 'eve')
  t.strictSame(await carried(at.open('write'), []), ['bob', 'eve'])
  t.match((await at.run(['principal', 'list'])).stdout, /^bob\tdisabled by a restore\t/m)
  const disabled = await at.json(['principal', 'disable', 'eve', '--yes'])
  t.hasStrict(disabled, { principal: { name: 'eve', disabled_for_good: true } })
  const eve = await at.run(['principal', 'enable', 'eve', '--json'])
  t.strictSame([eve.status, eve.error().code], [5, 'disabled_for_good'])
  t.match((await at.run(['principal', 'list'])).stdout, /^eve\tdisabled for good\t/m)
  const before = at.view().sequence
  must(await at.run(['principal', 'disable', 'eve', '--yes']))
  t.equal(at.view().sequence, before, 'a second time there is nothing to do')
  must(await at.run(['principal', 'enable', 'bob']))
  t.strictSame(owners(at.view()), { ada: true, bob: true, eve: false })
})

t.test('A-070 a restore and a repair carry what the replaced state had narrowed', async (t) => {
  const at = await withOwners(t, 'bob', 'eve')
  must(await at.run(['state', 'backup', 'kept']))
  must(await at.run(['principal', 'disable', 'bob', '--yes']))
  await takenBack(at)
  const restored = await at.json(['state', 'restore', 'kept', '--yes'])
  t.strictSame(restored.owners_to_enable, ['eve'])
  t.strictSame(owners(at.view()), { ada: true, bob: false, eve: false })
  must(await at.run(['login', '--owner', 'ada']))
  t.equal((await at.run(['principal', 'enable', 'bob'])).status, 5, 'for good')
})

t.test('A-070 a restore where no state is lets only the one who restores log in', async (t) => {
  const at = await withOwners(t, 'bob')
  must(await at.run(['state', 'backup', 'kept']))
  lostForGood(at)
  const ran = must(await at.run(['state', 'restore', 'kept', '--owner', 'bob']))
  t.match(ran.stdout, /sallyport principal enable ada/)
  t.strictSame(owners(at.view()), { ada: false, bob: true })
  t.equal((await at.run(['login', '--owner', 'ada'])).status, 4)
  const file = at.place.path('passphrase')
  must(await at.run(['login', '--owner', 'bob', '--passphrase-file', file]))
  must(await at.run(['principal', 'enable', 'ada']))
  must(await at.run(['login', '--owner', 'ada', '--replace']))
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('a restore and a repair for an owner whom nobody has made are refused, and change nothing', async (t) => {
  const at = await withOwners(t, 'bob')
  must(await at.run(['state', 'backup', 'kept']))
  const before = at.view().sequence
  const lines = [['state', 'restore', 'kept', '--yes'], ['state', 'repair']]
  for (const line of lines) {
    const ran = await at.run([...line, '--owner', 'bbo', '--json'])
    t.strictSame([ran.status, ran.error().code], [6, 'principal_not_found'])
    t.equal((await at.run(['state', 'check'])).status, 0)
  }
  t.equal(at.view().sequence, before)
  t.strictSame(owners(at.view()), { ada: true, bob: true })
  lostForGood(at)
  t.equal((await at.run([...lines[0]!, '--owner', 'bbo'])).status, 6, 'nor where no state is')
  must(await at.run([...lines[0]!, '--owner', 'bob']))
})

t.test('a repair of what did not open refuses an owner whom nobody has made once it opens, and goes on for another', async (t) => {
  const at = await withOwners(t, 'bob')
  for (const title of ['one', 'two', 'three']) must(await at.run(['goal', 'add', title]))
  writeFileSync(join(at.place.stateDir, 'STATE'), 'no state')
  const wal = join(at.place.stateDir, 'wal')
  const log = join(wal, readdirSync(wal).filter((name) => name.endsWith('.log')).sort().at(-1)!)
  const bytes = readFileSync(log)
  bytes.fill('x', bytes.indexOf('"two"'), bytes.indexOf('"two"') + 4)
  writeFileSync(log, bytes)
  const ran = await at.run(['state', 'repair', '--owner', 'bbo', '--json'])
  t.strictSame([ran.status, ran.error().code], [6, 'principal_not_found'])
  must(await at.run(['state', 'repair', '--owner', 'bob']))
  t.strictSame(owners(at.view()), { ada: false, bob: true })
})

t.test('A-070 an owner who is enabled again does not bring back the consent that they gave',
  async (t) => {
    const at = await World.in(t).sandbox().state({ owner: 'ada' }).session().alpha().gateway()
    const secret = ['--passphrase-file', at.place.write('passphrase', 'another person')]
    await at.json(['principal', 'add', 'bob', ...secret])
    await carried(at.open('write'), [], 'bob')
    must(await at.run(['login', '--owner', 'bob', ...secret]))
    const reason = async () => (await at.json(['alpha', 'show'])).alpha_text.reason_code
    t.equal(await reason(), 'consent_giver_disabled')
    must(await at.run(['principal', 'enable', 'ada']))
    t.equal(await reason(), 'consent_not_current')
    const { gateway } = await at.show()
    t.equal(gateway.reason_code, 'egress_not_acknowledged')
    t.equal((await at.run(['alpha', 'acknowledge', '--acknowledge-plaintext-egress'])).status, 4)
    t.equal((await at.ask()).status, 4)
    t.equal(at.inferences().length, 0)
    must(await at.run(['state', 'check']))
    must(await at.run([
      'alpha', 'setup', '--enable', '--acknowledge-plaintext-egress',
      '--expected-policy-revision', String(await at.revision()),
    ]))
    must(await at.ask())
    must(await at.run(['state', 'check']))
  })

t.test('A-009 A-070 an owner who is enabled again has acknowledged nothing', async (t) => {
  const at = await World.in(t).sandbox().state({ owner: 'ada' }).session().alpha()
  const secret = ['--passphrase-file', at.place.write('passphrase', 'another person')]
  const asBob = ['login', '--owner', 'bob', '--replace', ...secret]
  await at.json(['principal', 'add', 'bob', ...secret])
  must(await at.run(asBob))
  const acknowledge = ['alpha', 'acknowledge', '--acknowledge-plaintext-egress']
  must(await at.run(acknowledge))
  must(await at.ask())
  must(await at.run(['login', '--owner', 'ada', '--replace']))
  await carried(at.open('write'), [], 'ada')
  must(await at.run(['principal', 'enable', 'bob']))
  must(await at.ask())
  must(await at.run(asBob))
  const refused = await at.ask()
  t.hasStrict(refused.error(), { reason: 'acknowledgment_missing' })
  t.equal(at.inferences().length, 2)
  must(await at.run(acknowledge))
  must(await at.ask())
  must(await at.run(['state', 'check']))
})
