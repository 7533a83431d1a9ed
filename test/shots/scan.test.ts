import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { shotCollections as c } from '../../src/shots/rows.js'
import { greyPng, makeWorld } from './rig.js'

t.setTimeout(120_000)

t.test('S-001 S-002 S-003 a scan makes one observation per new image and knows it afterwards', async (t) => {
  const world = await makeWorld(t)
  const { folder } = world
  world.file('a.png', greyPng(64, 48, 1))
  world.file('b.PNG', greyPng(64, 48, 2), '2026-11-20T10:01:00.000Z')
  world.file('d.gif', greyPng(64, 48, 3))
  world.file('f.txt', Buffer.from('text'))
  mkdirSync(join(folder, 'g.png'))
  copyFileSync(join(folder, 'a.png'), join(folder, 'a2.png'))
  const first = await world.run(['shots', 'scan', '--json'])
  t.equal(first.status, 0, first.stderr)
  t.match(first.json(), { scanned: 3, ingested: 2, duplicate: 1, known: 0, recorded: true })
  const ids = world.rows().map(({ observation_id: id }) => id).sort()
  t.equal(ids.length, 2)
  const before = world.view().sequence
  const second = await world.run(['shots', 'scan', '--json'])
  t.match(second.json(), { scanned: 3, ingested: 0, duplicate: 3, known: 3, recorded: false })
  t.equal(world.view().sequence, before)
  t.strictSame(world.rows().map(({ observation_id: id }) => id).sort(), ids)
  t.equal(world.view().all(c.receipts).length, 1)
})
