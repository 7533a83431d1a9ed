/** Several processes of one machine: they share its replica, and its leases are theirs together. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChildProcess } from 'node:child_process'
import t from 'tap'
import { must } from '../../support/must.js'
import { waitingAsk } from '../../support/place/waiting-ask.js'
import { askOn, firstMachine, nextMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'
import { image } from '../../support/png.js'
import { until } from '../../support/until.js'

const server = await startPostgres(t)
let open = 0
let most = 0
const one = await firstMachine(t, server.url, { hooks: {
  onRequest: () => { most = Math.max(most, open += 1) },
  onDone: () => { open -= 1 },
} })
const two = await nextMachine(t, one)

const askApart = (text: string) =>
  one.place.spawn(['alpha', 'ask', '-', '--json', '--wait-turn', '60'], {
    stdin: text, coverage: false,
  })

t.test('asks of several processes of a machine are all answered, one at a time', async (t) => {
  const ran = await Promise.all(['a', 'b', 'c'].map((name) => askApart(`MARK: ${name}`)))
  t.strictSame(ran.map(({ status }) => status), [0, 0, 0], ran.map(({ stderr }) => stderr).join(''))
  t.equal(most, 1)
  t.equal(one.inferences().length, 3)
})

for (const step of ['contact_intent', 'before_first_byte', 'replied']) {
  t.test(`behind a process that was killed at ${step} the next one of its machine goes on at once`, async (t) => {
    const dead = waitingAsk(one, step, { how: 'kill' })
    await dead.asking
    const held = await server.query<{ name: string }>(
      `select name from sallyport.leases where ends > clock_timestamp() + interval '60 s'`)
    t.ok(held.some(({ name }) => name === 'lane'), 'the lane is still that of the dead process')
    t.ok(held.some(({ name }) => name.startsWith('hold/op_')))
    must(await askApart(`MARK: behind ${step}`))
    must(await askOn(two))
    t.equal(one.inferences().filter(({ body }) => body.includes(dead.question)).length,
      step === 'replied' ? 1 : 0)
  })
}

t.test('a watcher and asks of one machine do not keep each other from anything', async (t) => {
  const folder = one.place.path('shots')
  mkdirSync(folder)
  must(await one.run(['shots', 'config', 'set', '--json', '--folder', folder]))
  let child: ChildProcess | undefined
  const lines: string[] = []
  const watching = one.place.spawn(['shots', 'watch', '--json'], {
    coverage: false, env: { SVC_SCREENSHOT_FOLDER: folder },
    onChild: (its) => {
      child = its
      its.stdout?.on('data', (bytes: Buffer) => lines.push(bytes.toString()))
    },
  })
  t.teardown(() => void child?.kill('SIGKILL'))
  await until('it watches', () => lines.join('').includes('"watching"'))
  writeFileSync(join(folder, 'a.png'), image(1))
  must(await askApart('MARK: beside a watcher'))
  must(await askOn(two))
  await until('it took the image', () => lines.join('').includes('"ingested":1'))
  child?.kill('SIGINT')
  must(await watching)
  t.equal((await one.json(['state', 'check'])).ok, true)
})
