import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { World } from '../world/world.js'
import { failure } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'

const terminal = { stdin: true, stdout: true }

t.test('principal add makes an owner with a goal, and its passphrase is in no file', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const file = at.place.write('passphrase', 'correct horse battery\n')
  const added = await at.json(['principal', 'add', 'bob', '--passphrase-file', file])
  t.hasStrict(added, { principal: { name: 'bob', has_passphrase: true, disabled_at: null } })
  t.match(added.goal_id, /^goal_/)
  const files = readdirSync(at.place.stateDir, { recursive: true, withFileTypes: true })
  for (const entry of files.filter((one) => one.isFile())) {
    const bytes = readFileSync(join(entry.parentPath, entry.name))
    t.notOk(bytes.includes('correct horse battery'), entry.name)
  }
  const list = await at.json(['principal', 'list'])
  t.strictSame(list.map(({ name }: { name: string }) => name), ['ada', 'bob'])
  t.strictSame(list.map((row: { is_default: boolean }) => row.is_default), [true, false])
  t.match((await at.run(['principal', 'list'])).stdout, /^ada\tenabled\tnone\t.*\nbob\tenabled\tyes/)
})

t.test('a passphrase is asked for twice on a terminal, and never elsewhere', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const add = ['principal', 'add', 'bob']
  t.hasStrict(
    failure(await at.run([...add, '--json'])), { status: 2, code: 'input_required', out: '' }
  )
  const differs = await at.run([...add, '--json'], {
    terminal, answers: ['correct horse', 'incorrect horse'],
  })
  t.hasStrict(failure(differs), { status: 3, code: 'passphrase_differs' })
  t.notOk(differs.stderr.includes('correct horse'))
  t.equal((await at.json(['principal', 'list'])).length, 1)
  const answers = ['correct horse', 'correct horse']
  t.equal((await at.run(add, { terminal, answers })).status, 0)
})

t.test('a bad name, a short passphrase and a name that is taken change nothing', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const file = at.place.write('passphrase', 'correct horse')
  const add = async (name: string, from = file) =>
    failure(await at.run(['principal', 'add', name, '--passphrase-file', from, '--json']))
  t.hasStrict(await add('b b'), { status: 3, code: 'principal_name' })
  t.hasStrict(
    await add('bob', at.place.write('short', 'short')), { status: 3, code: 'passphrase_length' }
  )
  t.hasStrict(await add('bob', at.place.write('long', 'x'.repeat(1025))), { status: 3 })
  t.hasStrict(await add('bob', at.place.path('missing')), { status: 3, code: 'input_unreadable' })
  t.hasStrict(await add('Ada'), { status: 5, code: 'principal_exists' })
  t.equal((await at.json(['principal', 'list'])).length, 1)
})

t.test('principal disable ends an owner’s sessions for good, and asks on a terminal', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const file = at.place.write('passphrase', 'correct horse')
  await at.json(['principal', 'add', 'bob', '--passphrase-file', file])
  const login = ['login', '--owner', 'bob', '--passphrase-file', file, '--token-file', 'bob']
  await at.json(login)
  const declined = await at.run(['principal', 'disable', 'bob'], {
    terminal,
    answers: [async (asked) => {
      t.equal(asked, 'Disable this owner for good? No command lets them in again, unless an older '
        + 'backup replaces this state.')
      return false
    }],
  })
  t.equal(declined.status, 130)
  const env = { SALLYPORT_SESSION: readFileSync(at.place.path('bob'), 'utf8').trim() }
  t.equal((await at.run(['session', 'show'], { env })).status, 0)
  const disabled = await at.json(['principal', 'disable', 'bob'])
  t.hasStrict(disabled, { sessions_ended: 1, principal: { name: 'bob' } })
  t.equal((await at.run(['session', 'show'], { env })).status, 4)
  t.hasStrict(failure(await at.run([...login, '--json'])), { status: 4, code: 'login_refused' })
  const last = failure(await at.run(['principal', 'disable', 'ada', '--json']))
  t.hasStrict(last, { status: 5, code: 'last_principal' })
  t.hasStrict(failure(await at.run(['principal', 'disable', 'zed', '--json'])), {
    status: 6, code: 'principal_not_found',
  })
  const text = await at.run(['principal', 'disable', 'bob', '--yes'], { terminal })
  t.match(text.stdout, /state: +disabled/)
})
