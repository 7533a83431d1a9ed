/** What a line says of a server, and what is told of one that does not answer. */
import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer, Loose } from '../../world/place.js'
import { failure, must } from '../../support/must.js'
import { startPostgres } from '../../support/place/postgres.js'
import { t } from '../../support/tests-in-slices.js'
import { World } from '../../world/world.js'

const terminal = { stdin: true, stdout: true, stderr: true }

t.test('an address with a password, another form or no certificates is refused before anything is made', async (t) => {
  const at = await World.in(t)
  const refused = async (...words: string[]) =>
    failure(await at.run(['init', ...words, '--json']))
  const cases: Readonly<Record<string, readonly string[]>> = {
    password_on_command_line: ['--shared', 'postgres://ops:pw@127.0.0.1/x'],
    place_address_invalid: ['--shared', 'postgres://ops@127.0.0.1/x?sslmode=disable'],
    server_ca_needed: ['--shared', 'postgres://ops@db.example/x'],
    server_ca_invalid: [
      '--shared', 'postgres://ops@db.example/x', '--server-ca', at.place.write('ca.pem', 'none'),
    ],
    machine_name_form: ['--shared', 'postgres://ops@127.0.0.1/x', '--machine-name', 'a b'],
    secret_malformed: [
      '--shared', 'postgres://ops@127.0.0.1/x',
      '--server-password-file', at.place.write('pw', 'two\nlines\n'),
    ],
  }
  for (const [code, words] of Object.entries(cases)) {
    t.hasStrict(await refused(...words), { status: 3, code, out: '' })
  }
  t.hasStrict(await refused('--machine-name', 'a'), { status: 2, code: 'shared_needed' })
  t.hasStrict(await at.json(['state', 'path']), { exists: false })
})

t.test('a state in a directory has no machines, and says how it is shared', async (t) => {
  const at = await World.in(t).state({ owner: 'ada' }).session()
  const secret = at.place.write('passphrase', 'goes by another way')
  for (const line of [
    ['machine', 'list'], ['machine', 'retire', 'x', '--yes'], ['state', 'unshare', '--yes'],
    ['machine', 'invite', 'x', '--to', at.place.path('x'), '--passphrase-file', secret],
  ]) {
    const ran = await at.run([...line, '--json'])
    t.hasStrict(failure(ran), { status: 3, code: 'not_shared' }, line.join(' '))
    t.match(ran.error().hint ?? '', 'sallyport state share ADDRESS')
  }
  t.notOk('shared' in (await at.json(['status'])))
})

t.test('an invitation is asked its passphrase twice on a terminal, and read once to join', async (t) => {
  const server = await startPostgres(t)
  const [one, two] = [await World.in(t), await World.in(t)]
  must(await one.run(['init', '--shared', server.url, '--machine-name', 'one']))
  must(await one.run(['login']))
  const file = one.place.path('two.invite')
  const invite = ['machine', 'invite', 'two', '--to', file]
  const asked = async (...answers: Answer[]) => one.run(invite, { terminal, answers })
  t.equal((await asked('a passphrase', 'another one!')).status, 3)
  t.equal((await asked('short', 'short')).status, 3)
  t.hasStrict(failure(await one.run([...invite, '--json'])), { status: 2, code: 'input_required' })
  const made = must(await asked('a passphrase', 'a passphrase'))
  // The line is broken where the path is long, so that it pastes.
  t.match(made.stdout.replace(/ \\\n\s+/g, ' '), `sallyport machine join ${file}`)
  const taken = ['machine', 'invite', 'one', '--to', one.place.path('other')]
  t.hasStrict(failure(await one.run([...taken, '--json'])), {
    status: 5, code: 'machine_name_taken',
  })
  const notOne = two.place.write('no.invite', '{}')
  t.hasStrict(failure(await two.run(['machine', 'join', notOne, '--json'])), {
    status: 3, code: 'invitation_file',
  })
  const joined = must(
    await two.run(['machine', 'join', file], { terminal, answers: ['a passphrase'] }))
  t.match(joined.stdout, /^machine {4}two$/m)
  t.hasStrict(failure(await two.run(['machine', 'join', file, '--json'])), {
    status: 5, code: 'state_exists',
  }, 'before a passphrase is asked for')
})

t.test('a server that does not answer is one line of doctor, and status needs none', async (t) => {
  const server = await startPostgres(t)
  const one = await World.in(t)
  must(await one.run(['init', '--shared', server.url, '--machine-name', 'one']))
  must(await one.run(['login']))
  const rowsOf = async (): Promise<Loose> => (await one.run(['doctor', '--json'])).json().checks
  const checkOf = async (name: string) =>
    (await rowsOf()).find((check: Loose) => check.name === name)
  t.hasStrict(await checkOf('server'), { result: 'ok' })
  t.hasStrict(await checkOf('clock of the server'), { result: 'ok' })
  t.hasStrict(await checkOf('standby'), { result: 'ok', text: 'none is connected' })
  t.hasStrict(await checkOf('machines'), { result: 'ok', text: '1 machine; this is one' })
  await server.stop()
  t.match((await checkOf('server')).text, /^place_unreachable: /)
  t.equal(await checkOf('machines'), undefined, 'it is not waited for twice')
  t.hasStrict((await one.json(['status'])).shared, { machine: 'one', machines: 1 })
  t.hasStrict(failure(await one.run(['goal', 'add', 'Read', '--json'])), {
    status: 11, code: 'place_unreachable',
  })
  const heard = (secondsAgo: number): void => {
    const at = Date.now() / 1_000 - secondsAgo
    utimesSync(join(one.place.stateDir, 'run', 'heard'), at, at)
  }
  heard(5)
  const shown = must(await one.run(['goal', 'list'], { terminal }))
  t.notMatch(shown.stderr, 'was heard', 'what is not a minute old is not told as old')
  heard(180)
  const stale = must(await one.run(['goal', 'list'], { terminal }))
  t.match(stale.stderr, 'The server of this state was heard 3 min ago; what is shown is as old.')
  t.equal(must(await one.run(['goal', 'list'])).stderr, '', 'nobody is told in a pipe')
  t.match(must(await one.run(['status'], { terminal })).stdout, /^shared {5}127\.0\.0\.1\/postgres, /m)
})
