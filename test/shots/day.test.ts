/** A day in a terminal, and its files for sheets and calendars. */
import fc from 'fast-check'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isoFromMs } from '../../src/base/clock.js'
import stringWidth from 'fast-string-width'
import { dayText } from '../../src/cli/commands/shots/day-text.js'
import type { View } from '../../src/cli/output.js'
import { addSpend } from '../../src/gateway/call/spend.js'
import { episodesCalendar, episodesCsv } from '../../src/shots/told-day/files.js'
import type {
  DayDocument, DayEpisode, ToldDay,
} from '../../src/shots/told-day/told-day-contract.js'
import { secondsOf } from '../../src/observations/sums.js'
import type { Tx } from '../../src/state/types.js'
import { hour } from '../support/clock.js'
import { forAll } from '../support/for-all.js'
import { observationOf } from '../support/observations.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { windowStart } from '../world/texts.js'
import { must } from '../support/must.js'
import { World } from '../world/world.js'

/** The day before yesterday, UTC. */
const day = isoFromMs(windowStart(96)).slice(0, 10)
const at = (time: string): string => `${day}T${time}:00.000Z`

const stage = (t: Parameters<typeof World.in>[0]) =>
  World.in(t).sandbox().state().session().gateway().images().texts()

const says = (activity: string, application: string, project: string | null) =>
  ({ activity, applications: [application], project })

t.test('S-026 a day and hours of it are told by what the model named, with exact sums', async (t) => {
  const world = await stage(t)
  await world.analysed(
    { name: 'a.png', at: at('14:00'), says: says('programming', 'Editor', 'harbour') },
    { name: 'b.png', at: at('14:02'), says: says('reading', 'Browser', 'harbour') },
    { name: 'c.png', at: at('15:30'), says: says('programming', 'Editor', null) },
    { name: 'd.png', at: at('18:00'), says: says('meeting', 'Calls', 'quay') },
  )
  const line = ['shots', 'day', day, '--time-zone', 'UTC']
  const whole = (await world.run([...line, '--json'])).json()
  t.hasStrict(whole, {
    pictures: 4, analysed: 4, seconds: 120 + 300 + 300 + 300,
    time: {
      activity: [
        { name: 'programming', seconds: 420 }, { name: 'meeting', seconds: 300 },
        { name: 'reading', seconds: 300 },
      ],
      project: [
        { name: 'harbour', seconds: 420 }, { name: 'none told', seconds: 300 },
        { name: 'quay', seconds: 300 },
      ],
    },
    since: at('00:00'), csv_file: null, ical_file: null,
  })
  t.strictSame(whole.episodes.map(({ start, seconds, application }: DayEpisode) =>
    [start, seconds, application]), [
    [at('14:00'), 420, 'Browser'], [at('15:30'), 300, 'Editor'], [at('18:00'), 300, 'Calls'],
  ])
  const part = (await world.run([...line, '--from', '14:01', '--to', '16:00', '--json'])).json()
  t.hasStrict(part, { pictures: 2, seconds: 600, since: at('14:01'), until: at('16:00') })
  const text = (await world.run([...line, '--from', '14:00', '--to', '16:00'])).stdout
  t.match(text, /14:00 to 16:00 \(UTC\)\n3 screenshots, 12 min on the screen/)
  t.match(text, / {2}harbour +7 min/)
  t.match(text, / {2}14:00-14:30 {2}\(2 screenshots, no digest\)/)
  t.match(text, /^cost {2}\$0/m)
  for (const wrong of [['--from', '25:00'], ['--from', '16:00', '--to', '14:00'], ['--to', '0']]) {
    const ran = await world.run([...line, ...wrong, '--json'])
    t.equal(ran.error().code, 'time_invalid', wrong.join(' '))
  }
  const zone = await world.run(['shots', 'day', day, '--time-zone', 'Europe/Nowhere', '--json'])
  t.equal(zone.error().code, 'time_zone_unknown')
  t.equal((await world.run(['shots', 'day', '2026-02-30'])).status, 3)
})

t.test('what a call cost is told of one period of each kind: that in which its hour, UTC, begins', async (t) => {
  const world = await World.still(t, Date.parse('2026-11-21T12:00:00.000Z')).state().session()
  await world.transact((tx) => {
    for (const [at, settledMicrousd] of [
      ['2026-11-20T00:07:00.000Z', 1_000], ['2026-11-20T18:45:00.000Z', 20_000],
    ] as const) {
      addSpend(tx, { purpose: 'gateway.vision', at }, { requests: 1, settledMicrousd })
    }
  })
  const costs = async (...words: readonly string[]): Promise<number> =>
    (await world.run(['shots', 'day', ...words, '--json'])).json().spent_microusd
  const utc = ['2026-11-20', '--time-zone', 'UTC'] as const
  t.equal(await costs(...utc), 21_000)
  t.equal(await costs(...utc, '--from', '00:20', '--to', '00:30'), 0)
  t.equal(await costs(...utc, '--to', '00:20'), 1_000)
  const kolkata = ['--time-zone', 'Asia/Kolkata']
  t.equal(await costs('2026-11-20', ...kolkata), 20_000 + 1_000)
  t.equal(await costs('2026-11-21', ...kolkata), 0, 'where it is 00:15 of the next day')
  const text = async (...words: readonly string[]): Promise<string> =>
    (await world.run(['shots', 'day', ...words])).stdout
  t.match(await text(...utc), /^cost {2}\$0\.021 /m)
  t.match(await text(...utc, '--from', '00:20'),
    /^cost of the hours \(UTC\) that begin in it {2}\$0\.02 /m)
})

t.test('a day or report of which sums are not kept any more says from when on they are', async (t) => {
  const start = Date.parse('2026-11-01T00:00:00.000Z')
  const world = await World.still(t, start + 500 * hour).state().session()
  const claim = (tx: Tx, n: number) => addSpend(tx,
    { purpose: 'gateway.vision', at: isoFromMs(start + n * hour) }, { settledMicrousd: 10 })
  const asked = async (of: string) =>
    world.run(['shots', 'day', of, '--time-zone', 'UTC', '--json'])
  await world.transact((tx) => { for (let n = 0; n < 399; n += 1) claim(tx, n) })
  const whole = { spent_microusd: 240, spend_known_since: null }
  t.hasStrict((await asked('2026-11-01')).json(), whole)
  await world.transact((tx) => { for (let n = 399; n < 420; n += 1) claim(tx, n) })
  t.hasStrict((await asked('2026-11-01')).json(),
    { spent_microusd: 50, spend_known_since: '2026-11-01T20:00:00.000Z' })
  t.hasStrict((await asked('2026-11-02')).json(), whole)
  const told = await world.run(['shots', 'day', '2026-11-01', '--time-zone', 'UTC'])
  const report = await world.run([
    'shots', 'report', '--since', '2026-11-01T00:00Z', '--until', '2026-11-03T00:00Z', '--json',
  ])
  t.equal(report.json().report.course.spend_known_since, '2026-11-01T20:00:00.000Z')
  t.match(told.stdout, 'claimed before 2026-11-01T20:00:00.000Z is not counted any more')
})

t.test('a window that began before the hours asked for keeps its sentence', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await world.analysed({ name: 'a.png', at: at('14:20') })
  world.say('Read about tides.')
  await world.digest('--window-end', at('14:30'))
  const line = ['shots', 'day', day, '--time-zone', 'UTC', '--from', '14:10']
  t.match((await world.run(line)).stdout, / {2}14:00-14:30 {2}Read about tides\./)
})

/** A picture of this time, for which like ones were seen until twenty past two. */
const standsFrom = (folder: string, time: string) => observationOf(folder, 'r.png', {
  captured_at: at(time),
  screenshot_visual_run: {
    representative_path: 'r.png', first_seen: at(time), last_seen: at('14:20'),
    suppressed_count: 15, latest_suppressed_path: 'z.png', reason_counts: { same_picture: 15 },
    quarter_counts: { [at('14:00')]: 15 },
  },
})

t.test('like images of a picture from before the hours asked for are told in them', async (t) => {
  const world = await stage(t)
  await world.put(standsFrom(world.folder, '13:55'))
  const line = ['shots', 'day', day, '--time-zone', 'UTC', '--from', '14:00']
  const told = (await world.run([...line, '--json'])).json()
  t.strictSame([told.pictures, told.hours[14], told.hours[13]], [0, 15, 0])
  t.match((await world.run(line)).stdout, 'only repeats of earlier ones')
  t.match((await world.run([...line, '--from', '15:00'])).stdout, 'No screenshot of it')
})

t.test('like images are told of a picture that a longer setting than that of now let stand for them, as a report tells them', async (t) => {
  const world = await stage(t)
  await world.put(standsFrom(world.folder, '10:00'))
  const { hours } = await world.json(
    ['shots', 'day', day, '--time-zone', 'UTC', '--from', '14:00'])
  t.equal(hours[14], 15)
  const { report } = await world.json(['shots', 'report', '--since', at('14:00'),
    '--until', at('15:00')])
  t.equal(report.course.image_count, 15)
})

t.test('a text has at most 60 lines of 80 columns, and tells what it leaves out', async (t) => {
  const world = await stage(t)
  const hostile = `\u001b[31m${'wide '.repeat(30)}`
  await world.analysed(...Array.from({ length: 96 }, (_, n) => ({
    name: `${n}.png`, at: isoFromMs(Date.parse(at('00:00')) + n * 900_000),
    says: says('other', `${hostile}${n}`, `project ${n}`),
  })))
  const { stdout } = await world.run(['shots', 'day', day, '--time-zone', 'UTC'], {
    terminal: { stdin: false, stdout: true }, columns: 80,
  })
  const lines = stdout.trimEnd().split('\n')
  t.ok(lines.length <= 60, `${lines.length} lines`)
  t.strictSame(lines.filter((one) => [...one].length > 80), [])
  t.match(stdout, /and 90 others/)
  t.match(stdout, /and \d+ others: give --from and --to/)
  t.notMatch(stdout, /\u001b\[31m/)
  const piped = await world.run(['shots', 'day', day, '--time-zone', 'UTC'])
  t.notMatch(piped.stdout, /\u001b/, 'also where it goes into a mail')
})

t.test('wide names and sentences of others end before the last column, too, of a narrow terminal as well', async (t) => {
  const wide = (name: string): DayEpisode => ({
    ...episode(name), start: at('14:00'), end: at('14:30'),
  })
  const sums = ['画面'.repeat(40), 'e\u0301'.repeat(3_000)].map((name) => ({ name, seconds: 60 }))
  const told = {
    ...dayOf([]), time_zone: 'UTC', since: at('00:00'), until: at('24:00'), pictures: 3,
    analysed: 3, seconds: 60, models: ['model/'.repeat(40)],
    devices: [{ device_id: 'edge_dev_1', device_name: '端末'.repeat(32), pictures: 2 }],
    spent_microusd: 0, held_microusd: 0, spend_known_since: null,
    time: { activity: sums, application: [], project: [] },
    episodes: ['文'.repeat(70), '👩‍👩‍👧'.repeat(60), `${'文'.repeat(32)}a`].map(wide),
  } as unknown as DayDocument
  const linesAt = async (columns: number): Promise<readonly string[]> => {
    const view = {
      foreign: (text: string) => text, paint: (_: string, text: string) => text,
      command: (words: string) => words, columns,
    } as unknown as View
    return (await dayText(told, view)).trimEnd().split('\n')
  }
  const narrow = await linesAt(60)
  t.strictSame(narrow.filter((one) => stringWidth(one) > 60), [])
  t.equal(narrow.filter((one) => one.endsWith(' 1 min')).length, 2)
  t.equal((await linesAt(200)).join('\n'), (await linesAt(80)).join('\n'), 'as a mail has it')
  const lines = await linesAt(80)
  t.strictSame(lines.filter((one) => stringWidth(one) > 80), [])
  t.ok(lines.every((one) => one.length < 800), 'nor is a line long by marks without a width')
  t.equal(lines.filter((one) => one.endsWith('…')).length, 4,
    'two sentences, the model and the device')
  t.match(lines.join('\n'), `${'文'.repeat(32)}a\n`, 'what fits is whole')
  const [cjk = '', marks = ''] = lines.filter((one) => one.endsWith(' 1 min'))
  t.equal(stringWidth(cjk), stringWidth(marks), 'durations stand below each other')
})

t.test('a day without screenshots, and one that is half described, say so', async (t) => {
  const world = await stage(t)
  const empty = await world.run(['shots', 'day', day])
  t.match(empty.stdout, /No screenshot of it is in the reports/)
  await world.put(observationOf(world.folder, 'a.png', {
    captured_at: at('12:00'), analysis_status: 'pending',
  }))
  const half = await world.run(['shots', 'day', day, '--time-zone', 'UTC'])
  t.match(half.stdout, /1 screenshot not described yet: the times below are a part/)
})

t.test('hours are those of the clocks of the zone, also where they are put on or back', async (t) => {
  const world = await stage(t)
  const hours = async (date: string, from: string, to: string): Promise<readonly string[]> => {
    const told = (await world.run(['shots', 'day', date, '--time-zone', 'Europe/Berlin',
      '--from', from, '--to', to, '--json'])).json()
    return [told.since, told.until]
  }
  t.strictSame(await hours('2026-03-29', '01:00', '04:00'),
    ['2026-03-29T00:00:00.000Z', '2026-03-29T02:00:00.000Z'])
  t.strictSame(await hours('2026-03-29', '02:30', '24:00'),
    ['2026-03-29T01:00:00.000Z', '2026-03-29T22:00:00.000Z'], 'a time that there was not')
  t.strictSame(await hours('2026-10-25', '02:30', '03:00'),
    ['2026-10-25T00:30:00.000Z', '2026-10-25T02:00:00.000Z'], 'both of an hour that came twice')
})

t.test('S-025 the files are new, for their owner alone, and never among the images', async (t) => {
  const world = await stage(t)
  const named = says('reading', 'Browser', '=cmd()')
  await world.analysed({ name: 'a.png', at: at('14:00'), says: named })
  const csv = join(world.place.path('day.csv'))
  const line = ['shots', 'day', day, '--time-zone', 'UTC']
  t.equal((await world.run([...line, '--csv', csv])).status, 0)
  t.equal(statSync(csv).mode & 0o777, 0o600)
  t.equal(readFileSync(csv, 'utf8'), 'date,start,end,minutes,pictures,activity,application,project,'
    + `sentence\r\n${day},${at('14:00')},${at('14:30')},5,1,reading,Browser,'=cmd(),\r\n`)
  const again = await world.run([...line, '--csv', csv, '--json'])
  t.equal(again.error().code, 'file_exists')
  const inside = await world.run([...line, '--ical', join(world.folder, 'day.ics'), '--json'])
  t.equal(inside.error().code, 'report_inside_root')
  writeFileSync(world.place.path('there.ics'), 'mine')
  const there = await world.run([...line, '--ical', world.place.path('there.ics'), '--json'])
  t.equal(there.status, 5)
  t.equal(readFileSync(world.place.path('there.ics'), 'utf8'), 'mine')
  const both = ['--csv', world.place.path('new.csv'), '--ical', world.place.path('there.ics')]
  t.equal((await world.run([...line, ...both, '--json'])).error().code, 'file_exists')
  t.notOk(existsSync(world.place.path('new.csv')), 'all or none')
  must(await world.run([
    ...line, '--csv', world.place.path('new.csv'), '--ical', world.place.path('new.ics'),
  ]))
})

const episode = (text: string): DayEpisode => ({
  episode_id: 'epi_1', start: at('14:00'), end: at('14:30'), text, model: 'm',
  written_at: at('15:00'), pictures: [], seconds: 60, activity: 'reading', application: text,
  project: null,
})
const dayOf = (texts: readonly string[]): ToldDay =>
  ({ day, episodes: texts.map(episode) }) as unknown as ToldDay

/** Cells of a file as RFC 4180 reads them. */
const cellsOf = (csv: string): string[][] => {
  const rows: string[][] = [[]]
  for (const [, quoted, plain = '', end] of
    csv.matchAll(/(?:"((?:[^"]|"")*)"|([^,"\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === '\r\n') rows.push([])
  }
  return rows.slice(0, -1)
}

const words = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(
  '=1+1', '"', ',', '\r\n', '\n', ';', '\\', 'END:VEVENT', '\u2028', '🙂'.repeat(40))))
  .map((some) => some.join(''))

t.test('S-086 no text of a model is a formula of a sheet, and each comes back whole', async (t) => {
  forAll(t, fc.property(fc.array(words, { maxLength: 4 }), (texts) => {
    const rows = cellsOf(episodesCsv(dayOf(texts))).slice(1)
    return rows.length === texts.length && rows.every((row, n) => {
      const [text = '', told = ''] = [texts[n], row.at(-1)]
      // A sheet may split at semicolons, tabs and line ends, too; marks are all that is added.
      return row.length === 9 && told.replaceAll("'", '') === text.replaceAll("'", '')
        && !told.split(/[;\t\r\n]/).some((part) => /^\s*[=+\-@]/.test(part))
    })
  }))
  const hidden = [' =1', '\n=1', '\u0000=1', '\u200b@x', '\ufeff+1', '＝1', '－1', '\u00a0-1']
  for (const formula of hidden) {
    const told = cellsOf(episodesCsv(dayOf([formula])))[1]?.at(-1) ?? ''
    t.strictSame([told.at(0), told.replaceAll("'", '')], ["'", formula], JSON.stringify(formula))
  }
  t.equal(cellsOf(episodesCsv(dayOf(['a = b'])))[1]?.at(-1), 'a = b')
  t.match(episodesCsv(dayOf(['Read mail;=1+1'])), `"Read mail;'=1+1"`,
    'what another sheet splits at stands in quotes')
})

t.test('S-086 a calendar has one event an episode, whatever its text is, in lines of 75 bytes', async (t) => {
  const file = { storeId: 'store', now: at('16:00') }
  forAll(t, fc.property(fc.array(words, { maxLength: 4 }), (texts) => {
    const written = episodesCalendar(dayOf(texts), file)
    const lines = written.split('\r\n')
    if (lines.some((one) => Buffer.byteLength(one) > 75 || /[\n\r]/.test(one))) return false
    const unfolded = written.replaceAll('\r\n ', '').split('\r\n')
    const said = unfolded.filter((one) => one.startsWith('DESCRIPTION:'))
      .map((one) => one.slice(12)
        .replace(/\\([\\;,n])/g, (_, it) => (it === 'n' ? '\n' : String(it))))
    const plain = (text: string): string => text.replaceAll('\r\n', '\n')
      .replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f\u0085\u2028\u2029]+/gu, ' ')
    return unfolded.filter((one) => one === 'BEGIN:VEVENT').length === texts.length
      && said.every((one, n) => Buffer.from(one).equals(Buffer.from(plain(texts[n] ?? ''))))
  }))
})

t.test('an event keeps its id when the digest of its window is written', async (t) => {
  const file = { storeId: 'store', now: at('16:00') }
  const [told = ''] = /UID:.*/.exec(episodesCalendar(dayOf(['Read mail.']), file)) ?? []
  const day = dayOf(['Read mail.'])
  const untold = { ...day, episodes: day.episodes.map((one) => ({ ...one, episode_id: null })) }
  t.match(episodesCalendar(untold, file), told)
  t.match(told, /^UID:\d{8}T\d{6}Z-\d{8}T\d{6}Z@store/)
})

t.test('sums are never longer than the time that passed', async (t) => {
  const rapid = Array.from({ length: 100 }, (_, n) => ({ atMs: n * 1_500, seenMs: n * 1_500 }))
  const sum = secondsOf(rapid, 150_000).reduce((total, one) => total + one, 0)
  t.equal(sum, 150)
})
