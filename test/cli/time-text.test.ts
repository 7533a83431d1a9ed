/** Times for people: how long ago on a terminal, exact in a pipe, in JSON and with `--utc`. */
import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { isoFromMs } from '../../src/base/clock.js'
import type { CliDeps } from '../../src/cli/deps.js'
import { scanGlobals } from '../../src/cli/globals.js'
import { olderNamesOf } from '../../src/cli/commands/older.js'
import { commands } from '../../src/cli/commands/table.js'
import { viewOf, type View } from '../../src/cli/output.js'
import { resultSchema } from '../../src/cli/schemas.js'
import { relativeTime } from '../../src/cli/time-text.js'
import type { VerbDeps, VerbRecord } from '../../src/cli/verb.js'
import { zoneOf } from '../../src/observations/zone.js'
import { stillClock } from '../support/clock.js'
import { converse, needsScript } from '../support/cli/pseudo-terminal.js'
import { forAll } from '../support/for-all.js'
import { must } from '../support/must.js'
import { taskAt } from '../support/tasks.js'
import { t } from '../support/tests-in-slices.js'
import type { Loose } from '../world/place.js'
import { sessionOf } from '../world/session.js'
import { World } from '../world/world.js'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const noon = Date.UTC(2026, 10, 20, 12)

/** What is told at a moment of one that lies so far from it. */
const told = (deltaMs: number, nowMs = noon, zone = 'UTC'): string =>
  relativeTime(isoFromMs(nowMs + deltaMs), nowMs, () => zoneOf(zone))

t.test('seconds, minutes and hours change at their bounds, and no time is told as older than it is', (t) => {
  t.strictSame([
    0, -999, -second, -59_999, -minute, -59 * minute, -hour + 1, -hour, -23 * hour, -day + 1,
  ].map((ms) => told(ms)), [
    'now', 'now', '1 s ago', '59 s ago', '1 min ago', '59 min ago', '59 min ago', '1 h ago',
    '23 h ago', '23 h ago',
  ])
  t.end()
})

t.test('what lies ahead, also because the clock was put back, is told with `in`', (t) => {
  t.strictSame([999, second, 59_999, minute, hour, day - 1, day, 2 * day, 6 * day, 7 * day]
    .map((ms) => told(ms)), [
    'now', 'in 1 s', 'in 59 s', 'in 1 min', 'in 1 h', 'in 23 h', 'tomorrow 12:00', 'in 2 days',
    'in 6 days', '2026-11-27',
  ])
  t.end()
})

t.test('from 24 hours on the calendar of the zone decides, and from a week on the day is told', (t) => {
  t.strictSame([-day, -36 * hour, -36 * hour - 1, -6 * day, -7 * day + 1, -7 * day]
    .map((ms) => told(ms)), [
    'yesterday 12:00', 'yesterday 00:00', '2 days ago', '6 days ago', '2026-11-13', '2026-11-13',
  ])
  // One in the morning of the next day in Auckland: the same moment is of another day there.
  t.equal(told(-26 * hour, noon, 'Pacific/Auckland'), '2 days ago')
  t.equal(told(-25 * hour, noon, 'America/Los_Angeles'), 'yesterday 03:00')
  t.equal(told(-30 * day, noon, 'Pacific/Auckland'), '2026-10-22')
  t.end()
})

t.test('a day of 25 hours and one of 23 are days of the calendar all the same', (t) => {
  const berlin = 'Europe/Berlin'
  // On 25 October 2026 clocks in Berlin go back from 3 to 2.
  const late = Date.UTC(2026, 9, 25, 22, 50)
  t.equal(told(-day, late, berlin), '24 h ago', 'ten past midnight of the same day')
  t.equal(told(day, late - day, berlin), 'in 24 h')
  t.equal(told(-25 * hour, late, berlin), 'yesterday 23:50')
  // On 29 March 2026 they go forward: from Saturday 23:45 on 24 hours later it is Monday.
  const monday = Date.UTC(2026, 2, 29, 22, 45)
  t.equal(told(-day, monday, berlin), '2 days ago')
  t.equal(told(-day + hour, monday, berlin), '23 h ago')
  t.end()
})

t.test('what is no time is given back as it is, and the zone is asked for above a day alone', (t) => {
  t.equal(relativeTime('the end', noon, () => zoneOf('UTC')), 'the end')
  const unasked = (): never => { throw new Error('asked for') }
  t.equal(relativeTime(isoFromMs(noon - day + 1), noon, unasked), '23 h ago')
  t.throws(() => relativeTime(isoFromMs(noon - day), noon, unasked), { message: 'asked for' })
  t.equal(told(-day, noon, 'Nowhere/Known'), 'yesterday 12:00', 'an unknown zone counts as UTC')
  t.end()
})

const relativeForm = /^(now|(in )?\d+ (s|min|h|days)( ago)?|(yesterday|tomorrow) \d\d:\d\d)$/
const dayForm = /^\d{4}-\d{2}-\d{2}$/

t.test('every moment has one form, and the span that is told is never longer than the true one', (t) => {
  const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/Los_Angeles', 'Asia/Kathmandu')
  const moment = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2099, 0) })
  const span = fc.oneof(fc.integer({ min: -9 * day, max: 9 * day }), fc.integer({
    min: -400 * day, max: 400 * day,
  }))
  const unitsMs: Readonly<Record<string, number>> = { s: second, min: minute, h: hour }
  forAll(t, fc.property(moment, span, zones, (nowMs, deltaMs, zone) => {
    const text = told(deltaMs, nowMs, zone)
    if (dayForm.test(text)) return Math.abs(deltaMs) > 6 * day - 2 * hour
    if (!relativeForm.test(text)) return false
    if (Math.abs(deltaMs) >= second && text.startsWith('in ') === text.endsWith(' ago')) {
      if (!/^(yesterday|tomorrow)/.test(text)) return false
    }
    const [, count = '', unit = ''] = /(\d+) (s|min|h)\b/.exec(text) ?? []
    const unitMs = unitsMs[unit]
    if (unitMs === undefined) return true
    const over = Math.abs(deltaMs) - Number(count) * unitMs
    return over >= 0 && over < unitMs
  }))
  t.end()
})

/** A document that a schema describes; every time in it is this one. */
const madeOf = (schema: Loose, name: string, at: string): unknown => {
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.anyOf !== undefined) {
    const one = schema.anyOf.find(({ type }: Loose) => type !== 'null')
    return madeOf(one, name, at)
  }
  if (schema.type === 'object') {
    return Object.fromEntries(Object.entries(schema.properties ?? {})
      .map(([key, one]) => [key, madeOf(one as Loose, key, at)]))
  }
  if (schema.type === 'array') return [madeOf(schema.items ?? {}, name, at)]
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  if (schema.type === 'boolean') return false
  return /(^|_)at$|^(first|last)_seen$|^window_/.test(name) ? at : 'text'
}

const isoForm = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/

const viewAt = (terminal: boolean, argv: readonly string[] = []): View => viewOf({
  clock: stillClock(noon), env: { TZ: 'UTC' },
  io: { terminal: { stdin: terminal, stdout: terminal, stderr: terminal }, columns: 400 },
} as unknown as CliDeps, scanGlobals(argv).globals, [])

const shownBy = async (text: unknown): Promise<string> => {
  const made = await text
  return typeof made === 'string' ? made : String((made as { out: unknown }).out)
}

/** Every verb whose document has a time, with a document of it. */
const verbsWithTimes = async () => {
  const records = new Map<string, VerbRecord>()
  for (const one of commands) {
    if ('load' in one) records.set(one.verb, await one.load())
    else for (const entry of one.verbs) records.set(`${one.noun} ${entry.verb}`, await entry.load())
  }
  // What a flag of another verb makes of it has times of its own.
  for (const { name, load } of olderNamesOf(commands)) {
    const record = await load()
    if (![...records.values()].includes(record)) records.set(name, record)
  }
  return [...records].flatMap(([name, record]) => {
    if (record.json === null) return []
    const schema: Loose = resultSchema(record.json)
    const document = madeOf(schema, '', isoFromMs(noon - 3 * minute))
    return JSON.stringify(document).includes(isoFromMs(noon - 3 * minute))
      ? [{ name, record, document, isList: schema['type'] === 'array' }] : []
  })
}

/** They ask for files, or have times in more forms than one: tests of their own show them. */
const shownElsewhere = new Set(['shots day', 'shots report'])

/** Lists with a time that stays exact beside others: until when one may write, ends of a window. */
const exactBeside = new Set(['codehost connections', 'codehost grants', 'shots digests'])

const ago = /\b(\d+ (s|min|h|days) ago|in \d+ (s|min|h|days)|yesterday|tomorrow)\b/

t.test('each list with times tells them relative on a terminal, and exact in a pipe and with --utc', async (t) => {
  const lists: string[] = []
  for (const { name, record, document, isList } of await verbsWithTimes()) {
    if (shownElsewhere.has(name)) continue
    const shown = (view: View): Promise<string> =>
      shownBy(record.text(document, view, {} as VerbDeps))
    const piped = await shown(viewAt(false))
    t.notMatch(piped, ago, `${name} in a pipe`)
    t.notMatch(await shown(viewAt(true, ['--utc'])), ago, `${name} --utc`)
    if (!isList || !isoForm.test(piped)) continue
    lists.push(name)
    const seen = await shown(viewAt(true))
    if (name !== 'codehost connections') t.match(seen, '3 min ago', name)
    t.equal(isoForm.test(seen), exactBeside.has(name), `${name}: ${seen}`)
  }
  t.strictSame(lists, [
    'session list', 'principal list', 'alpha inputs', 'shots list', 'edge list',
    'codehost connections', 'codehost jobs', 'task list', 'audit list', 'machine list',
    'alpha tasks', 'codehost grants', 'policy history',
  ])
})

t.test('a status and what an id is explained by tell times relative on a terminal, too', async (t) => {
  const looks = new Set(['status', 'explain', 'shots explain', 'shots status'])
  const all = (await verbsWithTimes()).filter(({ name }) => looks.has(name))
  t.equal(all.length, looks.size)
  for (const { name, record, document } of all) {
    // The name of a state is no time, though its field is called as one.
    const shown = (await shownBy(record.text(document, viewAt(true), {} as VerbDeps)))
      .replace(/^at .*$/m, '')
    t.match(shown, '3 min ago', name)
    t.notMatch(shown, isoForm, name)
    t.match(await shownBy(record.text(document, viewAt(false), {} as VerbDeps)), isoForm, name)
  }
})

/** A document in which every number of milliseconds, and of an age, is so long. */
const lasting = (document: unknown, ms: number): unknown =>
  JSON.parse(JSON.stringify(document, (key, value: unknown) => {
    if (/_left_ms$|^needed_ms$|^wait_ms$/.test(key)) return ms
    return /age_seconds$/.test(key) ? ms / second : value
  }))

t.test('how long something lasts is told as people say it on a terminal, and exact in a pipe', async (t) => {
  t.strictSame([1_772 * second, 59 * second, 2 * hour, 0].map((ms) => viewAt(true).span(ms)),
    ['29 min', '59 s', '2 h', '0 s'])
  t.strictSame([1_772 * second, 59 * second, 2 * hour, 0].map((ms) => viewAt(false).span(ms)),
    ['1772s', '59s', '2h', '0s'])
  const all = new Map((await verbsWithTimes()).map((one) => [one.name, one]))
  const shown = async (name: string, view: View): Promise<string> => {
    const { record, document } = all.get(name)!
    const text = record.text(lasting(document, 1_772 * second), view, {} as VerbDeps)
    return stripVTControlCharacters(await shownBy(text))
  }
  for (const name of ['codehost preview', 'codehost publish']) {
    const seen = await shown(name, viewAt(true))
    const piped = await shown(name, viewAt(false))
    for (const field of ['waits', 'consent left', 'session left']) {
      t.match(seen, new RegExp(`^${field}: +29 min$`, 'm'), name)
      t.match(piped, new RegExp(`^${field}: +1772s$`, 'm'), name)
    }
  }
  t.match(await shown('shots status', viewAt(true, ['--utc'])), /^newest item +29 min ago \(\d{4}-/m)
  t.match(await shown('shots status', viewAt(false)), /^newest item +29m ago \(\d{4}-/m)
  const waiting = { event: 'waiting', at: isoFromMs(noon), reason: 'no_answer', wait_ms: 90_400 }
  const daemon = async (view: View): Promise<string> =>
    shownBy(all.get('edge daemon')!.record.text(waiting, view, {} as VerbDeps))
  t.match(await daemon(viewAt(true)), /; again in 1 min$/m)
  t.match(await daemon(viewAt(false)), /; again in 90400 ms$/m)
})

t.test('receipts, consents and previews tell exact times on a terminal, too', async (t) => {
  const sealed = new Set([
    'codehost consent', 'codehost approve', 'codehost close-capacity', 'codehost recover verify',
    'codehost recover observe', 'audit show',
  ])
  const all = (await verbsWithTimes()).filter(({ name }) => sealed.has(name))
  t.equal(all.length, sealed.size)
  for (const { name, record, document } of all) {
    const seen = await shownBy(record.text(document, viewAt(true), {} as VerbDeps))
    t.notMatch(seen, ago, name)
    const piped = await shownBy(record.text(document, viewAt(false), {} as VerbDeps))
    t.equal(stripVTControlCharacters(seen), piped, name)
  }
})

t.test('lists of a state have one text in a pipe, with and without --utc, and another for a person', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' }).session()
  await taskAt(at, sessionOf(at), 'succeeded')
  await at.json(['policy', 'revoke'])
  const terminal = { stdin: true, stdout: true, stderr: true }
  for (const line of [
    ['session', 'list'], ['principal', 'list'], ['task', 'list'], ['alpha', 'tasks'],
    ['audit', 'list'], ['policy', 'history'],
  ]) {
    const name = line.join(' ')
    const { stdout: piped } = must(await at.run(line))
    t.equal(must(await at.run([...line, '--utc'])).stdout, piped, name)
    t.match(piped, isoForm, name)
    t.notMatch(piped, /\bago\b|\bnow\b/, name)
    const { stdout: seen } = must(await at.run(line, { terminal, columns: 400 }))
    t.match(seen, /\bnow\b|\bago\b|\bin \d/, name)
    // The facts of an audit row are told as they were recorded.
    t.notMatch(seen.replace(/expires_at=\S+/g, ''), isoForm, name)
    const exact = must(await at.run([...line, '--utc'], { terminal, columns: 400 })).stdout
    t.match(exact, isoForm, name)
    const json = must(await at.run([...line, '--json'], { terminal })).stdout
    t.equal(must(await at.run([...line, '--json', '--utc'])).stdout, json, `${name} --json`)
    t.match(json, isoForm, name)
  }
})

t.test('on a real terminal times are relative, and exact with --utc', { skip: needsScript }, async (t) => {
  const world = await World.in(t).state().session()
  const { shown } = await converse(t, world, 'session show --no-pager')
  t.match(shown, /opened: +(now|\d+ (s|min) ago)\r?$/m)
  t.match(shown, /expires: +in [67] h\r?$/m)
  const exact = (await converse(t, world, 'session show --no-pager --utc')).shown
  t.match(exact, /expires: +\d{4}-\d\d-\d\dT[0-9:.]+Z\r?$/m)
})
