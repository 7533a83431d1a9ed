/** Lists over HTTP that are longer than what is answered of them, and what reaches the rest. */
import { movedClock } from '../support/clock.js'
import { must } from '../support/must.js'
import { taskAt } from '../support/tasks.js'
import { serving, type Got, type Serving } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import { sessionOf } from '../world/session.js'
import type { Loose } from '../world/place.js'
import { World } from '../world/world.js'

const linkOf = ({ headers }: Got): string | null => {
  const { link } = headers
  return typeof link === 'string' ? /^<(\/[^>]+)>; rel="next"$/.exec(link)?.[1] ?? 'none' : null
}

/** Rows of every page, one each, by what each answer says goes on. */
const walked = async (t: Test, at: Serving, first: string, paged: boolean): Promise<Loose[]> => {
  const rows: Loose[] = []
  for (let path: string | null = first; path !== null;) {
    const got: Got = await at.ask('GET', path)
    t.equal(got.status, 200, path)
    const document = got.json()
    if (paged) {
      t.equal(document.schema, 'sallyport.page.v1')
      t.strictSame([document.more, document.next_page], [linkOf(got) !== null, linkOf(got)])
    }
    rows.push(...(paged ? document.rows : document))
    path = linkOf(got)
  }
  return rows
}

type Test = Pick<typeof t, 'equal' | 'strictSame'>

t.test('each page of a list names the next one, by a header and by its document, to the last row', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' }).session()
  for (const stage of ['succeeded', 'blocked', 'succeeded'] as const) {
    await taskAt(world, sessionOf(world), stage)
  }
  const at = await serving(t, world)
  for (const filter of ['', '&state=succeeded']) {
    const path = `/api/work-board/tasks?limit=100${filter}`
    const whole = await at.get(path)
    t.ok(whole.length > 1)
    const page = path.replace('100', '1')
    t.strictSame(await walked(t, at, page, false), whole, filter)
    t.strictSame(await walked(t, at, `${page}&paged=true`, true), whole, `paged ${filter}`)
  }
  const open = (value: boolean) => at.get(`/api/work-board/tasks?open=${value}&limit=100`)
  t.strictSame(await open(false), await at.get('/api/work-board/tasks?limit=100'))
  t.strictSame((await open(true)).map(({ state }: Loose) => state), ['blocked'])
  for (const path of ['/api/audit?limit=100', '/api/ledger/reservations?all=true&limit=100']) {
    const whole = await at.get(path)
    t.equal(whole.length > 1, path.startsWith('/api/audit'), path)
    t.strictSame(await walked(t, at, `${path.replace('100', '1')}&paged=true`, true), whole, path)
  }
  const [, second] = await at.get('/api/audit')
  t.equal((await at.get(`/api/audit?since=${String(second.at)}&limit=100`)).at(-1).at, second.at)
  for (const wrong of ['8h', '2026-11-20', '2026-02-30T10:00:00Z', '2026-11-20 10:00:00Z']) {
    const query = `/api/audit?since=${encodeURIComponent(wrong)}`
    t.equal((await at.ask('GET', query)).status, 400, wrong)
  }
  for (const list of ['work-board/tasks', 'audit', 'ledger/reservations']) {
    const wrong = await at.ask('GET', `/api/${list}?after=zzz`)
    t.strictSame([wrong.status, wrong.json().error.code], [400, 'request_invalid'], list)
  }
  t.strictSame(await at.get('/api/work-board/tasks?paged=true&limit=3'), {
    schema: 'sallyport.page.v1', rows: await at.get('/api/work-board/tasks'), more: false,
    next_page: null,
  })
  t.equal((await at.ask('GET', '/api/work-board/tasks?paged=1')).status, 400)
  for (const path of ['/capabilities/codehost/jobs', '/capabilities/codehost/closures']) {
    t.strictSame(await at.get(`${path}?paged=true`), {
      schema: 'sallyport.page.v1', rows: [], more: false, next_page: null,
    })
  }
})

t.test('a time is the same moment in whichever form it is given', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' }).session()
  world.clock.advance(1_500 - world.clock.wallMs() % 1_000)
  must(await world.run(['goal', 'add', 'Read']))
  const at = await serving(t, world)
  const since = async (text: string): Promise<string[]> =>
    (await at.get(`/api/audit?since=${encodeURIComponent(text)}&limit=100`))
      .map(({ id }: Loose) => id)
  const ms = world.clock.wallMs()
  const second = new Date(ms - ms % 1_000)
  const rows = await since(second.toISOString())
  t.ok(rows.length > 0)
  const there = new Date(second.getTime() + 2 * 3_600_000).toISOString().slice(0, 19)
  for (const text of [second.toISOString().replace('.000', ''), `${there}+02:00`]) {
    t.strictSame(await since(text), rows, text)
  }
})

t.test('A-130 all finished tasks are taken over by one request, as by the verb, and only by their owner', async (t) => {
  // Threads have the clock of the machine.
  const world = await World.in(t, { clock: movedClock() }).state({ owner: 'ada' }).session()
  for (const stage of ['succeeded', 'blocked', 'succeeded'] as const) {
    await taskAt(world, sessionOf(world), stage)
  }
  t.equal((await world.run(['login', '--replace'])).status, 0)
  const at = await serving(t, world)
  const path = '/api/work-board/recover'
  t.equal((await at.ask('POST', path, { token: null })).status, 401)
  t.equal((await at.ask('POST', path, { body: {} })).status, 400, 'it takes no body')
  const got = await at.ask('POST', path)
  t.strictSame([got.status, got.json()],
    [200, { schema: 'sallyport.task.recover.v1', recovered: 2, acts: 1 }])
  t.hasStrict((await at.ask('POST', path)).json(), { recovered: 0, acts: 0 })
  const facts = await world.json(['audit', 'list', '--what', 'task.recovered_all'])
  t.equal(facts.length, 1, 'one act')
})
