/** The manifest that a creation, a restore or a repair founds is no single point of loss. */
import { readFileSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { balances } from '../../src/governance/ledger/find-reservation.js'
import { placesOf } from '../../src/state/paths.js'
import { ask, keyOf } from '../support/fabric/copies.js'
import { settleCeiling } from '../support/fabric/settle-ceiling.js'
import { failure, must } from '../support/must.js'
import { flipBit } from '../support/state/forge.js'
import { setupFlags } from '../world/alpha.js'
import { World, type AlphaWorld } from '../world/world.js'

const newestManifest = ({ place }: AlphaWorld): string => {
  const { collections } = placesOf(place.stateDir)
  const names = readdirSync(collections).filter((name) => name.startsWith('manifest.'))
  return join(collections, names.sort().at(-1) ?? '')
}

const hurts: Readonly<Record<string, (path: string) => void>> = {
  'one flipped bit': (path) => flipBit(path, 700, 3),
  'a whole file of zeroes': (path) => writeFileSync(path, Buffer.alloc(readFileSync(path).length)),
  'a file that is gone': (path) => unlinkSync(path),
}

const grantAnew = async (rig: AlphaWorld): Promise<void> => {
  must(await rig.run(['login']))
  must(await rig.run(setupFlags(rig.place, await rig.revision())))
}

for (const [what, hurt] of Object.entries(hurts)) {
  t.test(`A-026 A-089 A-124 ${what} of the manifest that a state began with loses no record and no `
    + 'paid question', async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    must(await ask(rig, keyOf(0)))
    must(await ask(rig, keyOf(1)))
    const [before, posts] = [balances(rig.view()), rig.inferences().length]
    const path = newestManifest(rig)
    const bytes = readFileSync(path)
    hurt(path)
    t.hasStrict(failure(await rig.run(['state', 'check', '--json'])), { status: 12 })
    const repaired = must(await rig.run(['state', 'repair', '--json'])).json()
    t.hasStrict(repaired, { changed: true, loss: { records_after: null, documents: 0 }, left: [] })
    t.ok(readFileSync(path).equals(bytes), 'it is what it was')
    t.strictSame(balances(rig.view()), before)
    for (const key of [0, 1]) must(await ask(rig, keyOf(key)))
    t.equal(rig.inferences().length, posts, 'both find their answers')
    t.equal((await rig.json(['state', 'check'])).ok, true)
  })

  t.test(`A-026 A-089 A-124 ${what} of the manifest that a restore made brings no replaced row back`
    + ' and loses nothing that came after it', async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const backup = rig.place.path('backup')
    must(await rig.run(['state', 'backup', backup]))
    must(await rig.run(['goal', 'add', 'a replaced goal']))
    must(await rig.run(['state', 'restore', backup, '--yes']))
    await grantAnew(rig)
    await settleCeiling(rig)
    must(await ask(rig, keyOf(0)))
    const [before, posts] = [balances(rig.view()), rig.inferences().length]
    hurt(newestManifest(rig))
    must(await rig.run(['state', 'repair']))
    t.strictSame(balances(rig.view()), before)
    t.notMatch(must(await rig.run(['goal', 'list', '--json'])).stdout, /replaced/)
    must(await ask(rig, keyOf(0)))
    t.equal(rig.inferences().length, posts)
    t.equal((await rig.json(['state', 'check'])).ok, true)
  })
}
