import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { login, type LoginOptions } from '../../src/cli/commands/login/login.js'
import type { LoginDocument } from '../../src/governance/session/session-contract.js'
import { tokenPath } from '../../src/governance/session/token.js'
import { hour, minute } from '../support/clock.js'
import { World } from '../world/world.js'
import { failure } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'

const tokenOf = (path: string): string => readFileSync(path, 'utf8').trim()

t.test('login prints the session and never the token, which lies in a private file', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  const ran = await at.run(['login', '--json'])
  t.equal(ran.status, 0)
  const { root } = ran.json()
  t.strictSame(Object.keys(root), ['id', 'principal', 'issued_at', 'idle_expires_at', 'expires_at'])
  t.equal(root.principal, 'ada')
  t.equal(Date.parse(root.idle_expires_at) - Date.parse(root.issued_at), 30 * minute)
  t.equal(Date.parse(root.expires_at) - Date.parse(root.issued_at), 8 * hour)
  const path = tokenPath(at.place.stateDir)
  const token = tokenOf(path)
  t.match(token, /^[A-Za-z0-9_-]{43}$/)
  t.equal(statSync(path).mode & 0o777, 0o600)
  const text = await at.run(['login'])
  for (const seen of [ran.stdout, ran.stderr, text.stdout, text.stderr]) {
    t.notOk(seen.includes(token))
    t.notOk(seen.includes(tokenOf(path)))
  }
  t.match(text.stdout, /owner: +ada/)
})

t.test('A-166 without a session, with an ended one and with another token a verb is refused', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  const lines = [['session', 'show'], ['goal', 'list'], ['task', 'list'], ['principal', 'list'],
    ['goal', 'add', 'Tides'], ['alpha', 'show'], ['config', 'show']]
  const saves = [['alpha', 'setup', '--disable'], ['alpha', 'setup', '--max-output-tokens', '5']]
  const before = at.view().sequence
  for (const line of [...lines, ...saves]) {
    t.hasStrict(failure(await at.run([...line, '--json'])), {
      status: 4, code: 'session_required', out: '',
    })
  }
  t.equal(at.view().sequence, before, 'nothing was written')
  await at.json(['login'])
  for (const line of lines) t.equal((await at.run(line)).status, 0, line.join(' '))
  const env = { SALLYPORT_SESSION: 'A'.repeat(43) }
  for (const line of [...lines, ...saves]) {
    t.hasStrict(failure(await at.run([...line, '--json'], { env })), { code: 'session_invalid' })
  }
  at.clock.advance(30 * minute)
  for (const line of [...lines, ...saves]) {
    const ran = await at.run([...line, '--json'])
    t.hasStrict(failure(ran), { status: 4, code: 'session_idle' })
    t.equal(ran.error().status, 401)
  }
})

t.test('a token file holds the token alone, and SALLYPORT_SESSION carries it', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login', '--token-file', 'token'])
  t.notOk(existsSync(tokenPath(at.place.stateDir)))
  t.equal(statSync(at.place.path('token')).mode & 0o777, 0o600)
  t.equal((await at.run(['session', 'show'])).status, 4)
  const env = { SALLYPORT_SESSION: tokenOf(at.place.path('token')) }
  t.equal((await at.json(['session', 'show'], { env })).root.principal, 'ada')
  const other = await at.run(['login'], { env })
  t.match(other.stderr, /SALLYPORT_SESSION is set/)
  const empty = await at.json(['session', 'show'], { env: { SALLYPORT_SESSION: '' } })
  t.equal(empty.root.principal, 'ada', 'an empty one is none: the login of the terminal counts')
  t.hasStrict(failure(await at.run(['login', '--token-file', '-', '--json'])), {
    status: 2, code: 'token_to_stdout',
  })
})

t.test('a token that cannot be kept ends its session again', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  const file = join(at.place.write('plain', ''), 'token')
  const ran = await at.run(['login', '--json', '--token-file', file])
  t.hasStrict(failure(ran), { status: 1, code: 'token_not_written', out: '' })
  await at.json(['login'])
  const live = await at.json(['session', 'list', '--live'])
  t.equal(live.length, 1)
  t.equal((await at.json(['session', 'list'])).length, 2)
})

t.test('a passphrase comes from a file, stdin or a prompt, never from the line', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const passphraseFile = at.place.write('passphrase', 'correct horse\n')
  await at.json(['principal', 'add', 'bob', '--passphrase-file', passphraseFile])
  const bob = ['login', '--owner', 'bob']
  t.equal((await at.run([...bob, '--passphrase-file', passphraseFile])).status, 0)
  t.equal((await at.run([...bob, '--passphrase-file', '-'], { stdin: 'correct horse' })).status, 0)
  const terminal = { stdin: true, stdout: true }
  t.equal((await at.run(bob, { terminal, answers: ['correct horse'] })).status, 0)
  const ada = await at.run(['login', '--owner', 'ada'], { terminal })
  t.equal(ada.status, 0, 'an owner without a passphrase is not asked for one')
  const wrong = await at.run([...bob, '--json', '--passphrase-file', '-'], { stdin: 'wrong horse' })
  t.hasStrict(failure(wrong), { status: 4, code: 'login_refused', out: '' })
  const nobody = await at.run(
    ['login', '--owner', 'zed', '--json', '--passphrase-file', '-'], { stdin: 'wrong horse' },
  )
  t.equal(nobody.stderr, wrong.stderr)
  t.notOk(wrong.stderr.includes('wrong horse'))
  t.hasStrict(failure(await at.run(['login', '--json'])), { status: 2, code: 'owner_required' })
})

t.test('--replace ends the other sessions of the owner, a plain login ends none', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login', '--token-file', 'one'])
  await at.json(['login', '--token-file', 'two'])
  const env = (name: string) => ({ SALLYPORT_SESSION: tokenOf(at.place.path(name)) })
  t.equal((await at.run(['session', 'show'], { env: env('one') })).status, 0)
  await at.json(['login', '--replace'])
  for (const name of ['one', 'two']) {
    const ran = await at.run(['session', 'show', '--json'], { env: env(name) })
    t.hasStrict(failure(ran), { status: 4, code: 'session_ended' })
    t.equal(ran.error().reason, 'replaced')
    t.match((await at.run(['session', 'show'], { env: env(name) })).stderr, 'SALLYPORT_SESSION')
  }
  t.equal((await at.run(['session', 'show'])).status, 0)
})

t.test('times are durations within bounds, and a refused one opens nothing', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  const { root } = await at.json(['login', '--idle', '5m', '--ttl', '1h'])
  t.equal(Date.parse(root.expires_at) - Date.parse(root.issued_at), hour)
  for (const wrong of ['0s', '8d', '1.5h', '-1h', '', '90']) {
    t.hasStrict(failure(await at.run(['login', '--json', '--ttl', wrong])), {
      status: 3, code: 'flag_invalid', out: '',
    })
  }
  t.hasStrict(failure(await at.run(['login', '--json', '--idle', '25h'])), { status: 3 })
  t.equal((await at.json(['session', 'list'])).length, 1)
})

t.test('logout ends the session, forgets the token, and has nothing to do twice', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  const { root } = await at.json(['login'])
  t.strictSame(await at.json(['logout']), {
    schema: 'sallyport.logout.v1', ended: true, root: root.id, requests: [],
  })
  t.notOk(existsSync(tokenPath(at.place.stateDir)))
  t.strictSame(await at.json(['logout']), {
    schema: 'sallyport.logout.v1', ended: false, root: null, requests: [],
  })
  t.equal((await at.run(['session', 'show'])).status, 4)
  t.match((await at.run(['logout'])).stdout, /no open session/)
})

t.test('logout also ends a session that is idle', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  at.clock.advance(31 * minute)
  t.hasStrict(await at.json(['logout']), { ended: true })
  await at.json(['login'])
  const [, idle] = await at.json(['session', 'list'])
  t.hasStrict(idle, { live: false, ended_reason: 'logout' })
})

t.test('a plain init leaves no token and no session', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  t.notOk(existsSync(tokenPath(at.place.stateDir)))
  const run = join(at.place.stateDir, 'run')
  t.notOk(existsSync(run) && readdirSync(run).includes('sessions'))
})

t.test('the options of login are what was written', async (t) => {
  const seen: LoginOptions[] = []
  const note = async (options: LoginOptions): Promise<LoginDocument> => {
    seen.push(options)
    const [id, principal, issued_at, idle_expires_at, expires_at] = ['', '', '', '', '']
    return { root: { id, principal, issued_at, idle_expires_at, expires_at }, requests: [] }
  }
  const commands = [{ verb: 'login', load: async () => ({ ...login, run: note }) }]
  const line = ['login', '--owner', 'maria', '--idle', '10m', '--ttl', '2h', '--replace']
  t.equal((await World.in(t).place.run(line, { commands })).status, 0)
  t.strictSame(seen, [{ owner: 'maria', idle: 10 * minute, ttl: 2 * hour, replace: true }])
})
