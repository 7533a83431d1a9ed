/** What is refused of machines before anybody types a passphrase. */
import { failure } from '../../support/must.js'
import { t } from '../../support/tests-in-slices.js'
import { World } from '../../world/world.js'

t.test('where there is a state none is joined, and one in a directory invites nobody: no passphrase is asked for', async (t) => {
  const at = await World.in(t).state({ owner: 'ada' }).session()
  const file = at.place.write('b.invite', '{}')
  t.hasStrict(failure(await at.run(['machine', 'join', file, '--json'])), {
    status: 5, code: 'state_exists',
  })
  const invite = ['machine', 'invite', 'b', '--to', at.place.path('c.invite'), '--json']
  t.hasStrict(failure(await at.run(invite)), { status: 3, code: 'not_shared' })
})
