/**
 * Every verb of the program while nobody answers for the state: what reads answers from the
 * replica, what changes or sends refuses, and what stops is in force on this machine.
 */
import { createHash } from 'node:crypto'
import { existsSync, utimesSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Test } from 'tap'
import { loadToken, tokenPath } from '../../../src/governance/session/token.js'
import { filesBelow } from '../../support/codehost/files-below.js'
import { keptOf } from '../../support/kept.js'
import { failure, must } from '../../support/must.js'
import { awayFiles, awayRows, type AwayRow, type Held } from '../../support/place/away.js'
import { firstMachine, nextMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'
import { take } from '../../support/shots.js'
import { slice } from '../../support/slice.js'
import { t } from '../../support/tests-in-slices.js'
import { forImages } from '../../world/gateway.js'
import { allowed } from '../../world/images.js'
import type { Loose, Ran } from '../../world/place.js'
import { allRecords } from '../../world/program.js'
import { World } from '../../world/world.js'

/** A shared state that holds something for each verb that reads, and its server. */
const prepared = async (t: Test) => {
  const server = await startPostgres(t)
  const world = await World.in(t).sandbox()
    .state({ owner: 'ada', more: ['--shared', server.url, '--machine-name', 'a'] })
    .session().alpha().gateway(forImages).images(allowed)
  const { place, json, run } = world
  awayFiles(place)
  const { root: { id: otherSession } } =
    await json(['login', '--token-file', place.path('other')])
  const { id: goal } = await json(['goal', 'add', 'Water'])
  const { task }: Loose = must(await world.ask()).json()
  await take(world, 'a.png')
  const { id: connection }: Loose = await json([
    'codehost', 'connect', '--repo', 'operator/notes', '--token-file',
    world.sandbox.keyFiles.codehost,
  ])
  must(await run([
    'codehost', 'consent', connection, '--action', 'issue.create', '--acknowledge',
    '--expected-revision', '1',
  ]))
  const issue = ['--connection', connection, '--title', 'x', '--body-file', '-']
  const { id: job, preview_digest: preview }: Loose =
    await json(['codehost', 'prepare', 'issue', ...issue], { stdin: 'A text.' })
  await nextMachine(t, world)
  must(await run(['principal', 'add', 'eve', '--passphrase-file', place.path('passphrase')]))
  const held: Held = {
    goal, task: task.id, operation: task.operation_id, connection, job, preview, otherSession,
    audit: (await json(['audit', 'list']))[0].id,
    image: world.rows()[0]?.observation_id ?? '',
  }
  return { server, world, rows: awayRows(held), held }
}

/** What of the state would be other bytes; notes of this machine's processes are not the state. */
const digestOf = ({ stateDir, configDir }: { stateDir: string; configDir: string }): string => {
  const hash = createHash('sha256')
  for (const dir of [stateDir, configDir]) {
    for (const [path, bytes] of filesBelow(dir)) {
      const name = relative(dir, path)
      if (!/^(?:run\/|lock$)/.test(name)) hash.update(`${name}\0`).update(bytes)
    }
  }
  return hash.digest('hex')
}

/** An answer without the moments that go on by themselves. */
const still = ({ status, stdout, stderr }: Ran) => ({
  status, code: stderr.startsWith('{') ? JSON.parse(stderr).error.code : stderr,
  out: stdout.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T')
    .replaceAll(/("\w+_(?:ms|seconds)":) ?\d+/g, '$1 n'),
})

const lineOf = (name: string, [, words]: AwayRow): string[] =>
  [...name.split(' '), ...words, '--json']

t.test('the table of verbs without a server names every verb of the program, and no other', async (t) => {
  const names = Object.keys(awayRows({
    goal: '', task: '', operation: '', audit: '', image: '', connection: '', job: '', preview: '',
    otherSession: '',
  }))
  t.strictSame(names.sort(), (await allRecords()).map(({ meta }) => meta.name).sort())
})

t.test('without a server every verb shows, refuses or stops as the table says, and sends nothing', async (t) => {
  const { server, world, rows } = await prepared(t)
  const { place, run } = world
  const stdin = 'A question'
  const cells = slice('away', Object.entries(rows), {
    axesOf: ([, [rule]]) => [rule], idOf: ([name]) => name, atLeast: 40,
  }).filter(([, [rule]]) => rule !== 'apart' && rule !== 'says')
  const back = keptOf(world)
  const before = new Map<string, ReturnType<typeof still>>()
  for (const [name, row] of cells) {
    if (row[0] !== 'shows' && row[0] !== 'here') continue
    before.set(name, still(await run(lineOf(name, row), { stdin })))
    back()
  }
  const records = async (): Promise<unknown> =>
    (await server.query('select max(sequence) as n from sallyport.records'))[0]
  const last = await records()
  const makeOld = (): void => {
    const at = Date.now() / 1_000 - 180
    utimesSync(join(place.stateDir, 'run', 'heard'), at, at)
  }
  await server.stop()
  back()
  const digest = digestOf(place)
  for (const [name, row] of cells) {
    const ran = await run(lineOf(name, row), { stdin })
    if (row[0] === 'shows' || row[0] === 'here') {
      t.strictSame(still(ran), before.get(name), `${name}: ${ran.stderr}`)
    } else if (row[0] === 'refuses') {
      t.strictSame(failure(ran), { status: 11, code: 'place_unreachable', out: '' }, name)
      t.equal(digestOf(place), digest, `${name} changed nothing`)
    } else {
      t.hasStrict(failure(ran), { status: 11, code: 'stop_out_of_reach' }, `${name}: ${ran.stderr}`)
      t.equal(world.open().stops.lying().length, 1, `${name} is in force here`)
    }
    t.strictSame(world.sandbox.log.all(), [], `${name} sent nothing`)
    t.notMatch(ran.stderr, /\n +at /, name)
    back()
  }
  for (const [name, row] of cells) {
    if (row[0] !== 'shows' || ['status', 'state check', 'state repair'].includes(name)) continue
    makeOld()
    const { stderr } = await run([...name.split(' '), ...row[1]], {
      stdin, terminal: { stdin: false, stdout: true, stderr: true },
    })
    t.equal(stderr.match(/was heard 3 min ago; what is shown is as old\./g)?.length, 1, name)
    back()
  }
  await server.start()
  t.strictSame(await records(), last, 'nothing came to be at the server')
})

t.test('a backup has what the server has; without one it has what is here, and says how old that is', async (t) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  const two = await nextMachine(t, one)
  must(await one.run(['goal', 'add', 'Water']))
  const last = Number((await server.query<{ n: string }>(
    'select max(sequence) as n from sallyport.records'))[0]?.n)
  t.equal((await two.json(['state', 'backup', 'first'])).sequence, last)
  await server.stop()
  const made = must(await two.run(['state', 'backup', 'second', '--json']))
  t.equal(made.json().sequence, last)
  t.match(made.stderr,
    /^What is newer at the server was not fetched \(place_unreachable\)\. It was heard /)
  for (const dir of ['first', 'second']) must(await two.run(['state', 'verify', dir]))
})

t.test('a session that ends while nobody answers is over here at once, and its token is forgotten', async (t) => {
  const server = await startPostgres(t)
  const one = await World.in(t)
    .state({ owner: 'ada', more: ['--shared', server.url, '--machine-name', 'a'] }).session()
  const kept = tokenPath(one.place.stateDir)
  const token = String(loadToken(kept))
  await server.stop()
  t.hasStrict(failure(await one.run(['logout', '--json'])), {
    status: 11, code: 'stop_out_of_reach',
  })
  t.notOk(existsSync(kept), 'no token lies here any more')
  t.hasStrict(failure(await one.run(['goal', 'list', '--json'])), { code: 'session_required' })
  const its = { env: { SALLYPORT_SESSION: token } }
  t.hasStrict(failure(await one.run(['goal', 'list', '--json'], its)), { code: 'session_ended' })
  await server.start()
  t.hasStrict(must(await one.run(['logout', '--json'])).json(), { ended: false })
  t.hasStrict(failure(await one.run(['goal', 'list', '--json'], its)), { code: 'session_ended' })
})
