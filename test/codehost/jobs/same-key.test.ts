/** The same key and a later session: a job is found and shown, and never moves. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { must } from '../../support/must.js'
import { hostMark, working } from '../../support/codehost/working.js'

t.test('C-105 C-167 a job that its key finds from a later session is shown and stays with its own: approving, running and previewing name the job and a way on that works when typed', async (t) => {
  const at = await working(t)
  const prepare = async (key: string) => must(await at.run([
    'codehost', 'prepare', 'issue', '--title', 'A title', '--connection', at.id, '--body-file',
    at.place.write('body.md', hostMark), '--idempotency-key', key, '--json',
  ])).json()
  const key = randomUUID()
  const { id } = await prepare(key)
  must(await at.approve(id))
  must(await at.run(['logout']))
  must(await at.run(['login']))
  must(await at.consent())
  const found = await prepare(key.toUpperCase())
  t.hasStrict(found, { id, state: 'approved' }, 'nothing is prepared twice')
  const before = at.requests().length
  const digest = '0'.repeat(64)
  for (const line of [['run', id], ['approve', id, '--preview-digest', digest]]) {
    const ran = await at.run(['codehost', ...line, '--json'])
    const told = ran.error()
    t.hasStrict(told, { code: 'root_replaced', details: { job_id: id } }, line[0])
    t.strictSame(told.next, [{ command: `sallyport codehost cancel ${id}`, needs_person: true }])
  }
  must(await at.run(['codehost', 'cancel', id]))
  t.equal((await prepare(key)).state, 'cancelled', 'a key stays spent')
  const other = (await prepare(randomUUID())).id as string
  must(await at.approve(other))
  t.equal(at.requests().length, before, 'nobody was asked for any of it')
  must(await at.runJob(other))
  t.equal(at.job(other).state, 'succeeded')
  t.equal(at.posts().length, 1)
})
