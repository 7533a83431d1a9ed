import { existsSync } from 'node:fs'
import t from 'tap'
import { tokenPath } from '../../src/governance/session/token.js'
import { minute } from '../support/clock.js'
import { World } from '../world/world.js'
import { failure } from '../support/must.js'

t.test('session show says whose session it is and until when', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  const { root } = await at.json(['login'])
  at.clock.advance(10 * minute)
  const shown = (await at.json(['session', 'show'])).root
  t.hasStrict(shown, { id: root.id, principal: 'ada', live: true, ended_at: null })
  t.equal(Date.parse(shown.last_use_at) - Date.parse(root.issued_at), 10 * minute)
  t.equal(shown.expires_at, root.expires_at)
  const text = (await at.run(['session', 'show'])).stdout
  t.match(text, /session: +root_/)
  t.match(text, /state: +live/)
})

t.test('session list shows the own sessions, or everybody’s, newest first', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  const first = (await at.json(['login', '--token-file', 'one'])).root
  const second = (await at.json(['login'])).root
  const file = at.place.write('passphrase', 'correct horse')
  await at.json(['principal', 'add', 'bob', '--passphrase-file', file])
  const login = ['login', '--owner', 'bob', '--passphrase-file', file, '--token-file', 'bob']
  const bob = (await at.json(login)).root
  const ids = (rows: { id: string }[]): string[] => rows.map(({ id }) => id)
  t.strictSame(ids(await at.json(['session', 'list'])), [second.id, first.id])
  t.strictSame(ids(await at.json(['session', 'list', '--all'])), [bob.id, second.id, first.id])
  const lines = (await at.run(['session', 'list', '--all'])).stdout.trimEnd().split('\n')
  t.equal(lines.length, 3)
  t.match(lines[0], new RegExp(`^${bob.id}\tbob\tlive\t`))
})

t.test('session revoke ends a session by its id, also another owner’s', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const file = at.place.write('passphrase', 'correct horse')
  await at.json(['principal', 'add', 'bob', '--passphrase-file', file])
  const login = ['login', '--owner', 'bob', '--passphrase-file', file, '--token-file', 'bob']
  const bob = (await at.json(login)).root
  const revoked = await at.json(['session', 'revoke', bob.id])
  t.hasStrict(revoked, { ended: true, root: { id: bob.id, live: false, ended_reason: 'revoked' } })
  t.hasStrict(await at.json(['session', 'revoke', bob.id]), { ended: false })
  t.hasStrict(failure(await at.run(['session', 'revoke', 'root_x', '--json'])), {
    status: 6, code: 'session_not_found', out: '',
  })
  t.match((await at.run(['session', 'list', '--all'])).stdout, /ended \(revoked\)/)
  t.equal((await at.json(['session', 'list', '--all', '--live'])).length, 1)
})

t.test('revoking the session in use forgets its token, too', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  const { root } = await at.json(['login'])
  t.match((await at.run(['session', 'revoke', root.id])).stdout, /ended \(revoked\)/)
  t.notOk(existsSync(tokenPath(at.place.stateDir)))
  t.equal((await at.run(['session', 'show'])).status, 4)
})
