/** Whom `principal enable` lets in again, in every order in which an owner can be disabled. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../support/must.js'
import { isOverAPlace, lostForGood, takenBack } from '../support/place/over-a-place.js'
import { newestLog, zeroBlock } from '../support/state/forge.js'
import { recordsOf } from '../support/state/places-of-damage.js'
import { t } from '../support/tests-in-slices.js'
import type { Loose } from '../world/place.js'
import { World, type Placed } from '../world/world.js'

/** What happens before somebody says `principal enable maria`; the first owner is logged in. */
type Order = (at: Placed) => Promise<void>

const secret = (at: Placed): string => at.place.path('passphrase')

const step = (line: string): Order => async (at) => void must(await at.run(line.split(' ')))

const backUp = step('state backup kept')
const putBack = step('state restore kept --yes')
const restore: Order = async (at) => {
  await takenBack(at)
  await putBack(at)
}
const logIn = step('login --owner ada')
const disable = step('principal disable maria --yes')
const revoke = step('policy revoke')

const disablesHerself: Order = async (at) => {
  must(await at.run(['login', '--owner', 'maria', '--passphrase-file', secret(at)]))
  await disable(at)
  await logIn(at)
}

const losesState: Order = async (at) => lostForGood(at)

/** As on a new machine to which the key alone came. */
const losesAnchor: Order = async (at) => {
  const keys = join(at.place.configDir, 'keys')
  for (const name of readdirSync(keys)) if (name.endsWith('.anchor')) rmSync(join(keys, name))
}

/** The record that disables her, and no other, becomes unreadable. */
const disableUnreadably: Order = async (at) => {
  const log = newestLog(at.place.stateDir)
  const before = recordsOf(log).length
  await disable(at)
  must(await at.run(['goal', 'add', 'Something behind it']))
  zeroBlock(log, (recordsOf(log)[before]?.start ?? 0) + 30)
}

const repair = step('state repair')

const orders: Readonly<Record<string, readonly [readonly Order[], 'refused' | 'enabled']>> = {
  'another owner disabled her': [[disable], 'refused'],
  'she disabled herself': [[disablesHerself], 'refused'],
  'she was disabled, then every route was revoked': [[disable, revoke], 'refused'],
  'every route was revoked, then she was disabled': [[revoke, disable], 'refused'],
  'she was disabled in the backup that was restored': [
    [disable, backUp, restore, logIn], 'refused'],
  'she was disabled since the backup, and the replaced state tells it': [
    [backUp, disable, restore, logIn], 'refused'],
  'she disabled herself since the backup, and the replaced state tells it': [
    [backUp, disablesHerself, restore, logIn], 'refused'],
  'nobody had disabled her, and the state was lost': [
    [backUp, losesState, putBack, logIn], 'enabled'],
  'nobody had disabled her, and the state was lost with its anchor': [
    [backUp, losesState, losesAnchor, putBack, logIn], 'enabled'],
  'she was disabled in the backup, and the state was lost': [
    [disable, backUp, losesState, putBack, logIn], 'refused'],
  'she was disabled since the backup, and the state that told it was lost': [
    [backUp, disable, losesState, putBack, logIn], 'enabled'],
  ...(isOverAPlace() ? {
    'a repair fetched the record anew that had disabled her': [
      [disableUnreadably, repair, logIn], 'refused'],
  } : {
    'a repair lost the record that had disabled her': [
      [disableUnreadably, repair, logIn], 'enabled'],
  }),
  'a restore had disabled her, then a person did': [
    [backUp, losesState, putBack, logIn, disable], 'refused'],
}

for (const [name, [order, end]] of Object.entries(orders)) {
  t.test(`A-070 principal enable is ${end} where ${name}`, async (t) => {
    const at = await World.in(t).state({ owner: 'ada' }).session()
    at.place.write('passphrase', 'correct horse battery')
    must(await at.run(['principal', 'add', 'maria', '--passphrase-file', secret(at)]))
    for (const one of order) await one(at)
    const maria = async () => (await at.json(['principal', 'list']))
      .find((row: Loose) => row.name === 'maria')
    const isForGood = (await maria()).disabled_for_good
    t.type((await maria()).disabled_at, 'string')
    t.equal(isForGood, end === 'refused', 'as the list says before')
    const ran = await at.run(['principal', 'enable', 'maria', '--json'])
    if (end === 'refused') t.equal(ran.error().code, 'disabled_for_good', ran.stderr)
    else t.hasStrict(must(ran).json(), { enabled: true })
    const login = await at.run(['login', '--owner', 'maria', '--passphrase-file', secret(at)])
    t.equal(login.status, end === 'refused' ? 4 : 0, login.stderr)
  })
}
