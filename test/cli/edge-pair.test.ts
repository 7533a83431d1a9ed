/** The line of a pairing goes into a file, or no code comes of it. */
import { existsSync, readFileSync } from 'node:fs'
import { edgeLimits } from '../../src/edge/constants.js'
import { edgeCollections } from '../../src/edge/edge-rows.js'
import { must } from '../support/must.js'
import { serving } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

t.test('a file that is there offers no code, and a code that is refused leaves no file', async (t) => {
  const world = await World.in(t).state().session()
  await (await serving(t, world)).stop()
  const taken = world.place.write('taken', 'mine\n')
  const pair = (file: string) => world.run(['edge', 'pair', '--file', file, '--json'])
  for (let n = 0; n <= edgeLimits.codesMax; n += 1) {
    const ran = await pair(taken)
    t.strictSame([ran.status, ran.error().code], [3, 'pairing_file'])
  }
  t.equal(readFileSync(taken, 'utf8'), 'mine\n')
  for (let n = 0; n < edgeLimits.codesMax; n += 1) {
    const file = world.place.path(`line-${n}`)
    t.equal((await pair(file)).status, 0, 'no code was used up')
    t.match(readFileSync(file, 'utf8'), /^sallyport-pair-v1\.\S+\n$/)
  }
  const last = world.place.path('last')
  t.equal((await pair(last)).error().code, 'edge_codes_full')
  t.notOk(existsSync(last))
})

t.test('a code whose session has ended is open nowhere any more, and takes no place of another one', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const pair = (n: number) => world.run(['edge', 'pair', '--file', world.place.path(`line-${n}`)])
  for (let n = 0; n < edgeLimits.codesMax; n += 1) must(await pair(n))
  const [code] = world.view().all(edgeCollections.codes).map(({ id }) => id)
  const told = async () => {
    const { waiting } = await world.json(['status'])
    t.strictSame((await at.get('/api/overview')).waiting, waiting, 'the page says the same')
    const { rows: [row] } = await world.json(['explain', String(code)])
    const pairings = waiting.find(({ what }: { what: string }) => what === 'pairing')
    return [pairings?.count ?? 0, row.state, row.next]
  }
  t.strictSame(await told(), [edgeLimits.codesMax, 'open', ['sallyport edge list']])
  must(await world.run(['login', '--replace']))
  t.strictSame(await told(), [0, 'expired', ['sallyport edge pair']])
  must(await pair(edgeLimits.codesMax))
  t.equal(world.view().all(edgeCollections.codes).length, 1, 'the others are gone')
  t.equal((await told())[0], 1)
})
