import { World } from '../world/world.js'
import { failure } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'

t.test('goals are added, listed, shown, updated and closed', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const goal = await at.json(['goal', 'add', 'Learn about tides'])
  t.hasStrict(goal, { title: 'Learn about tides', state: 'open', revision: 1, is_default: false })
  t.strictSame(await at.json(['goal', 'show', goal.id]), goal)
  const updated = await at.json(['goal', 'update', goal.id, '--title', 'Learn about moons'])
  t.hasStrict(updated, { id: goal.id, revision: 2, title: 'Learn about moons' })
  t.hasStrict(await at.json(['goal', 'close', goal.id]), { revision: 3, state: 'closed' })
  const all = await at.json(['goal', 'list'])
  t.strictSame(all.map(({ is_default }: { is_default: boolean }) => is_default), [true, false])
  t.equal((await at.json(['goal', 'list', '--open'])).length, 1)
  t.match((await at.run(['goal', 'list'])).stdout, /\topen\t1\tyes\tGeneral\n/)
  t.match((await at.run(['goal', 'show', goal.id])).stdout, /title: +Learn about moons/)
})

t.test('a change of a goal that moved, is closed or is the default is a conflict', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const [general] = await at.json(['goal', 'list'])
  const refused = async (...words: string[]) => failure(await at.run(['goal', ...words, '--json']))
  t.hasStrict(await refused('close', general.id), { status: 5, code: 'default_goal' })
  const stale = ['--title', 'Other', '--expected-revision', '2']
  t.hasStrict(await refused('update', general.id, ...stale), {
    status: 5, code: 'stale_goal_revision', out: '',
  })
  const goal = await at.json(['goal', 'add', 'Tides'])
  t.hasStrict(await refused('close', goal.id, '--expected-revision', '7'), {
    code: 'stale_goal_revision',
  })
  await at.json(['goal', 'close', goal.id, '--expected-revision', '1'])
  t.hasStrict(
    await refused('update', goal.id, '--title', 'Other'), { status: 5, code: 'goal_closed' }
  )
})

t.test('bad titles, bad numbers and goals of others are refused', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const refused = async (...words: string[]) => failure(await at.run(['goal', ...words, '--json']))
  for (const title of ['', 'x'.repeat(201), 'a\nb']) {
    t.hasStrict(await refused('add', title), { status: 3, code: 'goal_title' })
  }
  t.hasStrict(await refused('show', 'goal_x'), { status: 6, code: 'goal_not_found' })
  t.hasStrict(await refused('update', 'goal_x'), { status: 2 })
  for (const revision of ['0x1', '1e0', '0', '']) {
    t.hasStrict(await refused('close', 'goal_x', '--expected-revision', revision), {
      status: 3, code: 'flag_invalid',
    })
  }
  const mine = await at.json(['goal', 'add', 'Mine'])
  const file = at.place.write('passphrase', 'correct horse')
  await at.json(['principal', 'add', 'bob', '--passphrase-file', file])
  await at.json(['login', '--owner', 'bob', '--passphrase-file', file])
  t.hasStrict(await refused('show', mine.id), { status: 6, code: 'goal_not_found' })
  t.hasStrict(await refused('close', mine.id), { status: 6, code: 'goal_not_found' })
})
