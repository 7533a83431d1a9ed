/** The line of a pairing goes into a file, or no code comes of it. */
import { existsSync, readFileSync } from 'node:fs'
import { edgeLimits } from '../../src/edge/constants.js'
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
