/** `init` run again, and profiles by name. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { main } from '../../src/cli/main.js'
import { World } from '../world/world.js'
import type { Place, Ran } from '../world/place.js'
import { filesBelow } from '../support/marks.js'
import { t } from '../support/tests-in-slices.js'

const refusal = (ran: Ran) => [ran.status, ran.error().code]

/** Every file of state and key folder with its bytes. */
const bytesOf = ({ stateDir, configDir }: Place): ReadonlyMap<string, string> =>
  new Map([stateDir, configDir].flatMap(filesBelow)
    .map((path) => [path, readFileSync(path, 'hex')] as const))

t.test('the same init again is done at once: no byte is written, no passphrase read', async (t) => {
  const { place } = World.in(t)
  place.write('secret', 'a long enough passphrase\n')
  const line = ['init', '--owner', 'maria', '--passphrase-file', 'secret', '--json']
  const first = await place.run(line)
  t.equal(first.status, 0, first.stderr)
  const before = bytesOf(place)
  const again = await place.run([...line.slice(0, -2), 'no-such-file', '--json'])
  t.equal(again.status, 0, 'the passphrase is not read')
  t.strictSame(again.json(), first.json())
  t.match(again.stderr, /nothing was changed/)
  t.strictSame(bytesOf(place), before, 'nothing was written')
  t.equal((await place.run(['login', '--owner', 'maria', '--passphrase-file', 'secret'])).status, 0,
    'the passphrase is the one of the first time')
})

t.test('an init with another owner, workspace or profile is a conflict', async (t) => {
  const { place } = World.in(t)
  t.equal((await place.run(['init', '--owner', 'maria'])).status, 0)
  const before = bytesOf(place)
  const maria = ['--owner', 'maria']
  for (const words of [[], ['--owner', 'otto'], [...maria, '--workspace', '/elsewhere']]) {
    t.strictSame(refusal(await place.run(['init', ...words, '--json'])), [5, 'state_exists'])
  }
  place.write('own.json', JSON.stringify({
    schema: 'sallyport.profile.v1', name: 'own',
    provider: { name: 'own', base_url: 'https://provider.example/v1', model_id: 'm' },
  }))
  const other = await place.run(['init', '--owner', 'maria', '--profile', 'own.json', '--json'])
  t.strictSame(refusal(other), [5, 'state_exists'])
  t.strictSame(bytesOf(place), before, 'nothing was written')
})

t.test('a profile is taken by name: default, or the sandbox that runs', async (t) => {
  const { place } = World.in(t)
  const none = await place.run(['init', '--profile', 'sandbox', '--json'])
  t.strictSame(refusal(none), [6, 'sandbox_not_running'])
  t.strictSame(none.error().next,
    [{ command: 'sallyport sandbox start --background', needs_person: true }])
  t.strictSame(refusal(await place.run(['init', '--profile', 'other', '--json'])),
    [3, 'profile_unknown'])
  const own = { schema: 'sallyport.profile.v1', name: 'own', provider: {
    name: 'own', base_url: 'https://provider.example/v1', model_id: 'm',
  } }
  for (const name of ['other', 'sandbox']) place.write(name, JSON.stringify(own))
  const elsewhere = ['--state-dir', place.path('elsewhere'), '--json']
  t.equal((await place.run(['init', '--profile', 'other', ...elsewhere])).json().profile, 'own')
  t.strictSame(refusal(await place.run(['init', '--profile', 'sandbox', '--json'])),
    [6, 'sandbox_not_running'], 'a name stays a name beside such a file')
  const named = await place.run(['init', '--profile', 'default', '--json'])
  t.equal(named.status, 0, named.stderr)
  t.match((await place.run(['init'])).stdout, /^profile +near-ai-cloud, sealed for good$/m)
  t.strictSame((await place.run(['init', '--json'])).json(), named.json(), 'the built-in one')
  t.equal(named.json().provider.name, 'near-ai-cloud')
})

t.test('the sandbox of the default folder gives its profile while it runs', async (t) => {
  const { place } = World.in(t)
  const env = { XDG_STATE_HOME: join(place.dir, 'xdg') }
  const stop = new AbortController()
  const runs = place.run(['sandbox', 'start', '--json'], { env, stop: stop.signal })
  let made: Ran
  do made = await place.run(['init', '--profile', 'sandbox', '--json'], { env })
  while (made.status === 6)
  t.equal(made.status, 0, made.stderr)
  t.match(made.json().provider.base_url, /^https:\/\/(localhost|127\.0\.0\.1)/)
  stop.abort()
  await runs
})

t.test('a version that cannot be written out is a failure as any other', async (t) => {
  const stderr: string[] = []
  const full = Object.assign(new Error('full'), { code: 'ENOSPC', syscall: 'write' })
  const io = {
    terminal: { stdin: false, stdout: false, stderr: false }, columns: 80, rows: 24,
    writeOut: () => { throw full }, writeErr: (text: string) => void stderr.push(text),
  }
  const argv = ['--version', '--json']
  t.equal(await main({ argv, io, env: {} } as unknown as Parameters<typeof main>[0]), 1)
  t.hasStrict(JSON.parse(stderr.join('')).error,
    { code: 'result_not_written', details: { errno: 'ENOSPC' } })
})

t.test('--version --json is taken in any order, and no other word beside it', async (t) => {
  const { place } = World.in(t)
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const line of [['--version', '--json'], ['--json', '--version'], ['--json', '-V']]) {
    t.strictSame((await place.run(line)).json(), { version }, line.join(' '))
  }
  t.equal((await place.run(['--version', '--quiet'])).stdout, `${version}\n`)
  t.equal((await place.run(['goal', '--version'])).status, 2)
})

t.test('an unknown help topic suggests the one that was meant', async (t) => {
  const ran = await World.in(t).place.run(['help', 'mony', '--json'])
  t.strictSame([ran.status, ran.error().next],
    [6, [{ command: 'sallyport help money', needs_person: false }]])
  t.strictSame((await World.in(t).place.run(['help', 'xyzzy', '--json'])).error().next, [])
})
