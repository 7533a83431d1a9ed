/** A machine that is retired: whom rows mean by it, and what of it was recorded. */
import t from 'tap'
import { machineBoundCollection } from '../../../src/governance/machine-bound.js'
import { openStore } from '../../../src/state/store.js'
import { must } from '../../support/must.js'
import { firstMachine, nextMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'
import type { Placed } from '../../world/world.js'

/** Who has what rested on the machine that the state began on. */
const heirOfFirst = ({ place: { stateDir: dir, configDir } }: Placed): string | undefined => {
  const store = openStore({ dir, configDir, mode: 'read' })
  try {
    return store.read().get(machineBoundCollection, 'machine/first')?.machine
  } finally {
    store.close()
  }
}

/** What is recorded of retirements. */
const recorded = async (at: Placed): Promise<number> => (await at.json(['audit', 'list']))
  .filter(({ what }: { what: string }) => what === 'machine.retired').length

t.test('a retirement that was cut off is recorded by the same line again, also of a machine that had joined and shared the state anew', async (t) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  const two = await nextMachine(t, one)
  must(await two.run(['state', 'unshare', '--yes']))
  must(await two.run(['state', 'share', server.url, '--machine-name', 'b', '--yes']))
  const three = await nextMachine(t, two, 'c')
  await server.query("update sallyport.machines set retired = now() where name = 'b'")
  t.equal(await recorded(three), 0)
  t.hasStrict(await three.json(['machine', 'retire', 'b', '--yes']), { retired: true })
  t.equal(await recorded(three), 1)
  t.hasStrict(await three.json(['machine', 'retire', 'b', '--yes']), { retired: false })
  t.equal(await recorded(three), 1)
})

t.test('the machine that a state began on is told from others by no clock', async (t) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  const two = await nextMachine(t, one)
  const three = await nextMachine(t, one, 'c')
  await server.query(
    "update sallyport.machines set joined = joined - interval '1 day' where name = 'b'")
  must(await three.run(['machine', 'retire', 'b', '--yes']))
  t.equal(heirOfFirst(three), undefined)
  must(await three.run(['machine', 'retire', 'a', '--yes']))
  t.type(heirOfFirst(three), 'string')
  t.not((await two.run(['goal', 'add', 'no'])).status, 0)
})
