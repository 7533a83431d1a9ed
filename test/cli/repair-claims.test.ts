/** What a repair says of records that somebody was answered for, where they were cut. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../support/must.js'
import { copied } from '../support/fabric/copies.js'
import { newestLog, truncateTo, zeroBlock } from '../support/state/forge.js'
import { recordsOf } from '../support/state/places-of-damage.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

const zeroManifest = (dir: string): void => {
  const at = join(dir, 'collections')
  const last = readdirSync(at).filter((name) => name.startsWith('manifest.')).sort().at(-1) ?? ''
  zeroBlock(join(at, last), 20, 40)
}

t.test('durability 6: a repair never says that nothing acknowledged was lost over a record that was', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha()
  for (let n = 0; n < 2; n += 1) must(await world.run(['state', 'compact']))
  must(await world.run(['policy', 'revoke']))
  const last = recordsOf(newestLog(world.place.stateDir)).at(-1)
  const [start, end] = [last?.start ?? 0, last?.end ?? 0]
  for (const [name, size, code] of [
    ['torn', end - 9, 'torn_tail_cut'], ['cut', start, 'log_cut'],
  ] as const) {
    for (const isNeeded of [true, false]) {
      const repair = async (...flags: string[]) => {
        const copy = copied(world, `${name}-${isNeeded}${flags.join('')}`)
        truncateTo(newestLog(copy.place.dir), size)
        if (isNeeded) zeroManifest(copy.place.dir)
        return must(await world.run(['state', 'repair', ...flags], { env: copy.env }))
      }
      const { stdout } = await repair()
      t.notMatch(stdout, /Nothing acknowledged was lost|Nothing had to be repaired/, name)
      t.match(stdout, /were there when a process ended, and are gone/, name)
      t.match(stdout, /The anchor names a mark that is in no record here/, name)
      const told = (await repair('--json')).json()
      const codes: string[] = told.done.map((one: { code: string }) => one.code)
      t.strictSame([codes.includes(code), codes.includes('anchor_behind')], [true, true], name)
      t.equal(told.changed, isNeeded || name === 'torn', name)
    }
  }
  t.match(must(await world.run(['state', 'repair'])).stdout, 'Nothing had to be repaired.')
})
