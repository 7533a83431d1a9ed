/** Branches that are numbered, and the one that a publication follows. */
import { randomUUID } from 'node:crypto'
import { followLine, seriesOf } from '../../../../src/codehost/jobs/series.js'
import { connectionCollection } from '../../../../src/governance/connections/connection-rows.js'
import { line, prepared, send, tailOf, withSite } from '../../../support/codehost/publish-lines.js'
import { failure, must } from '../../../support/must.js'
import { clientOf, settled } from '../../../support/sandbox/host-client.js'
import { t } from '../../../support/tests-in-slices.js'

t.test('C-029 {id} gives each publication a branch of its own that is known before; the body names the one before it and nothing is moved', async (t) => {
  const at = await withSite(t)
  const body = at.place.write('body.md', 'What was built.\n')
  const publishNext = async (more: Readonly<Record<string, string | null>> = {}) => {
    at.folder({ 'own.txt': randomUUID() }, 'site')
    return prepared(at, { '--body-file': body, ...more })
  }
  const first = await publishNext()
  t.equal(first.branch, `site-${tailOf(first.job)}`)
  t.equal(first.preview.publication.branch, first.branch)
  t.equal(first.preview.text, 'What was built.\n', 'it follows none')
  const meanwhile = await publishNext()
  t.equal(meanwhile.preview.text, 'What was built.\n', 'nor one that was not sent')
  must(await send(at, first))
  const line1 = `Follows #1 (\`${first.branch}\`).\n`
  const second = await publishNext()
  t.equal(second.preview.text, `What was built.\n\n${line1}`)
  t.not(second.branch, first.branch)
  t.equal(must(await send(at, second)).json().pull_request.number, 2)
  t.equal((await publishNext({ '--branch': 'other-{id}' })).preview.text, 'What was built.\n')
  t.equal((await publishNext({ '--branch': 'other' })).preview.text, 'What was built.\n')
  const long = at.place.write('long.md', 'x'.repeat(65_530))
  const { length } = at.requests()
  const ran = await at.run([...line(at, { '--body-file': long }), '--prepare', '--json'])
  t.hasStrict(failure(ran), { status: 3, code: 'host_text_invalid' }, 'too long with the line')
  t.equal(at.requests().length, length, 'which is told before anybody is asked')
  const marked = await prepared(at, { '--mark': null, '--body-file': null })
  t.equal(marked.preview.text, `Follows #2 (\`${second.branch}\`).\n`)
  await settled(t, clientOf(at.sandbox))
  t.strictSame([...new Set(at.requests().map(({ method }) => method))].sort(), ['GET', 'POST'])
  t.equal(at.posts().filter(({ path }) => path.endsWith('/git/refs')).length, 2,
    'each branch is made once')
})

t.test('what was sent and not read back whole is not followed, and once it is read back it is', async (t) => {
  const at = await withSite(t)
  const one = await prepared(at)
  at.sandbox.faults.set('read_close_before_headers', { service: 'codehost', after: 3, times: 1 })
  const lost = await send(at, one)
  t.hasStrict(failure(lost), { status: 7, code: 'unknown_external_effect' })
  t.equal(at.job(one.job).remote?.id, 1, 'the host has numbered it')
  at.folder({ 'own.txt': randomUUID() }, 'site')
  t.equal((await prepared(at)).preview.text, '')
  must(await at.reconcile(one.job))
  t.match((await prepared(at)).preview.text, 'Follows #1')
})

t.test('the same name is another request where its place is no place: {id} stays a name in `codehost prepare`', async (t) => {
  const at = await withSite(t)
  const key = { '--idempotency-key': randomUUID() }
  const name = { '--branch': 'site-{id}', '--title': 'The site' }
  const plain = must(await at.publish(at.place.path('site'), { ...name, ...key })).json()
  const { publication } = await at.json(['codehost', 'preview', plain.id])
  t.equal(publication.branch, 'site-{id}')
  const ran = await at.run([...line(at, key), '--prepare', '--json'])
  t.hasStrict(failure(ran), { status: 5, code: 'idempotency_conflict' })
})

t.test('a number of another repository is not followed, nor one of another owner of the name', async (t) => {
  const at = await withSite(t)
  must(await send(at, await prepared(at)))
  at.folder({ 'own.txt': 'another\n' }, 'site')
  const row = at.connection()
  await at.transact((tx) => tx.put(connectionCollection, at.id, {
    ...row, repository_id: 99, consent: row.consent && { ...row.consent, repository_id: 99 },
  }))
  const other = seriesOf(at.connection(), 'site-{id}')
  t.equal(followLine(at.view(), { owner: row.owner, series: other }, 'site-{id}'), null)
  const own = seriesOf(row, 'site-{id}')
  t.not(other, own)
  t.match(followLine(at.view(), { owner: row.owner, series: own }, 'site-{id}'), 'Follows #1')
  t.equal(followLine(at.view(), { owner: 'prn_x', series: own }, 'site-{id}'), null)
})

t.test('a branch that is there already is refused before anything is sealed, and once more before anything is sent', async (t) => {
  const at = await withSite(t)
  const name = { '--branch': 'site' }
  const [one, other] = [await prepared(at, name), await prepared(at, name)]
  must(await send(at, one))
  t.hasStrict(failure(await send(at, other)), { status: 7, code: 'branch_exists' })
  at.folder({ 'own.txt': 'another\n' }, 'site')
  const ran = await at.run([...line(at, name), '--prepare', '--json'])
  t.hasStrict(failure(ran), { status: 7, code: 'branch_exists', out: '' })
  t.equal(at.posts().length, 6)
})
