/** A replica that is damaged is made whole out of its server: nothing is lost, nothing revoked. */
import {
  cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { setupFlags } from '../../world/alpha.js'
import { failure, must } from '../../support/must.js'
import { askOn, firstMachine, nextMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'
import type { Place } from '../../world/place.js'
import { World } from '../../world/world.js'

const server = await startPostgres(t)
const one = await firstMachine(t, server.url)
const two = await nextMachine(t, one)
const { place } = two

const filesIn = (folder: string, form: RegExp): string[] => {
  const dir = join(place.stateDir, folder)
  return readdirSync(dir, { recursive: true }).map(String).filter((name) => form.test(name))
    .map((name) => join(dir, name)).filter((path) => statSync(path).isFile()).sort()
}
const last = <T>(list: readonly T[]): T => {
  const found = list.at(-1)
  if (found === undefined) throw new Error('there is no such file')
  return found
}
const log = (): string => last(filesIn('wal', /\.log$/))
/** Other bytes in the middle, more than can be put right by themselves. */
const spoil = (path: string): void => {
  const bytes = readFileSync(path)
  // A stored file may be shorter than what is spoilt of a log.
  const middle = bytes.length >> 1
  bytes.fill(0x2a, middle, Math.min(bytes.length, middle + 64))
  writeFileSync(path, bytes)
}
const copy = ({ dir }: Place): string => join(dir, 'old')

const damages: Readonly<Record<string, () => void>> = {
  'its last record is torn': () => truncateSync(log(), statSync(log()).size - 20),
  'a record in the middle is spoilt': () => spoil(log()),
  'its log is gone': () => rmSync(log()),
  'rows are spoilt': () => spoil(last(filesIn('collections', /\.seg$/))),
  'rows are gone': () => rmSync(last(filesIn('collections', /\.seg$/))),
  'no manifest is left': () => {
    for (const path of filesIn('collections', /manifest/)) rmSync(path)
  },
  'STATE is gone': () => rmSync(join(place.stateDir, 'STATE')),
  'a stored file is gone': () => rmSync(last(filesIn('artifacts', /[0-9a-f]{64}$/))),
  'a stored file is spoilt': () => spoil(last(filesIn('artifacts', /[0-9a-f]{64}$/))),
  'logs and rows are gone': () => {
    for (const path of [...filesIn('wal', /./), ...filesIn('collections', /./)]) rmSync(path)
  },
}

for (const [name, damage] of Object.entries(damages)) {
  t.test(`a replica of which ${name} is repaired out of its server`, async (t) => {
    must(await two.run(['state', 'compact']))
    must(await askOn(two))
    must(await one.ask())
    damage()
    const sent = one.inferences().length
    const before = await two.run(['state', 'check', '--json'])
    const repaired = must(await two.run(['state', 'repair', '--json'])).json()
    t.comment(`check: ${before.status}; ${
      repaired.done.map(({ code }: { code: string }) => code).join(', ')}`)
    t.hasStrict(repaired, { loss: { records_after: null, documents: 0 }, left: [] })
    must(await two.run(['goal', 'add', name]))
    await one.gov.store.fresh()
    for (const at of [one, two]) t.equal((await at.json(['state', 'check'])).ok, true)
    t.strictSame(await one.json(['ledger', 'show']), await two.json(['ledger', 'show']))
    t.equal((await one.json(['policy', 'show'])).policy.state, 'active')
    must(await askOn(two))
    t.equal(one.inferences().length, sent + 1)
  })
}

t.test('a replica that was fetched anew is repaired once more, where nothing tells of that any more', async (t) => {
  must(await askOn(two))
  must(await askOn(two))
  spoil(log())
  must(await two.run(['state', 'repair']))
  rmSync(last(filesIn('collections', /manifest/)))
  for (const path of filesIn('wal', /founding$/)) rmSync(path)
  const repaired = must(await two.run(['state', 'repair', '--json'])).json()
  t.hasStrict(repaired, { loss: { records_after: null, documents: 0 }, left: [] })
  t.equal((await two.json(['state', 'check'])).ok, true)
  must(await askOn(two))
})

t.test('the record that ends a log counts for none that the server has to have', async (t) => {
  must(await askOn(two))
  must(await two.run(['state', 'compact']))
  rmSync(last(filesIn('collections', /manifest/)))
  spoil(last(filesIn('wal', /\.log$/).slice(0, -1)))
  const repaired = must(await two.run(['state', 'repair', '--json'])).json()
  t.equal(repaired.done[0].code, 'replica_emptied')
  t.hasStrict(repaired, { loss: { records_after: null, documents: 0 }, left: [] })
  t.equal((await two.json(['state', 'check'])).ok, true)
  must(await askOn(two))
})

t.test('while the server is away a damaged replica stays as it is, and nothing is lost of it', async (t) => {
  must(await two.run(['state', 'compact']))
  damages['logs and rows are gone']?.()
  await server.stop()
  const ran = await two.run(['state', 'repair', '--json'])
  t.equal(ran.error().code, 'place_unreachable')
  await server.start()
  t.hasStrict(must(await two.run(['state', 'repair', '--json'])).json(), { left: [] })
  must(await askOn(two))
})

t.test('an old copy of a whole replica follows what it lacks', async (t) => {
  cpSync(place.stateDir, copy(place), { recursive: true })
  must(await askOn(two))
  must(await one.run(['goal', 'add', 'meanwhile']))
  rmSync(place.stateDir, { recursive: true })
  cpSync(copy(place), place.stateDir, { recursive: true })
  must(await askOn(two))
  t.equal((await two.json(['state', 'check'])).ok, true)
  await one.gov.store.fresh()
  t.strictSame(await one.json(['ledger', 'show']), await two.json(['ledger', 'show']))
})

t.test('lines that a witness lacks, because a process died, are written as records are followed', async (t) => {
  const path = join(place.stateDir, 'witness.log')
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  writeFileSync(path, `${lines.slice(0, -1).join('\n')}\n`)
  must(await one.run(['policy', 'revoke']))
  must(await one.run(setupFlags(one.place, await one.revision())))
  must(await askOn(two))
  t.equal((await two.json(['state', 'check'])).ok, true)
  t.ok(readFileSync(path, 'utf8').trimEnd().split('\n').length > lines.length)
})

t.test('a machine whose joining was cut off reads the rest at its login', async (t) => {
  const invite = one.place.path('c.invite')
  const secret = one.place.write('c.passphrase', 'goes by another way')
  must(await one.run(['machine', 'invite', 'c', '--to', invite, '--passphrase-file', secret]))
  const rename = async (from: string, to: string): Promise<unknown> =>
    server.query(`alter table sallyport.${from} rename to ${to}`)
  const three = await World.in(t)
  await rename('blob_names', 'away')
  t.not((await three.run(['machine', 'join', invite, '--passphrase-file', secret])).status, 0)
  const told = await three.run(['goal', 'list', '--json'])
  t.hasStrict(failure(told), { status: 10, code: 'init_unfinished' })
  t.match(told.error().hint ?? '', 'sallyport login')
  await rename('away', 'blob_names')
  must(await three.run(['login']))
  t.equal((await three.json(['state', 'check'])).ok, true)
})

t.test('a stored file that is damaged here, and that the server has not, stays: nobody has a better one', async (t) => {
  const path = last(filesIn('artifacts', /[0-9a-f]{64}$/))
  spoil(path)
  const before = readFileSync(path)
  await server.query('delete from sallyport.blob_names where name = $1', [basename(path)])
  await two.run(['state', 'repair', '--json'])
  t.ok(readFileSync(path).equals(before))
})

t.test('a stored file that is damaged here and at the server stays, and what is left is told', async (t) => {
  await two.run(['state', 'repair'])
  must(await askOn(two))
  const path = last(filesIn('artifacts', /[0-9a-f]{64}$/))
  spoil(path)
  const before = readFileSync(path)
  const spoilThere = (body: Buffer): Promise<unknown> =>
    server.query('update sallyport.blobs set body = $2 where name = $1', [basename(path), body])
  await spoilThere(Buffer.from('other bytes'))
  const repaired = (await two.run(['state', 'repair', '--json'])).json()
  t.ok(repaired.left.some(({ subject }: { subject: string }) => subject === basename(path)))
  t.strictSame(repaired.done, [], 'nothing is told as fetched')
  t.ok(readFileSync(path).equals(before))
})

t.test('a replica that had seen more than its server has is not emptied', async (t) => {
  must(await two.run(['state', 'compact']))
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) must(await two.run(['goal', 'add', name]))
  await server.query(`delete from sallyport.records
    where sequence = (select max(sequence) from sallyport.records)`)
  spoil(log())
  const before = readFileSync(log())
  t.hasStrict(failure(await two.run(['state', 'repair', '--json'])), { code: 'server_changed' })
  t.ok(readFileSync(log()).equals(before), 'it may be all that is left of that record')
})
