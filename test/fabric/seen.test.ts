/** What a dead process left is told by whoever only reads, and nothing is written for it. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { interruptedCount, seenNow } from '../../src/fabric/seen.js'
import { collections } from '../../src/governance/rows.js'
import type { Store } from '../../src/state/types.js'
import { closing } from '../support/codehost/closing.js'
import { working } from '../support/codehost/working.js'
import { failure, must } from '../support/must.js'
import { largeImage, leavingPicture } from '../support/narrowing.js'
import { scan } from '../support/shots.js'
import { serving } from '../support/service/serving.js'
import { limits, question } from '../world/alpha.js'
import type { Loose } from '../world/place.js'
import { World, type AlphaWorld, type Placed } from '../world/world.js'

const askingWorld = (t: Parameters<typeof World.in>[0]): PromiseLike<AlphaWorld> =>
  World.in(t).sandbox().state().session().alpha()

const killedAt = async ({ place }: Placed, step: string, argv: readonly string[]) => {
  const { status } = await place.spawn(argv, {
    entry: 'test', coverage: false, stdin: question, env: { TEST_STOP_AT: step },
  })
  if (status !== 137) throw new Error(`it ended with ${status}`)
}

/** Every byte of the state, by a digest of each file but what says when a session was last used. */
const bytesOf = ({ place }: Placed): readonly string[] =>
  readdirSync(place.stateDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('session'))
    .map((path) => `${path} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`)
    .sort()

const notesOf = async (world: Placed): Promise<readonly string[]> =>
  ((await world.json(['doctor'])).checks as Loose[])
    .filter(({ name }) => name === 'interrupted' || name === 'charges').map(({ text }) => text)

/** What only the record that is written gives: its moment, and the ids of its rows. */
const ofTheRecord: ReadonlySet<string> = new Set(['updated_at', 'ledger_row_id', 'ledger_ref'])

/** All that a reader is told of tasks and money, without what only the record gives. */
const told = async (world: Placed): Promise<unknown> => {
  const lines = [
    ['task', 'list'], ['alpha', 'tasks'], ['ledger', 'show'], ['ledger', 'reservations'],
  ]
  const [list, ...rest] = await Promise.all(lines.map((line) => world.json(line)))
  const shown = await Promise.all(
    list.map(({ id }: Loose) => world.json(['task', 'show', id])))
  const text = JSON.stringify([list, ...rest, ...shown], (key, value: unknown) =>
    (ofTheRecord.has(key) ? undefined : value))
  return JSON.parse(text)
}

t.test('A-122 an ask that died behind its contact mark is told by every reader as unknown and interrupted, as the next command records it, and no byte is written', async (t) => {
  const world = await askingWorld(t)
  await killedAt(world, 'ask.contact_intent', ['alpha', 'ask', '-'])
  const before = bytesOf(world)
  const status = await world.json(['status'])
  t.strictSame(status.attention, {
    unknown_charges: 1, overrun_reviews: 0, unknown_effects: 0, interrupted: 1,
  })
  t.strictSame(status.tasks, { blocked: 1 })
  t.hasStrict(status.ledger, { held_microusd: 0, unknown_microusd: limits.boundMicrousd })
  t.match((await world.run(['status'])).stdout, /cut off {4}1 operation[^]*What one call cost is not known/)
  t.strictSame(await notesOf(world), [
    '1 operation ended with its process; the next command that writes records it',
    '1 unknown charge and 0 overruns wait for a person',
  ])
  const check = await world.run(['status', '--check', '--json'])
  t.equal(check.status, 7)
  t.equal(check.json().attention.unknown_charges, 1)
  t.hasStrict(check.error(), {
    code: 'attention_needed', details: { unknown_charges: 1 },
    next: [{ command: 'sallyport ledger reservations', needs_person: false }],
  })
  const seen = await told(world)
  const [{ id }] = await world.json(['alpha', 'tasks'])
  const answer = async () => (await world.run(['alpha', 'output', id, '--json'])).error()
  const withheld = await answer()
  t.hasStrict(withheld, { code: 'output_withheld', reason: 'alpha_cost_readback_required' })
  t.strictSame(bytesOf(world), before)
  t.equal(world.view().all(collections.openReservations)[0]?.doc.state, 'contacted')
  const service = await serving(t, world)
  t.equal((await service.get('/api/work-board/tasks'))[0].blocked.reason,
    'alpha_cost_readback_required')
  t.hasStrict((await service.get('/api/overview')).waiting, [{ what: 'unknown_charge', count: 1 }])
  t.equal((await service.get('/api/status')).attention.interrupted, 1)
  t.hasStrict((await service.get('/api/ledger')).ledger, {
    held_microusd: 0, unknown_microusd: limits.boundMicrousd,
  })
  t.hasStrict(await service.get('/api/ledger/reservations'), [{ state: 'unknown' }])
  await service.stop()
  must(await world.run(['goal', 'add', 'Recovered by the way']))
  t.strictSame([await told(world), await answer()], [seen, withheld], 'as it was recorded then')
  t.equal((await world.json(['status'])).attention.interrupted, 0)
  t.equal(world.inferences().length, 0)
})

t.test('S-168 an image whose analysis died behind its contact mark is told as failed and uncertain by every reader, and no byte is written', async (t) => {
  const world = await leavingPicture(t)
  world.file('a.png', largeImage())
  await scan(world)
  await killedAt(world, 'analyze.contact_intent', ['shots', 'analyze'])
  const before = bytesOf(world)
  const check = await world.run(['status', '--check', '--json'])
  t.equal(check.status, 7)
  t.hasStrict(check.json().attention, { unknown_charges: 1, interrupted: 1 })
  const [listed] = await world.json(['shots', 'list'])
  t.hasStrict(listed, { analysis_status: 'failed', reason: 'interrupted_after_contact' })
  const shown = await world.json(['shots', 'show', listed.observation_id])
  t.equal(shown.analyzer.contact, 'uncertain')
  t.hasStrict(await world.json(['ledger', 'reservations']), [{ state: 'unknown' }])
  t.match((await world.run(['shots', 'status'])).stdout, '1 failed (interrupted_after_contact)')
  t.strictSame(bytesOf(world), before)
  must(await world.run(['goal', 'add', 'Recovered by the way']))
  const row = await world.json(['shots', 'show', listed.observation_id])
  delete row.analyzer.updated_at
  t.hasStrict(shown, row, 'as it was recorded then')
})

t.test('an ask that died before its contact mark waits for nobody: it is told as failed, with nothing held', async (t) => {
  const world = await askingWorld(t)
  await killedAt(world, 'ask.reserved', ['alpha', 'ask', '-'])
  const { attention, tasks, ledger } = must(await world.run(['status', '--check', '--json'])).json()
  t.strictSame(attention, {
    unknown_charges: 0, overrun_reviews: 0, unknown_effects: 0, interrupted: 1,
  })
  t.strictSame(tasks, {})
  t.equal(ledger.held_microusd, 0)
  t.hasStrict(await world.json(['task', 'list']), [
    { state: 'failed', reason: 'interrupted_before_contact' },
  ])
})

t.test('what a living process works on is told as running, also by whoever looked while it ended', async (t) => {
  const world = await askingWorld(t)
  let stale: ReturnType<Store['rehearse']> | undefined
  must(await world.ask({
    at: async (step) => {
      if (step !== 'ask.replied') return
      const { tasks, attention } = must(await world.run(['status', '--check', '--json'])).json()
      t.strictSame([tasks, attention.interrupted], [{ running: 1 }, 0])
      stale = world.gov.store.rehearse()
    },
  }))
  const { store } = world.gov
  const looks = new Proxy(store, {
    get(target, name) {
      if (name === 'rehearse') {
        return () => {
          const given = stale ?? target.rehearse()
          stale = undefined
          return given
        }
      }
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  const seen = await seenNow({ ...world.gov, store: looks })
  t.equal(interruptedCount(seen), 0)
  t.strictSame(seen.gov.store.read().all(collections.openTasks), [])
})

t.test('status --check ends with 7 for an overrun and for an effect that nobody read back, and with 0 once they are settled', async (t) => {
  const world = await askingWorld(t)
  must(await world.run(['status', '--check']))
  world.sandbox.faults.set('billing_overrun', { service: 'provider' })
  const { operation_id: operation } = (await world.ask()).error().details
  t.strictSame(failure(await world.run(['status', '--check', '--json'])).code, 'attention_needed')
  must(await world.run(['ledger', 'review', operation, '--accept']))
  must(await world.run(['status', '--check']))
  t.strictSame(failure(await world.run(['status', '--check', '--watch', '--json'])), {
    status: 2, code: 'watch_or_check', out: '',
  })

  const at = await working(t)
  const job = await at.approved()
  await killedAt(at, 'codehost.created', ['codehost', 'run', job])
  const found = await at.run(['status', '--check', '--json'])
  t.equal(found.status, 7)
  t.hasStrict(found.error().next, [
    { command: 'sallyport codehost jobs --state unknown_external_effect' },
  ])
  t.hasStrict(found.json().codehost, { status: 'blocked', reason_code: 'unknown_external_effect' })
  t.equal((await at.json(['codehost', 'preview', job])).state, 'unknown_external_effect')
  must(await at.reconcile(job))
  must(await at.run(['status', '--check']))
})

t.test('an effect whose capacity was closed by proof waits for nobody any more', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Unknown', 'numbered')
  t.equal((await at.run(['status', '--check'])).status, 7)
  must(await at.close(job, at.request(job)))
  t.hasStrict(must(await at.run(['status', '--check', '--json'])).json().codehost, {
    status: 'configured', reason_code: null,
  })
})
