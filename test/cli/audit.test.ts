import { listAudit } from '../../src/governance/audit.js'
import { collections } from '../../src/governance/rows.js'
import { failure } from '../support/must.js'
import { minute } from '../support/clock.js'
import { t } from '../support/tests-in-slices.js'
import type { Loose } from '../world/place.js'
import { World } from '../world/world.js'

const whatOf = (rows: Loose[]): string[] => rows.map(({ what }) => what)

t.test('the audit is listed newest first, over all owners, and narrowed by name and owner', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const file = at.place.write('passphrase', 'correct horse')
  await at.json(['principal', 'add', 'maria', '--passphrase-file', file])
  await at.json(['login', '--owner', 'maria', '--passphrase-file', file])
  const goal = await at.json(['goal', 'add', 'Tides'])
  const rows = await at.json(['audit', 'list'])
  t.strictSame(whatOf(rows), [
    'goal.added', 'session.login', 'principal.added', 'session.login', 'store.initialized',
  ])
  t.hasStrict(rows[0], { principal_name: 'maria', subject: goal.id, number: 5 })
  t.hasStrict(rows[3], { principal_name: 'ada' })
  t.notMatch(JSON.stringify(rows), /Tides|correct horse/, 'no content')
  t.strictSame(whatOf(await at.json(['audit', 'list', '--limit', '2'])), whatOf(rows.slice(0, 2)))
  const list = async (...flags: string[]) => whatOf(await at.json(['audit', 'list', ...flags]))
  t.strictSame(await list('--what', 'session'), ['session.login', 'session.login'])
  t.strictSame(await list('--what', 'session.login', '--principal', 'ada'), ['session.login'])
  t.strictSame(await list('--principal', rows[0].principal), ['goal.added', 'session.login'])
  t.strictSame(await list('--what', 'sess'), [], 'a name is no prefix of letters')
  t.strictSame(await list('--principal', 'nobody'), [])
  at.clock.advance(20 * minute)
  t.strictSame(await list('--since', '10m'), [])
  t.equal((await list('--since', '2h')).length, 5)
  const bad = failure(await at.run(['audit', 'list', '--since', 'x', '--json']))
  t.hasStrict(bad, { status: 3, code: 'flag_invalid' })
})

t.test('without a session nothing of the audit is told', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  t.hasStrict(failure(await at.run(['audit', 'list', '--json'])), { status: 4, out: '' })
  t.hasStrict(failure(await at.run(['audit', 'show', 'aud_x', '--json'])), { status: 4, out: '' })
})

t.test('one row is shown with its neighbours, and whether the chain holds round it', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  await at.json(['goal', 'add', 'Tides'])
  const [newest, middle, first] = await at.json(['audit', 'list'])
  const show = (id: string) => at.json(['audit', 'show', id])
  t.hasStrict(await show(first.id), {
    audit: { number: 1 },
    chain: { previous_id: null, next_id: middle.id, rows: 3, verifies: true },
  })
  const shown = await show(middle.id)
  t.hasStrict(shown, {
    schema: 'sallyport.audit.show.v1', audit: middle,
    chain: { previous_id: first.id, next_id: newest.id, follows_previous: true, verifies: true },
  })
  t.hasStrict(await show(newest.id), {
    chain: { next_id: null, verifies: true, previous_digest: shown.chain.digest },
  })
  const text = await at.run(['audit', 'show', middle.id])
  t.match(text.stdout, /row: +aud_\S+, 2 of 3\n[\s\S]*owner: +ada\n[\s\S]*chain: +holds here\n/)
  t.match((await at.run(['audit', 'list'])).stdout, /\tgoal\.added\tada\tgoal_/)
  t.hasStrict(failure(await at.run(['audit', 'show', 'aud_x', '--json'])), {
    status: 6, code: 'audit_not_found',
  })
})

t.test('an altered, lost or added row shows at its neighbours, with the row on stdout', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  for (const title of ['A', 'B', 'C']) await at.json(['goal', 'add', title])
  const rows = listAudit(at.view())
  const [second, third, fourth, newest] = rows.slice(1).map(({ audit_id: id }) => id)
  const standing = async (id = ''): Promise<Loose> => {
    const ran = await at.run(['audit', 'show', id, '--json'])
    const { follows_previous: follows, named_by_next: named, verifies } = ran.json().chain
    t.equal(ran.status, verifies ? 0 : 12)
    if (!verifies) t.equal(ran.error().code, 'audit_chain_broken')
    return { follows, named }
  }
  const third_row = rows[2]
  if (third_row === undefined) throw new Error('there are five rows')
  await at.transact((tx) =>
    tx.put(collections.audit, third_row.audit_id, { ...third_row, what: 'goal.other' }))
  t.strictSame(await standing(second), { follows: true, named: true })
  t.strictSame(await standing(third), { follows: true, named: false })
  t.strictSame(await standing(fourth), { follows: false, named: true })
  await at.transact((tx) => tx.remove(collections.audit, third_row.audit_id))
  t.strictSame(await standing(second), { follows: true, named: false })
  t.strictSame(await standing(fourth), { follows: false, named: true })
  await at.transact((tx) => tx.remove(collections.audit, fourth ?? ''))
  t.strictSame(await standing(newest), { follows: false, named: true })
  await at.transact((tx) => tx.remove(collections.audit, newest ?? ''))
  t.strictSame(await standing(second), { follows: true, named: false }, 'the head names another')
})
