/** An invitation lets one machine in, once, at the server where it was written. */
import { readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { runForm } from '../../../src/state/place/known-run.js'
import {
  openInvitation, readInvitation, sealInvitation, type Invitation,
} from '../../../src/state/place/invitation.js'
import { must } from '../../support/must.js'
import { firstMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'
import { World } from '../../world/world.js'

const passphrase = 'goes by another way'

const invited = async (t: Test) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  const file = one.place.path('b.invite')
  const secret = one.place.write('b.passphrase', `${passphrase}\n`)
  must(await one.run(['machine', 'invite', 'b', '--to', file, '--passphrase-file', secret]))
  const join = async () => (await World.in(t)).run(
    ['machine', 'join', file, '--passphrase-file', secret, '--json'])
  return { one, file, join }
}

t.test('an invitation lets one machine in, is recorded, and lets none in behind its retirement', async (t) => {
  const { one, join } = await invited(t)
  const { machine_id: id } = must(await join()).json()
  t.hasStrict((await join()).error(), { code: 'invitation_used' })
  t.hasStrict((await one.json(['machine', 'list']))[1], { machine_id: id, retired_at: null })
  t.ok((await one.json(['audit', 'list'])).some(({ what, subject }: Record<string, unknown>) =>
    what === 'machine.joined' && subject === id))
  must(await one.run(['machine', 'retire', 'b', '--yes']))
  t.hasStrict((await join()).error(), { code: 'machine_retired' })
})

t.test('an invitation names the run of its server, and lets nobody in at another one', async (t) => {
  const { one, file, join } = await invited(t)
  const written = await openInvitation(readInvitation(readFileSync(file)), passphrase)
  t.match(written.run, runForm)
  writeFileSync(file, await sealInvitation({ ...written, run: '1/0000000A' }, passphrase))
  const refused = (await join()).error()
  t.equal(refused.code, 'server_changed')
  t.match(refused.hint, /machine invite/)
  t.equal((await one.json(['machine', 'list'])).length, 1)
  const older = Object.fromEntries(Object.entries(written)
    .filter(([name]) => name !== 'run' && name !== 'machine')) as Invitation
  writeFileSync(file, await sealInvitation(older, passphrase))
  must(await join())
})
