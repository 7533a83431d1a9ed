/** One table: what a verb answers and what its route answers, results and refusals alike. */
import { readFileSync } from 'node:fs'
import { routes } from '../../src/service/routes/table.js'
import { must } from '../support/must.js'
import { serving } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import { allVerbs } from '../world/program.js'
import { World } from '../world/world.js'

interface Row {
  readonly verb: readonly string[]
  readonly method?: 'GET' | 'POST'
  readonly path: string
}

const rows: readonly Row[] = [
  { verb: ['status'], path: '/api/status' },
  { verb: ['policy', 'show'], path: '/api/policy' },
  { verb: ['config', 'show'], path: '/api/settings/model-configuration' },
  { verb: ['task', 'list'], path: '/api/work-board/tasks' },
  { verb: ['task', 'list', '--limit', '1'], path: '/api/work-board/tasks?limit=1' },
  { verb: ['task', 'list', '--state', 'failed'], path: '/api/work-board/tasks?state=failed' },
  { verb: ['task', 'list', '--state', 'nope'], path: '/api/work-board/tasks?state=nope' },
  { verb: ['task', 'show', 'TASK'], path: '/api/work-board/tasks/TASK' },
  { verb: ['task', 'show', 'task_none'], path: '/api/work-board/tasks/task_none' },
  { verb: ['alpha', 'output', 'TASK'], path: '/api/work-board/tasks/TASK/alpha-text/output' },
  {
    verb: ['alpha', 'output', 'task_none'],
    path: '/api/work-board/tasks/task_none/alpha-text/output',
  },
  { verb: ['alpha', 'inputs'], path: '/api/work-board/inputs' },
  {
    verb: ['alpha', 'drop', 'art_none'], method: 'POST',
    path: '/api/work-board/inputs/art_none/drop',
  },
  { verb: ['task', 'cancel', 'TASK'], method: 'POST', path: '/api/work-board/tasks/TASK/cancel' },
  {
    verb: ['task', 'recover', 'TASK'], method: 'POST',
    path: '/api/work-board/tasks/TASK/recover',
  },
  {
    verb: ['task', 'recover', '--all'], method: 'POST', path: '/api/work-board/recover',
  },
  { verb: ['codehost', 'jobs'], path: '/capabilities/codehost/jobs' },
  { verb: ['codehost', 'jobs', '--limit', '0'], path: '/capabilities/codehost/jobs?limit=0' },
  { verb: ['codehost', 'job', 'job_none'], path: '/capabilities/codehost/jobs/job_none' },
  { verb: ['codehost', 'closures'], path: '/capabilities/codehost/closures' },
  { verb: ['codehost', 'connections'], path: '/capabilities/codehost/connections' },
  { verb: ['shots', 'show', 'obs_none'], path: '/api/observer/screen-artifacts/obs_none/analysis' },
  { verb: ['shots', 'status'], path: '/api/settings/artifact-storage' },
  { verb: ['edge', 'artifacts'], path: '/api/edge/artifacts' },
  { verb: ['edge', 'artifacts', '--limit', '0'], path: '/api/edge/artifacts?limit=0' },
  { verb: ['ledger', 'show'], path: '/api/ledger' },
  { verb: ['ledger', 'reservations'], path: '/api/ledger/reservations' },
  { verb: ['ledger', 'reservations', '--all'], path: '/api/ledger/reservations?all=true' },
  { verb: ['audit', 'list', '--limit', '2'], path: '/api/audit?limit=2' },
  { verb: ['audit', 'list', '--what', 'session'], path: '/api/audit?what=session' },
  { verb: ['audit', 'show', 'aud_none'], path: '/api/audit/aud_none' },
  { verb: ['edge', 'list'], path: '/api/edge/devices' },
  {
    verb: ['edge', 'revoke', 'edge_dev_01890000-0000-7000-8000-000000000000'], method: 'POST',
    path: '/api/edge/devices/edge_dev_01890000-0000-7000-8000-000000000000/revoke',
  },
]

/** Times of the look itself differ from one look to the next. */
const still = (document: unknown): unknown => JSON.parse(JSON.stringify(document), (name, value) =>
  (['checked_at', 'last_use_at', 'now', 'newest_item_age_seconds'].includes(name) ? null : value))

t.test('each verb and its route give the same document, and the same body of an error', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha()
  const { task } = must(await world.ask()).json()
  const at = await serving(t, world)
  let differences = 0
  const table: string[] = []
  for (const { verb, method = 'GET', path } of rows) {
    const words = verb.map((word) => (word === 'TASK' ? task.id : word))
    const ran = await world.run([...words, '--json'])
    const got = await at.ask(method, path.replace('TASK', task.id))
    const own = ran.status === 0 ? ran.json() : { error: ran.error() }
    // What a flag is refused for, a field is: the same rule, and the name of the one or the other.
    const ofFlag = ran.status !== 0 && ran.error().code === 'flag_invalid'
    const same = ofFlag
      ? got.status === 400 && got.json().error.details.rule !== undefined
      : JSON.stringify(still(own)) === JSON.stringify(still(got.json()))
    if (!same) differences += 1
    t.ok(same, `${words.join(' ')}: ${JSON.stringify(own)} and ${got.bytes.toString('utf8')}`)
    const verdict = same ? 'equal' : 'DIFFERS'
    table.push([verb.join(' '), `${method} ${path}`, got.status, verdict].join(' | '))
  }
  t.comment(table.join('\n'))
  t.equal(differences, 0)
})

t.test('what helps against a refusal is told in a sentence by every face, and its commands apart', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const { error } = (await at.ask('GET', '/api/edge/artifacts/edge_art_none')).json()
  const ran = await world.run(['edge', 'show', 'edge_art_01890000-0000-7000-8000-000000000000'])
  t.ok(ran.stderr.includes(`next: ${String(error.hint)}\n`), ran.stderr)
  t.strictSame(error.next, [{ command: 'sallyport edge artifacts', needs_person: false }])
  const plain = (await at.ask('POST', '/api/work-board/inputs')).json()
  t.hasStrict(plain, { error: { hint: 'See GET /openapi.json for its fields.', next: [] } })
})

t.test('every operation names a verb that there is, and no two share a place', (t) => {
  const places = routes.map(({ method, path }) => `${method} ${path}`)
  t.strictSame(places.length, new Set(places).size)
  const ofNoVerb = routes.filter(({ verb }) => verb === null)
    .map(({ contract }) => contract.name)
  t.strictSame(ofNoVerb.sort(), ['alpha.input', 'config.save', 'config.show', 'overview'])
  t.end()
})

/** Names between backticks in the first column of the table of a section. */
const firstColumn = (page: string, heading: string): string[] => {
  const [, section = ''] = new RegExp(`^## ${heading}\n([^]*)`, 'm').exec(page) ?? []
  const cells = section.split('\n').filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|')[1] ?? '')
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
}

t.test('each verb has a route that the description names, or stands in the page among those that have none', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const { paths } = (await at.ask('GET', '/openapi.json')).json()
  const said = JSON.stringify(paths)
  const verbs = (await allVerbs()).map(({ meta: { name } }) => name)
  const routed = verbs.filter((name) =>
    new RegExp(`The same as \`sallyport ${name}[\` ]`).test(said))
  const page = readFileSync('docs/dev/routes.md', 'utf8')
  const none = firstColumn(page, 'At a terminal alone')
  t.equal(new Set(none).size, none.length, 'each once')
  t.strictSame([...none, ...routed].sort(), [...verbs].sort())
})
