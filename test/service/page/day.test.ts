/** The day on the page: what is told of it, to whom, and how a person goes through its pictures. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { secondsOf, timeSums } from '../../../src/observations/sums.js'
import type { ToldDay } from '../../../src/shots/told-day/told-day-contract.js'
import { must } from '../../support/must.js'
import { noonZone } from '../../support/noon.js'
import { greyPng, image } from '../../support/png.js'
import { browse } from '../../support/service/fake-browser.js'
import { askPage, codeIn, openPage } from '../../support/service/paging.js'
import { serving } from '../../support/service/serving.js'
import { t } from '../../support/tests-in-slices.js'
import { until } from '../../support/until.js'
import type { Teardown } from '../../world/place.js'
import { World } from '../../world/world.js'

const dayMs = 86_400_000
const isoDay = (at: number): string => new Date(at).toISOString().slice(0, 10)
/** The program's threads go by the machine's clock. */
const zone = noonZone()
const now = Date.now() + zone.aheadMs
const yesterday = isoDay(now - dayMs)

const files: Readonly<Record<string, readonly [string, Buffer]>> = {
  'a.png': ['09:00', image(1)], 'b.png': ['14:05', greyPng(2_400, 1_200, 2)],
  'c.png': ['14:20', image(3)], 'd.png': ['15:40', image(4)],
}

const hourOf = (instant: string): string =>
  new Date(Date.parse(instant) + zone.aheadMs).toISOString().slice(11, 16)

/** A page over pictures of yesterday. */
const shown = async (t: Teardown) => {
  const world = await World.in(t).state().session().images()
  for (const [name, [time, bytes]] of Object.entries(files)) {
    const at = Date.parse(`${yesterday}T${time}:00.000Z`) - zone.aheadMs
    world.file(name, bytes, new Date(at).toISOString())
  }
  must(await world.run(['shots', 'scan']))
  const at = await serving(t, world, {
    page: world.session().root.root_id, env: { TZ: zone.name },
  })
  return { world, at }
}

/** The same in a browser, which looks at yesterday. */
const browsed = async (t: Teardown) => {
  const { world, at } = await shown(t)
  const page = await browse(at, `#${codeIn(at.started.offered?.openFile ?? '')}`)
  const figures = (): string => page.at('day-figures').textContent
  await until('today', () => figures() !== '')
  const today = figures()
  page.at('day-back').does('click')
  await until('yesterday', () => figures() !== today)
  return { world, at, page, today, figures }
}

type Page = Awaited<ReturnType<typeof browsed>>['page']

const titles = (page: Page): readonly string[] => page.at('episodes').children
  .map((row) => row.children[0]?.textContent ?? '')

const buttonOf = (page: Page, label: RegExp, id = 'episodes') => page.at(id).all()
  .find((one) => one.tag === 'button' && label.test(one.getAttribute('aria-label') ?? ''))

t.test('a day is told by windows with the ids of its pictures, and without a folder or a hash', async (t) => {
  const { world, at } = await shown(t)
  const token = await openPage(at)
  const got = await askPage(at, 'GET', `/api/page/day?day=${yesterday}`, { token })
  t.equal(got.status, 200)
  const day = got.json()
  t.hasStrict(day, {
    day: yesterday, pictures: 4, analysed: 0, time_zone: zone.name, spent_microusd: 0,
  })
  const { episodes } = day as ToldDay
  t.strictSame(episodes.map(({ start, pictures }) =>
    [hourOf(start), ...pictures.map(({ filename }) => filename)]), [
    ['09:00', 'a.png'], ['14:00', 'b.png', 'c.png'], ['15:30', 'd.png'],
  ])
  t.equal(day.hours[14], 2)
  t.strictSame(day.time, { activity: [], application: [], project: [] })
  const text = got.bytes.toString()
  for (const { sha256, root } of world.rows()) {
    t.notOk(text.includes(sha256))
    t.notOk(text.includes(root))
  }
  const today = (await askPage(at, 'GET', '/api/page/day', { token })).json()
  t.hasStrict(today, { day: today.today, pictures: 0, episodes: [] })
})

t.test('no day is told of what is none, of tomorrow, or to anybody but the page of the default owner', async (t) => {
  const { world, at } = await shown(t)
  const token = await openPage(at)
  const ask = (query: string, by: string | null = token) =>
    askPage(at, 'GET', `/api/page/day${query}`, { token: by })
  for (const day of ['2026-13-01', 'tomorrow', isoDay(now + 2 * dayMs), '']) {
    const got = await ask(`?day=${day}`)
    t.strictSame([got.status, got.json().error.code], [400, 'day_invalid'], day)
  }
  t.equal((await ask('?week=1')).json().error.code, 'http_query')
  for (const by of [null, at.token()]) t.equal((await ask('', by)).status, 401)
  t.equal((await at.ask('GET', '/api/page/day')).status, 404, 'not by TLS')
  const file = world.place.write('passphrase', 'correct horse')
  must(await world.run(['principal', 'add', 'bob', '--passphrase-file', file]))
  must(await world.run(['login', '--owner', 'bob', '--passphrase-file', file]))
  const { open_file: offered } = (await at.ask('POST', '/api/page/offers')).json()
  const opened = await askPage(at, 'POST', '/api/page/open', { body: { code: codeIn(offered) } })
  const got = await ask('', String(opened.json().token))
  t.strictSame([got.status, got.json().error.code], [403, 'not_default_principal'])
})

t.test('a picture counts until the next one, and five minutes past its last sight at most', (t) => {
  const at = (...pairs: (readonly [number, number])[]) =>
    pairs.map(([atMs, seenMs]) => ({ atMs: atMs * 60_000, seenMs: seenMs * 60_000 }))
  t.strictSame(secondsOf(at([0, 0], [2, 2], [60, 70], [80, 80]), 82 * 60_000), [120, 300, 900, 120])
  t.strictSame(secondsOf([], 0), [])
  const made = (activity: string | null, applications: readonly string[]) =>
    ({ activity, applications, project: null })
  const all = [made('coding', ['A', 'B', 'A']), made(null, ['B']), made('reading', [])]
  t.strictSame(timeSums(all, [10, 20, 30]).application,
    [{ name: 'B', seconds: 30 }, { name: 'A', seconds: 10 }])
  t.end()
})

t.test('what was done between 14:00 and 16:00 takes two clicks, and a search one word', async (t) => {
  const { page, figures, today } = await browsed(t)
  t.match(today, /No picture/)
  t.match(figures(), /4 pictures, 0 described/)
  t.match(page.at('day-labels').textContent, /^No model has described/)
  t.equal(page.at('day-sums').hidden, true)
  t.strictSame(titles(page), ['09:00 to 09:30', '14:00 to 14:30', '15:30 to 16:00'])
  buttonOf(page, /^14 to 15 o'clock, 2 pictures$/, 'hours')?.does('click')
  t.strictSame(titles(page), ['14:00 to 14:30'])
  buttonOf(page, /^15 to/, 'hours')?.does('click')
  t.strictSame(titles(page), ['14:00 to 14:30', '15:30 to 16:00'])
  t.equal(page.at('course-told').textContent, '2 of 3 episodes between 14:00 and 16:00')
  page.at('course-all').does('click')
  t.equal(titles(page).length, 3)
  page.at('day-search').value = 'D.PNG'
  page.at('day-search').does('input')
  t.strictSame(titles(page), ['15:30 to 16:00'])
  page.at('day-search').value = 'nowhere'
  page.at('day-search').does('input')
  t.match(page.at('episodes').textContent, /No episode says that/)
  const [weekday] = page.at('week').children
    .filter((one) => one.getAttribute('aria-current') !== null)
  t.match(weekday?.textContent, new RegExp(` ${Number(yesterday.slice(8))}$`))
  t.match(page.at('day-spent').textContent, /cost \$0\.00/)
})

t.test('behind a scan that went well the shown day is asked for anew, and what is looked for in it stays', async (t) => {
  const { world, page, figures } = await browsed(t)
  const days = () => page.requests.filter(({ line }) => line.startsWith('GET /api/page/day'))
  page.at('day-search').value = 'e.png'
  page.at('day-search').does('input')
  t.match(page.at('episodes').textContent, /No episode says that/)
  const time = new Date(Date.parse(`${yesterday}T16:10:00.000Z`) - zone.aheadMs)
  world.file('e.png', image(5), time.toISOString())
  const before = days().length
  page.at('scan').does('click')
  await until('the new picture', () => /, 5 pictures/.test(figures()))
  t.strictSame(days().slice(before).map(({ line }) => line), [`GET /api/page/day?day=${yesterday}`])
  t.strictSame(titles(page), ['16:00 to 16:30'])
  t.equal(page.at('day-search').value, 'e.png')
  page.at('day-on').does('click')
  await until('today', () => /^No picture/.test(figures()))
  t.equal(page.at('day-search').value, '', 'another day begins with all of it')
  rmSync(world.folder, { recursive: true })
  const asked = days().length
  page.at('scan').does('click')
  await until('the refusal', () => !/^(?:Looked|Scanning)/.test(page.at('scan-told').textContent))
  await until('the end', () => !page.at('scan').disabled)
  t.equal(days().length, asked, 'nothing is new')
})

t.test('a click on an episode shows its pictures, scaled down; keys step through them; nothing of one stays', async (t) => {
  const { page } = await browsed(t)
  const pictures = () => page.requests.filter(({ line }) => line.endsWith('/picture'))
  buttonOf(page, /^2 pictures of 14:00/)?.does('click')
  const [canvas, told] = [page.at('picture'), page.at('viewer-told')]
  await until('the picture', () => canvas.drawn.length === 1 && told.textContent === '')
  t.equal(page.at('viewer-place').textContent, '1 of 2')
  t.match(page.at('viewer-caption').textContent, /14:05 · b\.png/)
  t.strictSame(canvas.drawn, [[1_216, 608]], '2,400 by 1,200 points in a window of 1,280')
  page.at('viewer').does('keydown', { key: 'ArrowRight' })
  await until('the next', () => canvas.drawn.length === 2)
  t.strictSame(canvas.drawn[1], [64, 48], 'none is made larger')
  t.match(page.at('viewer-caption').textContent, /c\.png/)
  for (const key of ['ArrowRight', 'End', 'x']) page.at('viewer').does('keydown', { key })
  t.equal(page.at('viewer-place').textContent, '2 of 2')
  t.equal(pictures().length, 2, 'the end asks for nothing')
  page.at('viewer').does('keydown', { key: 'Home' })
  await until('the first again', () => canvas.drawn.length === 3)
  page.at('viewer-full').does('click')
  await until('the whole', () => canvas.drawn.length === 4)
  t.strictSame(canvas.drawn[3], [2_400, 1_200])
  page.at('viewer-end').does('click')
  t.strictSame([canvas.width, canvas.height, canvas.hidden, page.at('viewer-caption').textContent],
    [0, 0, true, ''])
  for (const { line, body } of pictures()) {
    t.match(line, /^GET \/api\/shots\/observations\/obs_[0-9a-f-]+\/picture$/, 'no token in it')
    t.equal(body, undefined)
  }
})

t.test('a picture whose file is gone, or was changed, says so in its place, and the next can be seen', async (t) => {
  const { world, page } = await browsed(t)
  rmSync(join(world.folder, 'b.png'))
  writeFileSync(join(world.folder, 'd.png'), image(9))
  const told = page.at('viewer-told')
  buttonOf(page, /^2 pictures of 14:00/)?.does('click')
  await until('the gap', () => /^The file is gone/.test(told.textContent))
  t.equal(page.at('picture').hidden, true)
  page.at('viewer-on').does('click')
  await until('the next', () => page.at('picture').drawn.length === 1)
  page.at('viewer-end').does('click')
  buttonOf(page, /^1 picture of 15:30/)?.does('click')
  await until('the change', () => /^The file was changed/.test(told.textContent))
  t.equal(page.at('picture').drawn.length, 1)
  must(await world.run(['logout']))
  page.at('viewer-full').does('click')
  await until('the way back', () => page.at('desk').hidden)
  for (const id of ['day-title', 'day-figures', 'episodes', 'hours', 'week', 'viewer-title']) {
    t.equal(page.at(id).textContent, '', id)
  }
})
