/**
 * What is told for what: a save of others in between is no forgery, a damaged log or key no invalid
 * session, and a process that died between a marked record and the anchor no fork.
 */
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { requireAnchored } from '../../src/governance/anchored.js'
import { policyHead } from '../../src/governance/policy/head.js'
import { publishRevision } from '../../src/governance/policy/publish.js'
import { policyStatus, type PolicyBlock } from '../../src/governance/policy/policy-status.js'
import { collections } from '../../src/governance/rows.js'
import { authenticate, authenticateRoot } from '../../src/governance/session/authenticate.js'
import { newToken } from '../../src/governance/session/token.js'
import type { Tx } from '../../src/state/types.js'
import { errorOf } from '../support/refused.js'
import { must } from '../support/must.js'
import type { Place } from '../world/place.js'
import { World, type StateWorld } from '../world/world.js'

const publish = (at: StateWorld, state: 'active' | 'revoked', reason: 'save_begin' | 'save') =>
  at.transact((tx: Tx, now) => publishRevision(tx, at.gov.store, now, {
    state, reason, principal: null, carriesFrom: policyHead(tx).revision,
  }))

const keyFile = ({ configDir }: Place, kind: 'key' | 'anchor'): string => {
  const keys = join(configDir, 'keys')
  const name = readdirSync(keys).find((one) => one.endsWith('.anchor') === (kind === 'anchor'))
  return join(keys, name ?? 'none')
}

t.test('A-158 A-074 a save between the look at the rows and at the anchor is told as a save', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  const reader = at.open()
  const before = reader.read()
  await publish(at, 'revoked', 'save_begin')
  t.equal(policyStatus(reader, before).block, 'save_in_progress', 'after r+1')
  const between = reader.read()
  await publish(at, 'active', 'save')
  t.equal(policyStatus(reader, between).block, 'save_in_progress', 'after r+2')
  t.equal(policyStatus(reader, between).usable, false)
  t.equal(policyStatus(reader, reader.read()).block, null)
})

t.test('A-158 a line that somebody is writing is told as a save, a missing one as a mismatch', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await publish(at, 'revoked', 'save_begin')
  const witness = join(at.place.stateDir, 'witness.log')
  const reader = at.open()
  const block = () => policyStatus(reader, reader.read()).block
  const missing = (): void => {
    const lines = readFileSync(witness, 'utf8').trimEnd().split('\n')
    writeFileSync(witness, lines.slice(0, -1).map((line) => `${line}\n`).join(''))
  }
  await publish(at, 'active', 'save')
  const whole = readFileSync(witness)
  missing()
  t.equal(block(), 'witness_mismatch', 'nobody writes')
  writeFileSync(witness, whole)
  const withoutLine = (look: () => PolicyBlock): PolicyBlock => {
    const durable = readFileSync(witness)
    missing()
    const told = look()
    writeFileSync(witness, durable)
    return told
  }
  const told: Record<string, PolicyBlock> = {}
  await at.gov.store.transact('test', (tx) => {
    told.own = withoutLine(() => policyStatus(at.gov.store, tx).block)
    // Behind the record, so that the lock is held over a place, too.
    tx.afterSync(() => void (told.other = withoutLine(block)))
  })
  t.equal(told.other, 'save_in_progress', 'somebody holds the lock')
  t.equal(told.own, 'witness_mismatch', 'it is this process')
  t.equal(block(), null)
})

t.test('A-168 a revoke between the look at the rows and at the anchor is told as one', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  const reader = at.open()
  const before = reader.read()
  must(await at.run(['policy', 'revoke']))
  t.equal(policyStatus(reader, before).block, 'policy_revoked')
})

t.test('A-070 a head that went back below its anchor is no save in between', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await publish(at, 'revoked', 'save_begin')
  cpSync(at.place.stateDir, join(at.place.dir, 'copy'), { recursive: true })
  await publish(at, 'active', 'save')
  rmSync(at.place.stateDir, { recursive: true })
  cpSync(join(at.place.dir, 'copy'), at.place.stateDir, { recursive: true })
  const old = at.open()
  t.equal(policyStatus(old, old.read()).block, 'store_behind_anchor')
})

t.test('A-070 a head that went back together with its witness is behind what the anchor saw published', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  const witness = join(at.place.stateDir, 'witness.log')
  const { revision } = policyHead(at.gov.store.read())
  const lines = readFileSync(witness)
  await publish(at, 'revoked', 'save_begin')
  await publish(at, 'active', 'save')
  await at.transact((tx: Tx) => tx.put(collections.policyHead, 'the', { revision }))
  writeFileSync(witness, lines)
  const reader = at.open()
  t.equal(reader.anchor().status, 'ok')
  t.hasStrict(policyStatus(reader, reader.read()), {
    usable: false, witness: 'ok', block: 'store_behind_anchor',
  })
})

const withSession = (t: Test) => World.in(t).state({ owner: 'ada' }).session()

t.test('A-005 a key that is damaged, another one or gone is told, never as an invalid session', async (t) => {
  const { place } = await withSession(t)
  const file = keyFile(place, 'key')
  const key = readFileSync(file, 'utf8')
  const lines = [['session', 'show'], ['alpha', 'tasks'], ['login'], ['logout']]
  const told = async (): Promise<[number, string][]> => Promise.all(lines.map(async (line) => {
    const ran = await place.run([...line, '--json'])
    return [ran.status, ran.error().code]
  }))
  const each = (status: number, code: string) => lines.map(() => [status, code])
  writeFileSync(file, key.replace(/^./, (first) => (first === '0' ? '1' : '0')))
  t.strictSame(await told(), each(12, 'key_damaged'), 'a bit of another key')
  writeFileSync(file, 'no key at all\n')
  t.strictSame(await told(), each(12, 'key_damaged'), 'no key')
  rmSync(file)
  t.strictSame(await told(), each(7, 'key_missing'))
  writeFileSync(file, key, { mode: 0o600 })
  must(await place.run(['session', 'show']))
})

t.test('A-005 a session whose row damage hides is told as damage by the use case, too', async (t) => {
  const at = await withSession(t)
  const log = readdirSync(join(at.place.stateDir, 'wal')).filter((name) => name.endsWith('.log'))
  const path = join(at.place.stateDir, 'wal', log.sort().at(-1) ?? 'none')
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 60) ^ 1, bytes.length - 60)
  writeFileSync(path, bytes)
  t.equal(errorOf(() => authenticate(at.gov, newToken())).kind, 'damaged')
  t.equal(errorOf(() => authenticateRoot(at.gov, 'root_none')).kind, 'damaged', 'by its id')
})

t.test('A-070 a process that died between a marked record and the anchor left no fork', async (t) => {
  const at = await withSession(t)
  const file = keyFile(at.place, 'anchor')
  const before = readFileSync(file)
  const other = (await at.json(['login', '--token-file', at.place.path('other')])).root.id
  must(await at.run(['session', 'revoke', other]))
  const { mark } = at.open().anchor()
  t.ok(mark)
  writeFileSync(file, before)
  requireAnchored(at.open())
  t.strictSame(readFileSync(file), before, 'looking moves nothing')
  must(await at.run(['session', 'list']))
  must(await at.run(['goal', 'add', 'Read']))
  t.strictSame(at.open().anchor().mark, mark, 'the next writer moves it on')
  t.equal(statSync(file).mode & 0o777, 0o600)
})

t.test('A-070 two marked records ahead of the anchor are a fork: nobody answers twice unanchored', async (t) => {
  const at = await withSession(t)
  const file = keyFile(at.place, 'anchor')
  const before = readFileSync(file)
  for (const name of ['one', 'two']) {
    const { id } = (await at.json(['login', '--token-file', at.place.path(name)])).root
    must(await at.run(['session', 'revoke', id]))
  }
  writeFileSync(file, before)
  t.strictSame(errorOf(() => requireAnchored(at.open())).details, { anchor: 'forked' })
})
