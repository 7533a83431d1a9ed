/** A prune and copies of before and after it: no money comes back, and nothing is sent again. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { balances } from '../../src/governance/ledger/find-reservation.js'
import { collections } from '../../src/governance/rows.js'
import { ask, keyOf } from '../support/fabric/copies.js'
import {
  agingWorld, approved, filesOf, isSound, logIn, muchLater, prune, type AgingWorld,
} from '../support/fabric/pruned.js'
import { settleCeiling } from '../support/fabric/settle-ceiling.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { setupFlags } from '../world/alpha.js'

const backup = async (rig: AgingWorld, name: string): Promise<void> => {
  must(await rig.run(['state', 'backup', rig.place.path(name)]))
}

const restore = async (rig: AgingWorld, name: string): Promise<void> => {
  must(await rig.run(['state', 'restore', rig.place.path(name), '--yes']))
  await logIn(rig)
}

/** Granted anew, so that nothing but the key keeps a request from being sent. */
const setUpAnew = async (rig: AgingWorld): Promise<void> => {
  must(await rig.run(setupFlags(rig.place, await rig.revision())))
  await settleCeiling(rig)
}

const available = (rig: AgingWorld): number => balances(rig.view()).available_microusd

t.test('a backup of before a prune and one of after it, each restored over the other: available '
  + 'money is never more, no request is sent twice, and every key stays spent', async (t) => {
  const rig = await agingWorld(t)
  await backup(rig, 'first')
  const id = await approved(rig, 0)
  await backup(rig, 'before')
  await muchLater(rig)
  await approved(rig, 1)
  must(await prune(rig))
  await backup(rig, 'after')
  const [posts, most] = [rig.inferences().length, available(rig)]

  for (const [name, code] of [
    ['before', null], ['after', 'result_pruned'], ['before', null],
    ['first', 'result_pruned'], ['after', 'result_pruned'],
  ] as const) {
    await restore(rig, name)
    t.ok(available(rig) <= most, `${name}: ${available(rig)} of ${most}`)
    await setUpAnew(rig)
    t.ok(available(rig) <= most, `${name}, set up anew`)
    const again = await ask(rig, keyOf(0))
    if (code !== null) t.equal(again.error().code, code, name)
    else t.hasStrict(must(again).json(), { task: { id } }, `${name}: its answer`)
    const other = await ask(rig, keyOf(1))
    if (name !== 'after') t.equal(other.error().code, 'idempotency_key_spent', name)
    t.equal(rig.inferences().length, posts, `${name}: nothing is sent`)
    await isSound(t, rig, name)
  }
})

t.test('copies of finished restores go with a prune; one that holds what nobody could read, or '
  + 'content in the place of an artifact, only by its name', async (t) => {
  const rig = await agingWorld(t)
  const aside = join(rig.place.stateDir, 'aside')
  await backup(rig, 'one')
  await restore(rig, 'one')
  await restore(rig, 'one')
  const [named = '', old = ''] = readdirSync(aside).sort()
  writeFileSync(join(aside, named, `untrue-${'a'.repeat(64)}`), 'x')
  mkdirSync(join(aside, 'gone-restore-half'))
  await muchLater(rig)
  await restore(rig, 'one')
  const fresh = readdirSync(aside).filter((name) => /^restore-/.test(name)).sort().at(-1) ?? ''
  t.hasStrict(must(await prune(rig, ['--dry-run'])).json(), { asides: 1 })
  t.hasStrict(must(await prune(rig)).json(), { asides: 1 })
  t.strictSame(readdirSync(aside).sort(), [fresh, named].sort(), `${old} is gone`)
  const wrong = await rig.run(['state', 'prune', '--aside', 'restore-1', '--yes', '--json'])
  t.strictSame([wrong.status, wrong.error().code], [6, 'aside_not_found'])
  t.match(wrong.error().hint, 'a folder unreadable-… there you may remove yourself')
  const kept = await rig.run(['state', 'prune', '--aside', 'kept', '--yes', '--json'])
  t.equal(kept.error().code, 'aside_not_found', 'artifacts without a record go by `state kept`')
  const done = must(await rig.run(['state', 'prune', '--aside', named, '--yes', '--json'])).json()
  t.hasStrict(done, { asides: 1, before: null, tasks: { succeeded: 0 } })
  t.strictSame(readdirSync(aside), [fresh])
  await isSound(t, rig)
})

t.test('a key whose row damage took is spent by a prune all the same', async (t) => {
  const rig = await agingWorld(t)
  await approved(rig, 0)
  await muchLater(rig)
  await rig.transact((tx) => tx.remove(collections.idempotency, keyOf(0)))
  must(await prune(rig))
  const again = await ask(rig, keyOf(0))
  t.strictSame([again.status, again.error().code], [6, 'result_pruned'])
  t.equal(filesOf(rig).length, 1, 'the credential')
})
