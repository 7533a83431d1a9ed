import { existsSync, rmSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { defaultProfile } from '../../src/governance/profile.js'
import { createStore } from '../../src/state/store.js'
import { World } from '../world/world.js'

t.test('an init that died before it wrote an owner: every verb says to run it again', async (t) => {
  const place = World.in(t).place
  t.equal((await place.run(['init'])).status, 0)
  const { workspace } = (await place.run(['status', '--json'])).json()
  rmSync(place.stateDir, { recursive: true })
  const profile = { ...defaultProfile, workspace: workspace ?? place.path('w') }
  const { stateDir: dir, configDir } = place
  createStore({ dir, configDir, profile, clock: systemClock }).close()
  for (const words of [['status'], ['login'], ['policy', 'revoke'], ['alpha', 'show']]) {
    const ran = await place.run([...words, '--json'])
    t.strictSame([ran.status, ran.error().code], [10, 'init_unfinished'], words.join(' '))
  }
  t.match((await place.run(['login'])).stderr, 'next: Run `sallyport init` again')
  const check = await place.run(['state', 'check'])
  t.matchStrict([check.status, check.stderr], [7, /next: Run `sallyport init` again/])
  t.match(check.stdout, 'init_unfinished')
  t.equal((await place.run(['init', '--workspace', place.path('w')])).status, 0)
  t.equal((await place.run(['login'])).status, 0)
  t.equal((await place.run(['state', 'check'])).status, 0)
})

t.test('an init with a wrong owner or passphrase is refused before it makes anything', async (t) => {
  const place = World.in(t).place
  writeFileSync(place.path('short'), 'short\n')
  const refused = [
    { words: ['--owner', 'bad name!'], code: 'principal_name' },
    { words: ['--passphrase-file', place.path('short')], code: 'passphrase_length' },
  ]
  for (const { words, code } of refused) {
    const ran = await place.run(['init', ...words, '--json'])
    t.strictSame([ran.status, ran.error().code], [3, code])
    t.equal(existsSync(place.stateDir), false, 'no state directory')
    t.equal(existsSync(place.configDir), false, 'no key and no anchor')
  }
  const made = await place.run(['init', '--owner', 'maria'])
  t.equal(made.status, 0, 'another owner, and another profile, are free to begin')
})
