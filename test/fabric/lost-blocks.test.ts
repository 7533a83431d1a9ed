/**
 * A block of a snapshot that nobody can read any more: its rows are lost, not the file, and no
 * money and no key is forgotten with them.
 */
import { rmSync } from 'node:fs'
import t from 'tap'
import { policyHead } from '../../src/governance/policy/head.js'
import { listPrincipals } from '../../src/governance/principals.js'
import { verifyLedger } from '../../src/governance/ledger/verify-ledger.js'
import { collections } from '../../src/governance/rows.js'
import { repairState } from '../../src/state/care/repair.js'
import { isIndexName } from '../../src/state/indexes.js'
import { ask, availableIn, copied, keyOf } from '../support/fabric/copies.js'
import { failure, must } from '../support/must.js'
import { newestLog, zeroBlock } from '../support/state/forge.js'
import { blocksOf, recordsOf } from '../support/state/places-of-damage.js'
import { setupFlags } from '../world/alpha.js'
import { World, type AlphaWorld } from '../world/world.js'

t.test('A-026 A-089 A-124 zeroes over any block of a snapshot: a repair forgets no money and no key, and '
  + 'the same questions are not sent again', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  must(await ask(rig, keyOf(0)))
  rig.sandbox.faults.set('billing_status_500', { service: 'provider' })
  await ask(rig, keyOf(1))
  rig.sandbox.faults.clear()
  // Twice, so that the manifest before has the same file and no log is left of before.
  for (let n = 0; n < 2; n += 1) must(await rig.run(['state', 'compact']))
  const posts = rig.inferences().length
  const { stateDir: dir, configDir } = rig.place
  const blocks = blocksOf({ dir, configDir })
  const whole = availableIn(rig.view())
  t.ok(blocks.some(({ collection }) => isIndexName(collection)), 'indexes have blocks too')
  const wrong: string[] = []
  for (const [n, { path, offset, length, collection }] of blocks.entries()) {
    const copy = copied(rig, `block-${n}`)
    zeroBlock(path.replace(dir, copy.place.dir), offset, length - 1)
    const found = (text: string): void => void wrong.push(`block ${n} (${collection}): ${text}`)
    const repair = () => rig.run(['state', 'repair', '--json'], { env: copy.env })
    const first = await repair()
    if (first.status !== 0) {
      if (first.error().code !== 'init_lost') found(first.stderr)
      must(await rig.run(['init', '--profile', rig.sandbox.profileFile], { env: copy.env }))
    }
    const repaired = (first.status === 0 ? first : must(await repair())).json()
    // Entries of an index are made again from their rows: nothing is lost with them.
    const isIndex = isIndexName(collection)
    const left = isIndex ? whole : 0
    const held = repaired.unread_operations.length
    if (held !== (isIndex ? 0 : 1)) found(`${held} holds for what is unread`)
    if (availableIn(copy.view()) !== left) found(`available ${availableIn(copy.view())}`)
    if (verifyLedger(copy.view()).length > 0) found('the ledger does not balance')
    const lostKeys = [0, 1].filter((key) =>
      copy.view().get(collections.idempotency, keyOf(key)) === undefined)
    await rig.run(['login'], { env: copy.env })
    const shown = (await rig.run(['alpha', 'show', '--json'], { env: copy.env })).json()
    await rig.run(setupFlags(rig.place, shown.policy_revision), { env: copy.env })
    for (const operation of repaired.unread_operations) {
      await rig.run([
        'ledger', 'settle', operation, '--amount-microusd', '0', '--yes',
      ], { env: copy.env })
    }
    // What a person says is the end of it, whichever rows are lost, those of the owner too.
    const after = copy.view()
    const owed = after.all(collections.openReservations).map(({ id }) => id)
    const blocked = after.all(collections.openTasks).map(({ id }) => id)
    for (const line of [
      ...owed.map((id) => ['ledger', 'settle', id, '--amount-microusd', '0', '--yes']),
      ...blocked.map((id) => ['task', 'close', id]),
    ]) {
      const ran = await rig.run([...line, '--json'], { env: copy.env })
      if (ran.status !== 0) found(`${line.join(' ')}: ${ran.error().code}`)
    }
    for (const key of [0, 1]) await ask(rig, keyOf(key), copy.env)
    if (lostKeys.length > 0 && copy.view().all(collections.lostKeys).length === 0) {
      found('keys are lost and no range of them is noted')
    }
  }
  t.ok(blocks.length > 1, `${blocks.length} blocks`)
  t.strictSame(wrong, [])
  t.equal(rig.inferences().length, posts, 'no question was sent again')
})

/** An unknown charge of ada, and a state whose last record and the row of ada are lost. */
const withoutAda = async (rig: AlphaWorld) => {
  rig.sandbox.faults.set('billing_status_500', { service: 'provider' })
  const { task_id: task, operation_id: operation } = (await rig.ask()).error().details
  rig.sandbox.faults.clear()
  const ada = listPrincipals(rig.view()).find(({ name }) => name === 'ada')?.principal_id ?? ''
  await rig.transact((tx) => tx.remove(collections.principals, ada))
  const { revision } = policyHead(rig.view())
  must(await rig.run(['policy', 'revoke']))
  const log = newestLog(rig.place.stateDir)
  zeroBlock(log, (recordsOf(log).at(-1)?.start ?? 0) + 30)
  return { task, operation, revision, repair: () => rig.run(['state', 'repair', '--json']) }
}

/** Whoever is logged in ends all that ada owed. */
const settleAll = async (rig: AlphaWorld, task: string): Promise<void> => {
  for (const { operation_id: id } of await rig.json(['ledger', 'reservations'])) {
    must(await rig.run(['ledger', 'settle', id, '--amount-microusd', '0', '--yes']))
  }
  must(await rig.run(['task', 'close', task]))
}

t.test('A-124 where the row of the first owner alone is lost, a repair lets another in, who settles all', async (t) => {
  const rig = await World.in(t).sandbox().state({ owner: 'ada' }).session().alpha()
  const secret = ['--passphrase-file', rig.place.write('passphrase', 'another person')]
  must(await rig.run(['principal', 'add', 'maria', ...secret]))
  const { task, operation, repair } = await withoutAda(rig)
  must(await repair())
  must(await rig.run(['login', '--owner', 'maria', ...secret]))
  t.hasStrict(await rig.json(['principal', 'list']), [{ name: 'maria', is_default: true }])
  const open: { operation_id: string }[] = await rig.json(['ledger', 'reservations'])
  t.ok(open.some((one) => one.operation_id === operation), 'a charge of nobody is listed')
  await settleAll(rig, task)
  t.strictSame(rig.view().all(collections.openReservations), [])
  t.strictSame((await rig.json(['status'])).attention, {
    unknown_charges: 0, overrun_reviews: 0, unknown_effects: 0, interrupted: 0,
  })
})

t.test('A-124 where the row of the only owner is lost, init makes one anew, who settles all', async (t) => {
  const rig = await World.in(t).sandbox().state({ owner: 'ada' }).session().alpha()
  const { task, revision, repair } = await withoutAda(rig)
  t.strictSame(failure(await repair()), { status: 12, code: 'init_lost', out: '' })
  const init = ['init', '--owner', 'ada', '--profile', rig.sandbox.profileFile]
  must(await rig.run(init))
  t.ok(policyHead(rig.view()).revision >= revision, 'the policy is not put back')
  must(await repair())
  must(await rig.run(['login']))
  await settleAll(rig, task)
  t.strictSame(rig.view().all(collections.openReservations), [])
  must(await rig.run(init))
})

t.test('A-026 a key in a block that is lost stays spent where the repair was cut off and a backup of that is '
  + 'put back elsewhere', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  must(await ask(rig, keyOf(0)))
  for (let n = 0; n < 2; n += 1) must(await rig.run(['state', 'compact']))
  const posts = rig.inferences().length
  const { stateDir: dir, configDir } = rig.place
  const [block] = blocksOf({ dir, configDir })
    .filter(({ collection }) => collection === collections.idempotency.name)
  if (block === undefined) throw new TypeError('no block of keys')
  zeroBlock(block.path, block.offset, block.length - 1)
  const ends = (): never => { throw new TypeError('the process ends') }
  await t.rejects(repairState({ dir, configDir, onLoss: ends }), /process ends/)
  const backup = rig.place.path('backup')
  must(await rig.run(['state', 'backup', backup]))
  rmSync(dir, { recursive: true })
  must(await rig.run(['state', 'restore', backup, '--yes']))
  must(await rig.run(['login']))
  for (const { id } of rig.view().all(collections.openReservations)) {
    must(await rig.run(['ledger', 'settle', id, '--amount-microusd', '0', '--yes']))
  }
  must(await rig.run(setupFlags(rig.place, await rig.revision())))
  t.hasStrict(must(await rig.run(['state', 'keys', '--json'])).json(),
    { ranges: [{ from: keyOf(0), to: null }] })
  t.not((await ask(rig, keyOf(0))).status, 0)
  t.equal(rig.inferences().length, posts, 'the question was not sent again')
})
