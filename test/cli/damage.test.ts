/** What each verb does over a state whose newest rows cannot be read. */
import { appendFileSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { safeParse } from 'valibot'
import { systemClock } from '../../src/base/clock.js'
import type { Teardown } from '../world/place.js'
import { allRecords } from '../world/program.js'
import type { SignedIn } from '../world/session.js'
import type { Stateful } from '../world/state.js'
import { World } from '../world/world.js'
import type { Placed } from '../world/world.js'
import { flipBit, newestLog } from '../support/state/forge.js'
import { t } from '../support/tests-in-slices.js'

type Begun = Placed & Stateful & SignedIn & {
  readonly goal: string
  readonly hidden: string
  readonly log: string
  readonly row: string
}

/** An owner, two goals, and a session. */
const begun = (t: Teardown) => World.in(t).state().session().with(async (world) => {
  const { id: goal } = await world.json(['goal', 'add', 'water'])
  const rows = await world.json(['audit', 'list'])
  const { id: hidden } = await world.json(['goal', 'add', 'bread'])
  return { goal, hidden, row: String(rows.at(-1).id), log: newestLog(world.place.stateDir) }
})

/** One bit of the last record, which added the second goal. */
const damage = ({ log }: Begun): void => flipBit(log, statSync(log).size - 80, 1)

const verbs = await allRecords()

/** What stands behind the words of a verb that needs more than them. */
const more = ({ goal, row }: Begun): Readonly<Record<string, readonly string[]>> => ({
  'goal add': ['x'], 'goal show': [goal], 'goal close': [goal, '--expected-revision', '1'],
  'goal update': [goal, '--title', 'x', '--expected-revision', '1'],
  'alpha ask': ['-'], 'audit show': [row], 'shots explain': ['x.png'],
  'alpha review': ['task_1', '--approve'], 'task review': ['task_1', '--approve'],
  'ledger review': ['op_1', '--accept'], 'task recover': ['--all'],
  'ledger settle': ['op_1', '--amount-microusd', '1', '--yes'],
  'codehost connect': ['--repo', 'o/r', '--token-file', '-'],
  'codehost mode': ['cnn_1', 'disabled'], 'state prune': ['--older-than', '30d', '--yes'],
  'state destroy': ['--acknowledged-destroy', 'state'],
  'state export': ['--jsonl'],
  'machine invite': ['b', '--to', 'b.invite'],
  'state share': ['postgres://ops@127.0.0.1/sallyport'],
  'codehost consent': [
    'cnn_1', '--action', 'issue.create', '--acknowledge', '--expected-revision', '1',
  ],
  'codehost prepare': ['issue', '--connection', 'cnn_1', '--title', 'x', '--body-file', '-'],
  'codehost approve': ['job_1', '--preview-digest', 'x'], 'codehost run': ['job_1'],
  'codehost publish': ['job_1', '--preview-digest', 'x'],
  'codehost recover reconcile': ['job_1', '--expected-read-revision', '1'],
  'edge pair': ['--file', 'pairing.txt'],
  'edge revoke': ['edge_dev_01890000-0000-7000-8000-000000000000'],
  'edge show': ['edge_art_01890000-0000-7000-8000-000000000000'],
  'gateway setup': ['--disable'], 'gateway prove': ['chat'], 'config save': ['--from', '-'],
  'shots config': ['show'], 'shots reanalyze': ['obs_1', '--reason', 'provider_failure_retry'],
})

const argumentsOf = (world: Begun, name: string): readonly string[] => {
  const given = more(world)[name]
  if (given !== undefined) return given
  const verb = verbs.find(({ meta }) => meta.name === name)
  const needed = [...verb?.usage.matchAll(/<([a-z]+)>/g) ?? []].map(([, word]) => word as string)
  return needed.map((word) => `${word}_1`)
}

t.test('every verb over a damaged state refuses, or marks what is left, or decides itself', async (t) => {
  const world = await begun(t)
  damage(world)
  let asked = 0
  for (const { meta } of verbs) {
    const { name, damage: rule, json } = meta
    if (rule === 'unasked' || rule === 'decides') continue
    asked += 1
    const line = [...name.split(' '), ...argumentsOf(world, name)]
    const options = { stdin: '{}' }
    const text = await world.run(line, options)
    const ran = await world.run([...line, '--json'], options)
    t.strictSame([text.status, ran.status], [12, 12], `${name}: ${text.stderr}`)
    t.equal(ran.error().code, 'log_ambiguous', name)
    t.match(text.stderr, /^sallyport: The last record of the log is whole but untrue\. .*\n/, name)
    if (rule === 'refuses') t.strictSame([text.stdout, ran.stdout], ['', ''], name)
    if (rule !== 'shows') continue
    if (name !== 'shots list') t.not(text.stdout, '', `${name} shows what is left`)
    const marked = safeParse(json?.output as never, {}).issues
      ?.some(({ expected }) => expected === 'Array')
    if (marked === true) t.equal(ran.stdout, '', `${name}: a list has no room for the mark`)
    else t.hasStrict(ran.json(), { damage: { code: 'log_ambiguous' } }, name)
  }
  t.ok(asked > 50, `${asked} verbs were asked`)
})

t.test('what opens no store or mends it is named, and nothing else goes unasked', async (t) => {
  const of = (rule: string): string[] =>
    verbs.filter(({ meta }) => meta.damage === rule).map(({ meta }) => meta.name).sort()
  t.strictSame(of('decides'), ['policy revoke', 'state backup'])
  t.strictSame(of('unasked'), [
    'at add', 'at list', 'at remove',
    'completion', 'demo', 'doctor', 'edge capture', 'edge daemon', 'help', 'init',
    'machine join',
    'receipt verify',
    'sandbox fault', 'sandbox faults', 'sandbox samples', 'sandbox start', 'sandbox status',
    'sandbox stop',
    'schema', 'state check', 'state kept', 'state path', 'state repair', 'state restore',
    'state verify',
    'timers remove',
  ])
  const money = ['ledger', 'policy', 'config', 'task', 'alpha', 'session', 'principal', 'gateway']
  for (const { noun, meta } of verbs) {
    if (meta.name === 'policy revoke' || !money.includes(noun ?? '')) continue
    t.equal(meta.damage, 'refuses', meta.name)
  }
})

t.test('a row that the damage hides is told as damage, not as one that never was', async (t) => {
  const world = await begun(t)
  damage(world)
  const shown = await world.run(['goal', 'show', world.goal, '--json'])
  t.hasStrict(
    [shown.status, shown.json()], [12, { title: 'water', damage: { code: 'log_ambiguous' } }]
  )
  const absent = await world.run(['goal', 'show', world.hidden, '--json'])
  t.strictSame([absent.status, absent.error().code], [12, 'log_ambiguous'], 'and not as not found')
})

t.test('a watch shows no further screen once the state is damaged, and its result is marked', async (t) => {
  const world = await begun(t)
  const stop = new AbortController()
  let naps = 0
  const clock = {
    ...systemClock,
    async sleep() {
      naps += 1
      if (naps > 1) return stop.abort()
      await world.json(['goal', 'add', 'salt'])
      damage(world)
    },
  }
  const ran = await world.run(['status', '--watch'], { clock, stop: stop.signal })
  t.strictSame([ran.status, naps], [12, 1])
  t.match(ran.stderr, 'What is shown is only what is left.')
  t.equal(ran.stdout.split('\n').filter((line) => line.startsWith('state ')).length, 2)
})

t.test('a session whose row is behind the damage is told as damage, not as invalid', async (t) => {
  const world = await World.in(t).state()
  await world.json(['login'])
  const log = newestLog(world.place.stateDir)
  flipBit(log, statSync(log).size - 80, 1)
  for (const line of [['session', 'show'], ['audit', 'list'], ['goal', 'list']]) {
    const ran = await world.run([...line, '--json'])
    t.strictSame([ran.status, ran.error().code], [12, 'log_ambiguous'], line.join(' '))
  }
})

t.test('a torn last record is told on stderr by reads, and cut by the next write, which says so', async (t) => {
  const world = await begun(t)
  appendFileSync(world.log, '#c 00000')
  const read = await world.run(['goal', 'list'])
  t.equal(read.status, 0)
  t.match(read.stderr, /^log_torn: .*no process is known to have ended behind it/m)
  t.equal((await world.run(['goal', 'list', '--quiet'])).stderr, '')
  const wrote = await world.run(['goal', 'add', 'bread', '--json'])
  t.equal(wrote.status, 0)
  const cut = /^torn_tail_cut: A torn last record \(8 bytes\) was cut: no process is known/m
  t.match(wrote.stderr, cut)
  t.equal((await world.run(['goal', 'list'])).stderr, '')
})

t.test('damage anywhere in the newest log is never answered with older rows and no word', async (t) => {
  const world = await begun(t)
  const bytes = readFileSync(world.log)
  const header = bytes.indexOf(0x0a)
  const silent: string[] = []
  let kept = 0
  for (let at = 0; at < bytes.length; at += at < header ? 17 : 83) {
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8))
    writeFileSync(world.log, flipped)
    const ran = await world.run(['status', '--json'])
    if (ran.status !== 12 || ran.stderr === '') silent.push(`${at}: ${ran.status}`)
    if (at < header) kept += ran.json().tasks === undefined ? 0 : 1
  }
  t.strictSame(silent, [])
  t.ok(kept > 10, 'a flipped header loses no row')
})

t.test('a manifest that is flipped or cut is told with exit 12; one that is gone costs nothing', async (t) => {
  const world = await begun(t)
  await world.json(['state', 'compact'])
  await world.json(['goal', 'add', 'bread'])
  const folder = join(world.place.stateDir, 'collections')
  const name = readdirSync(folder).filter((one) => one.startsWith('manifest.')).sort().at(-1)
  const path = join(folder, name as string)
  const bytes = readFileSync(path)
  const broken: readonly [string, () => void][] = [
    ['flipped', () => writeFileSync(path, Buffer.from(bytes).fill(0x20, 20, 21))],
    ['cut', () => writeFileSync(path, bytes.subarray(0, bytes.length - 1))],
  ]
  const goals = await world.json(['goal', 'list'])
  for (const [what, breakIt] of broken) {
    breakIt()
    const shown = await world.run(['status', '--json'])
    t.hasStrict(
      [shown.status, shown.json()], [12, { damage: { code: 'generation_damaged' } }], what
    )
    const refused = await world.run(['ledger', 'show', '--json'])
    t.strictSame([refused.status, refused.stdout, refused.error().code],
      [12, '', 'generation_damaged'], what)
    writeFileSync(path, bytes)
  }
  rmSync(path)
  t.equal((await world.run(['status'])).status, 0, 'the one before and the logs say the same')
  t.strictSame(await world.json(['goal', 'list']), goals)
})
