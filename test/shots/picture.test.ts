/** Whose pictures and days are read, and of which folder; how they are sent is the page's. */
import { mkdirSync } from 'node:fs'
import { pictureOwner, openPicture } from '../../src/shots/picture/picture.js'
import { readToldDay } from '../../src/shots/told-day/read-day.js'
import { must } from '../support/must.js'
import { image } from '../support/png.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

t.test('another owner opens no picture and no day, and nobody one of another folder', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('1.png', image(1))
  must(await world.run(['shots', 'scan']))
  const id = world.rows()[0]?.observation_id ?? ''
  const ada = world.session()
  t.ok(image(1).equals(openPicture(world.ctx(), ada, id).bytes))
  t.equal(readToldDay(world.ctx(), ada, '2026-11-20').pictures, 1)
  t.throws(() => openPicture(world.ctx(), ada, 'obs_none'), { code: 'observation_not_found' })
  const file = world.place.write('passphrase', 'correct horse')
  must(await world.run(['principal', 'add', 'bob', '--passphrase-file', file]))
  must(await world.run(['login', '--owner', 'bob', '--passphrase-file', file]))
  const bob = world.session()
  t.not(bob.principal.name, ada.principal.name)
  const refused = { kind: 'unauthorized', code: 'not_default_principal' }
  const message = new RegExp(pictureOwner)
  t.throws(() => openPicture(world.ctx(), bob, id), { ...refused, message })
  t.throws(() => openPicture(world.ctx(), bob, 'obs_none'), refused, 'nor is told which there are')
  t.throws(() => readToldDay(world.ctx(), bob, '2026-11-20'), refused)
  const other = world.place.path('other')
  mkdirSync(other)
  must(await world.run(['shots', 'config', 'set', '--folder', other]))
  t.throws(() => openPicture(world.ctx(), ada, id), { kind: 'blocked', code: 'picture_elsewhere' })
})
