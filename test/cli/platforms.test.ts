/** Machines on which the program refuses, or lacks something, say so and show the way on. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { platformRowOf, platformRows } from '../../src/base/platform/table.js'
import { darwin } from '../../src/base/platform/darwin.js'
import { linux } from '../../src/base/platform/linux.js'
import { other, windows } from '../../src/base/platform/other.js'
import { standingText } from '../../src/cli/help/topics/platforms.js'
import { t } from '../support/tests-in-slices.js'
import type { Loose, Ran } from '../world/place.js'
import { World } from '../world/world.js'

const preload = (name: string): string[] => ['--require', join(process.cwd(), 'test/support', name)]

t.test('each kind of machine has a row, and what is known of none has the last', (t) => {
  const musl = { ...linux, usesMusl: () => true }
  const glibc = { ...linux, usesMusl: () => false }
  t.strictSame([
    platformRowOf(glibc, 'x64'), platformRowOf(glibc, 'arm64'), platformRowOf(glibc, 'riscv64'),
    platformRowOf(musl, 'x64'), platformRowOf(darwin, 'arm64'), platformRowOf(windows, 'x64'),
    platformRowOf(other, 'x64'),
  ].map(({ id }) => id), [
    'linux-x64', 'linux-arm64', 'other', 'linux-musl', 'darwin', 'windows', 'other',
  ])
  t.end()
})

t.test('the page of platforms and the help topic have each row of the record', async (t) => {
  const page = readFileSync('docs/platforms.md', 'utf8').split('\n')
  const place = World.in(t).place
  const topic = (await place.run(['help', 'platforms'])).stdout.replace(/\s+/g, ' ')
  for (const { name, standing, because, lacks, instead } of platformRows) {
    const cells = [name, standingText[standing], because, lacks ?? 'Nothing.', instead ?? '']
    t.ok(page.includes(`| ${cells.join(' | ')} |`.replace('|  |', '| |')), name)
    for (const told of [`${name}: ${standingText[standing]}`, because, lacks, instead]) {
      t.ok(told === null || topic.includes(told), told ?? '')
    }
  }
  t.equal(page.filter((line) => line.startsWith('| ') && /: |\. \|/.test(line)).length >= 6, true)
})

const checksOf = (ran: Ran): readonly Loose[] => ran.json().checks

t.test('where locks cannot be had nothing is made, written or played, and help, version and doctor answer with the way on', async (t) => {
  const world = await World.in(t).state().session()
  const fresh = World.in(t).place
  const cases = [
    ['musl', 'linux-musl', /node:22-slim/], ['windows', 'windows', /WSL/],
    ['lost', 'add_on', /Install the package again/], ['26985', 'shared_disk', /local disk/],
  ] as const
  for (const [where, reason, next] of cases) {
    const how = { nodeArgs: preload('elsewhere.cjs'), env: { ELSEWHERE: where } }
    for (const argv of [['help'], ['help', 'platforms'], ['--version'], ['goal', '--help']]) {
      t.equal((await fresh.spawn(argv, how)).status, 0, `${where}: ${argv.join(' ')}`)
    }
    for (const ran of [
      await fresh.spawn(['init', '--owner', 'ada', '--json'], {
        ...how, stdin: 'long enough words\n',
      }),
      await world.place.spawn(['goal', 'add', 'Water the plants.', '--json'], how),
      await fresh.spawn(['demo', '--json'], how),
    ]) {
      t.strictSame([ran.status, ran.error().code, ran.error().reason],
        [1, 'lock_unavailable', reason], `${where}: ${ran.stderr}`)
      t.match(JSON.stringify(ran.error()), next)
    }
    t.notOk(existsSync(fresh.stateDir), 'no state was begun')
    t.equal((await world.place.spawn(['goal', 'list'], how)).status, 0, 'a state is read')
    const doctor = await world.place.spawn(['doctor', '--json'], how)
    t.equal(doctor.status, 7, where)
    const problem = checksOf(doctor).find(({ result }) => result === 'problem')
    t.match(problem?.name, /^(platform|lock add-on|state directory)$/)
  }
  const goals = (await world.run(['goal', 'list', '--json'])).json<readonly Loose[]>()
  t.notOk(goals.some(({ title }) => title === 'Water the plants.'))
})

t.test('doctor says of a Mac what was not tried there and what is missing, which is no problem', async (t) => {
  const { place } = await World.in(t).state().session()
  const ran = await place.spawn(['doctor', '--json'], { nodeArgs: preload('darwin.cjs') })
  t.equal(ran.status, 0, ran.stderr)
  const told = checksOf(ran).find(({ name }) => name === 'platform')
  t.strictSame([told?.result, told?.next], ['note', 'sallyport help platforms'])
  t.match(told?.text, /^macOS.*Missing: Publications from folders/)
  t.ok(checksOf(ran).some(({ text }) => /^loads on darwin/.test(text)))
})

t.test('on a Mac who would publish a folder is told so before anything is typed, read or asked', async (t) => {
  const world = await World.in(t).state().session()
  const how = { producer: { platform: 'darwin' as const } }
  for (const argv of [
    ['codehost', 'publish', 'no-such-folder/', '--json'],
    ['codehost', 'prepare', 'publication', '--body-file', 'no-such-file', '--json'],
  ]) {
    const ran = await world.place.run(argv, how)
    t.strictSame([ran.status, ran.error().code, ran.error().reason],
      [7, 'producer_unsupported', 'platform'], argv.join(' '))
  }
  const issue = await world.place.run(
    ['codehost', 'prepare', 'issue', '--title', 'T', '--body-file', 'no-such-file', '--json'], how)
  t.not(issue.error().code, 'producer_unsupported', 'issues are whole')
})
