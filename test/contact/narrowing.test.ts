/** Commands that close something while it leaves: they stop it, and say what had left before. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { routePlaces } from '../../src/fabric/places.js'
import { saveGateway } from '../../src/gateway/save.js'
import { parseGatewayInput } from '../../src/gateway/setup.js'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { collections } from '../../src/governance/rows.js'
import { saveShotsConfig } from '../../src/shots/source/config.js'
import { newestTask } from '../support/board.js'
import { checkLedger } from '../support/ledger.js'
import { must } from '../support/must.js'
import {
  analysisMark, askNarrowings, chargeOf, closeWhileLeaving, imageNarrowings, largeImage,
  leavingPicture,
  prepareNarrowing, routeNarrowings, settleUnknown,
} from '../support/narrowing.js'
import { betweenLookAndClaim, rowOf, scan, sent, set } from '../support/shots.js'
import { holdWrites } from '../support/net/held-writes.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'
import { World, type AnalysisWorld } from '../world/world.js'

const narrowings = { ...imageNarrowings, ...routeNarrowings }
for (const [name, narrowing] of Object.entries(narrowings)) {
  const { close, open, keeps = false, below = '.' } = narrowing
  t.test(`S-017 S-021 S-168 nothing more of a picture leaves once ${name} has answered`,
    async (t) => {
      const world = await leavingPicture(t)
      await prepareNarrowing(world, narrowing)
      const seen = await closeWhileLeaving(world, narrowing, {
        opened: (left) => left < 3,
        begun: (writes) => until('the fourth piece waits', () => writes.begun() > 3),
      })
      must(seen.closed)
      t.ok(seen.leftBefore > 0)
      t.equal(seen.leftAfter, 0, 'bytes after the answer')
      const { analyzer, payload, analysis_status: status } = rowOf(world, seen.name)
      t.strictSame([status, analyzer.contact, payload], ['failed', 'uncertain', null])
      t.equal(chargeOf(world, seen.name), 'unknown', 'the full bound stays held')
      t.strictSame(seen.closed.json().requests, [
        { operation_id: analyzer.operation_id, task_id: null, sent: 'partly' },
      ])
      t.match(seen.closed.stderr,
        `1 request was cut off while it was being sent: operation ${analyzer.operation_id}`)
      await open(world)
      const calls = sent(world)
      await world.run(['shots', 'analyze', '--json'])
      t.equal(sent(world), calls, 'it is never sent again by itself')
      world.file('later.png', largeImage())
      await scan(world)
      t.hasStrict(must(await world.run(['shots', 'analyze', '--json'])).json(), { analyzed: 1 },
        'what is opened again is not covered')
      await settleUnknown(world, seen.name)
      checkLedger(t, world)
    })

  const fate = keeps ? 'is used' : 'is dropped, an earlier one kept,'
  t.test(`S-168 a reply that was paid for whole ${fate} after ${name}`,
    async (t) => {
      let happens: (() => Promise<unknown>) | null = null
      const world: AnalysisWorld = await leavingPicture(t, { hooks: {
        onRequest: async (service, { body }) => {
          if (service === 'gateway' && body.includes(analysisMark)) await happens?.()
        },
      } })
      await prepareNarrowing(world, narrowing)
      const picture = join(below, 'seen.png')
      world.file(picture, largeImage())
      await scan(world)
      must(await world.run(['shots', 'analyze', '--json']))
      const { payload } = rowOf(world, picture)
      t.not(payload, null)
      let requests: unknown
      happens = async () => {
        happens = null
        requests = must(await world.run([...await close(world)])).json().requests
      }
      await world.run([
        'shots', 'reanalyze', world.rows()[0]?.observation_id ?? '', '--json',
        '--reason', 'manual_operator_request',
      ])
      const row = rowOf(world, picture)
      t.strictSame(requests, [
        { operation_id: row.analyzer.operation_id, task_id: null, sent: 'wholly' },
      ])
      t.equal(chargeOf(world, picture), 'settled', 'the charge stands')
      t.hasStrict(row, {
        analysis_status: keeps ? 'succeeded' : 'failed', analyzer: { contact: 'ended' },
      })
      if (!keeps) t.strictSame(row.payload, { ...payload, earlier: true }, 'the text of before')
      checkLedger(t, world)
    })
}

t.test('S-021 a stopped process that holds a piece is named by a save that closes, status 11',
  async (t) => {
    const world = await leavingPicture(t)
    world.file('held.png', largeImage())
    await scan(world)
    const go = world.place.path('go')
    let pid = 0
    let signal = (_name: NodeJS.Signals): void => undefined
    const analyzing = world.place.spawn(['shots', 'analyze', '--json'], {
      env: { HELD_WRITES_GO_FILE: go },
      nodeArgs: ['--import', new URL('../support/net/held-writes.js', import.meta.url).href],
      onChild: (child) => {
        pid = child.pid ?? 0
        signal = (name) => child.kill(name)
      },
    })
    t.teardown(() => signal('SIGCONT'))
    const fences = join(world.place.stateDir, 'run', 'fence')
    await until('the request waits to be written', () =>
      existsSync(fences) && readdirSync(fences).some((name) =>
        readFileSync(join(fences, name), 'utf8').includes('"begun"')))
    signal('SIGSTOP')
    const closed = await world.run(['shots', 'config', 'set', '--json', '--cloud-upload', 'off'])
    t.equal(closed.status, 11, closed.stderr)
    t.hasStrict(closed.error(), { code: 'contact_under_way', details: { pid } })
    t.equal((await world.json(['shots', 'config', 'show'])).settings.cloud_upload.value, 'off')
    signal('SIGCONT')
    await until('it was cut off', () => readdirSync(fences).length === 0)
    writeFileSync(go, '')
    await analyzing
    t.equal(sent(world), 0, 'it saw the stop when it woke')
  })

/** Each way to put a stop, put by a process that a slow disk keeps from looking at once. */
const slowly = {
  'a save': ['shots', 'config', 'set', '--cloud-upload', 'off'],
  'an act upon people': ['principal', 'disable', 'owner', '--yes'],
  'a revoke': ['policy', 'revoke'],
} as const
for (const [name, line] of Object.entries(slowly)) {
  t.test(`S-021 A-074 what ${name} cut off is named, also where it has ended before anybody looks`,
    async (t) => {
      const world = await leavingPicture(t)
      must(await world.run(['principal', 'add', 'other', '--passphrase-file',
        world.place.write('passphrase', 'another person')]))
      world.file('leaving.png', largeImage())
      await scan(world)
      const writes = holdWrites(t, () => writes.left.length < 3)
      const analyzing = world.run(['shots', 'analyze', '--json'])
      await until('the fourth piece waits', () => writes.begun() > 3)
      const closed = must(await world.place.spawn([...line, '--json'], {
        env: { LATE_LOOK_FENCES: join(world.place.stateDir, 'run', 'fence') },
        nodeArgs: ['--import', new URL('../support/children/late-look.js', import.meta.url).href],
      }))
      await analyzing
      const { analyzer: { operation_id: operation, contact } } = rowOf(world, 'leaving.png')
      t.equal(contact, 'uncertain')
      t.strictSame(closed.json().requests,
        [{ operation_id: operation, task_id: null, sent: 'partly' }])
    })
}

t.test('S-021 an image that waits goes nowhere once another folder was chosen, and is not blamed',
  async (t) => {
    const world = await leavingPicture(t)
    await prepareNarrowing(world, {
      close: () => [], open: () => Promise.resolve(),
    })
    world.file('waits.png', largeImage())
    await scan(world)
    const ran = await world.run(['shots', 'analyze', '--json'], {
      at: async (at) => {
        if (at !== 'analyze.reserved') return
        await set(world, '--folder', world.place.path('elsewhere'))
      },
    })
    t.equal(sent(world), 0, ran.stderr)
    t.hasStrict(rowOf(world, 'waits.png'), {
      analysis_status: 'pending', analyzer: { contact: 'none' },
    })
    checkLedger(t, world)
  })

/** How pictures are sent one after the other; of a pass those not read ahead are let alone. */
const passes = {
  'a pass': { before: [], line: ['shots', 'analyze'], skipped: 2 },
  'a bulk that a person asked for': {
    before: [['gateway', 'setup', '--disable'], ['shots', 'analyze']],
    line: ['shots', 'reanalyze', '--blocked', '--reason', 'manual_operator_request', '--yes'],
    skipped: 3,
  },
} as const
for (const [name, { before, line, skipped }] of Object.entries(passes)) {
  t.test(`S-021 S-162 no later image of ${name} leaves once another folder was chosen`,
    async (t) => {
      const world = await leavingPicture(t)
      mkdirSync(world.place.path('elsewhere'))
      for (const file of ['first.png', 'second.png', 'third.png']) world.file(file, largeImage())
      await scan(world)
      for (const one of before) await world.run([...one])
      if (before.length > 0) must(await world.widen(['--enable', '--consent', 'gateway.vision']))
      const calls = sent(world)
      let chosen = false
      const ran = await world.run([...line, '--json'], {
        at: async (at) => {
          if (at !== 'analyze.reserved' || chosen) return
          chosen = true
          await set(world, '--folder', world.place.path('elsewhere'))
        },
      })
      t.ok(chosen)
      t.equal(sent(world), calls, ran.stderr)
      t.hasStrict(ran.json(), { skipped, items: [] })
      t.strictSame(world.rows().map(({ analyzer: { contact } }) => contact),
        ['none', 'none', 'none'])
      t.equal(world.rows().reduce((sum, { analyzer }) => sum + analyzer.attempts, 0), 1,
        'nothing is claimed for the others')
      checkLedger(t, world)
    })
}

t.test('S-184 settings that somebody saved in between are not closed without a stop', async (t) => {
  const world = await leavingPicture(t)
  const session = world.session()
  for (const name of ['elsewhere', 'third']) mkdirSync(world.place.path(name))
  const ctx = betweenLookAndClaim(world, () =>
    set(world, '--folder', world.place.path('elsewhere')))
  await prepareNarrowing(world, { close: () => [], open: () => Promise.resolve() })
  await t.rejects(saveShotsConfig(ctx, session, { screenshot_folder: world.place.path('third') }),
    { code: 'settings_changed' })
  t.equal((await world.json(['shots', 'config', 'show'])).folder.saved_folder,
    world.place.path('elsewhere'))
})

for (const [name, { close }] of Object.entries(askNarrowings)) {
  t.test(`A-074 A-168 nothing of a question leaves once ${name} has answered`, async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const writes = holdWrites(t)
    const asking = rig.ask()
    await until('the request waits to be written', () => writes.begun() > 0)
    const closed = must(await rig.run([...await close(rig)]))
    writes.go()
    const asked = await asking
    t.not(asked.status, 0)
    t.strictSame(writes.left, [])
    t.equal(rig.inferences().length, 0, 'no byte came to the provider')
    const { task_id: task, operation_id: operation } = newestTask(rig)
    t.strictSame(closed.json().requests, [
      { operation_id: operation, task_id: task, sent: 'partly' },
    ])
    t.equal(findReservation(rig.view(), operation)?.state, 'unknown', 'the full bound stays held')
    checkLedger(t, rig)
  })
}

t.test('A-074 a save that is superseded leaves its stop refused, and what is enabled stays so',
  async (t) => {
    const world = await leavingPicture(t)
    const ran = await world.run(['gateway', 'setup', '--remove-slot', 'report', '--json'], {
      at: async (at) => {
        if (at === 'save.revoked') must(await world.run(['policy', 'revoke']))
      },
    })
    t.equal(ran.error().code, 'policy_moved', ran.stderr)
    t.hasStrict(world.view().all(collections.stops).map(({ doc }) => doc)
      .filter(({ kind }) => kind === 'gateway_slot'),
    [{ target: 'report', outcome: 'refused', reason: 'save_not_made' }])
  })

t.test('A-074 a route that somebody enabled in between is not disabled without a stop',
  async (t) => {
    const world = await leavingPicture(t)
    must(await world.run(['gateway', 'setup', '--disable', '--json']))
    const { gov } = betweenLookAndClaim(world, () => must(world.widen(['--enable'])))
    const place = routePlaces(gov).gateway
    await t.rejects(saveGateway(gov, world.session(), place, {
      input: parseGatewayInput({ enabled: false, slots: { report: null } }),
      expectedPolicyRevision: null,
    }, []), { code: 'policy_moved' })
    t.equal((await world.show()).gateway.enabled, true)
  })

t.test('A-074 a save that died between its stop and its record leaves everything as it was',
  async (t) => {
    const world = await leavingPicture(t)
    const line = ['gateway', 'setup', '--disable', '--json']
    const killed = await world.place.spawn(line, {
      entry: 'test', coverage: false, env: { TEST_STOP_AT: 'save.stopped' },
    })
    t.equal(killed.status, 137, killed.stderr)
    world.file('after.png', largeImage())
    await scan(world)
    t.hasStrict(must(await world.run(['shots', 'analyze', '--json'])).json(), { analyzed: 1 })
    t.equal((await world.show()).gateway.enabled, true)
    checkLedger(t, world)
  })
