/** Two machines, one server: the verbs by which they come together and part. */
import { statSync } from 'node:fs'
import { anchorOf } from '../../support/anchor.js'
import { failure, must } from '../../support/must.js'
import { startPostgres } from '../../support/place/postgres.js'
import { t } from '../../support/tests-in-slices.js'
import { World } from '../../world/world.js'

const passphrase = 'goes by another way'

t.test('two machines share a state: init --shared, invite, join, list, status, retire', async (t) => {
  const server = await startPostgres(t)
  const [one, two] = [await World.in(t), await World.in(t)]
  const made = await one.json([
    'init', '--owner', 'ada', '--shared', server.url, '--machine-name', 'build-1',
  ])
  t.hasStrict(made.shared, { place: '127.0.0.1/postgres', machine: 'build-1' })
  must(await one.run(['login']))
  const status = await one.json(['status'])
  t.hasStrict(status.shared, { place: '127.0.0.1/postgres', machine: 'build-1', machines: null })
  t.hasStrict(await one.json(['machine', 'list']), [
    { name: 'build-1', here: true, retired_at: null },
  ])
  t.equal((await one.json(['status'])).shared.machines, 1)

  const file = one.place.path('build-2.invite')
  const secret = one.place.write('passphrase', `${passphrase}\n`)
  const invite = ['machine', 'invite', 'build-2', '--to', file, '--passphrase-file', secret]
  const before = anchorOf(one.place)
  t.hasStrict(await one.json(invite), { name: 'build-2', file })
  t.not(anchorOf(one.place), before, 'an old copy cannot forget who was invited')
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.hasStrict(failure(await one.run([...invite, '--json'])), { status: 5, code: 'file_exists' })

  const wrong = one.place.write('wrong', 'another passphrase')
  t.hasStrict(failure(await two.run(
    ['machine', 'join', file, '--passphrase-file', wrong, '--json'])), {
    status: 3, code: 'invitation_not_opened',
  })
  const join = ['machine', 'join', file, '--passphrase-file', secret]
  const joined = await two.json(join)
  t.hasStrict(joined, { machine_name: 'build-2', store_id: made.store_id })
  t.hasStrict(failure(await two.run([...join, '--json'])), { status: 5, code: 'state_exists' })
  must(await two.run(['login', '--owner', 'ada']))
  t.hasStrict((await two.json(['machine', 'list'])).map((row: object) => row), [
    { name: 'build-1', here: false }, { name: 'build-2', here: true },
  ])

  await two.json(['goal', 'add', 'MARK-goal'])
  const seen = await server.query<{ body: Buffer }>(`
    select body from sallyport.records union all select body from sallyport.blobs
    union all select body from sallyport.stops union all select facts from sallyport.fences`)
  t.ok(seen.length > 5)
  for (const { body } of seen) {
    for (const word of ['MARK-goal', 'session', 'principal']) t.notOk(body.includes(word), word)
  }

  t.hasStrict(failure(await one.run(['machine', 'retire', 'build-1', '--yes', '--json'])), {
    status: 3, code: 'machine_is_this_one',
  })
  t.hasStrict(failure(await one.run(['machine', 'retire', 'none', '--yes', '--json'])), {
    status: 6, code: 'machine_not_found',
  })
  const out = await one.run(['machine', 'retire', 'build-2'], {
    terminal: { stdin: true, stdout: true },
    answers: [async () => {
      must(await one.run(['logout']))
      return true
    }],
  })
  t.equal(out.status, 4)
  must(await one.run(['login']))
  t.hasStrict(await one.json(['machine', 'list']), [
    { retired_at: null }, { name: 'build-2', retired_at: null },
  ])
  const here = anchorOf(one.place)
  const retired = await one.json(['machine', 'retire', 'build-2', '--yes'])
  t.not(anchorOf(one.place), here, 'nor who was retired')
  t.matchStrict(retired, { retired: true, machine: { name: 'build-2', retired_at: String } })
  t.hasStrict(await one.json(['machine', 'retire', 'build-2', '--yes']), { retired: false })
  t.hasStrict(failure(await two.run(['goal', 'add', 'Read', '--json'])), {
    status: 7, code: 'machine_retired',
  })
})

t.test('a directory as it stands is shared, and taken back with what another machine wrote', async (t) => {
  const server = await startPostgres(t)
  const one = await World.in(t).state({ owner: 'ada' }).session()
  const two = await World.in(t)
  await one.json(['goal', 'add', 'Read'])
  const share = ['state', 'share', server.url, '--machine-name', 'one']
  t.hasStrict(failure(await one.run([...share, '--json'])), { status: 2, code: 'input_required' })
  const shared = await one.json([...share, '--yes'])
  t.hasStrict(shared, { place: '127.0.0.1/postgres', machine_name: 'one' })
  t.hasStrict(failure(await one.run([...share, '--yes', '--json'])), {
    status: 5, code: 'shared_already',
  })
  const secret = one.place.write('passphrase', passphrase)
  const file = one.place.path('two.invite')
  await one.json(['machine', 'invite', 'two', '--to', file, '--passphrase-file', secret])
  await two.json(['machine', 'join', file, '--passphrase-file', secret])
  await two.json(['login', '--owner', 'ada'])
  await two.json(['goal', 'add', 'Write'])
  await one.json(['state', 'unshare', '--yes'])
  const titles = (await one.json(['goal', 'list'])).map(({ title }: { title: string }) => title)
  t.ok(titles.includes('Read') && titles.includes('Write'))
  t.notOk('shared' in (await one.json(['status'])))
  await one.json(['goal', 'add', 'Rest'])
  t.not((await two.run(['goal', 'add', 'Never', '--json'])).status, 0)
  const done = (await one.json(['audit', 'list'])).map(({ what }: { what: string }) => what)
  for (const what of ['state.shared', 'machine.invited', 'state.unshared']) {
    t.ok(done.includes(what), what)
  }
  t.equal((await one.run(['state', 'check'])).status, 0)
  // What lies there is nobody's any more: the same directory takes its place.
  t.hasStrict(await one.json([...share, '--yes']), { machine_name: 'one' })
  t.hasStrict(await one.json(['machine', 'list']), [{ name: 'one', here: true }])
})
