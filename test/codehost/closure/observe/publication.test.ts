/** Looking again at what the closure of a publication proved; and its receipt, offline. */
import type { Loose } from '../../../world/place.js'
import { must } from '../../../support/must.js'
import { publicationClosing } from '../../../support/codehost/publication-closing.js'
import { t } from '../../../support/tests-in-slices.js'

const look = (revision: number): readonly string[] =>
  ['--json', '--acknowledged-closure-observation', '--expected-read-revision', String(revision)]

t.test('C-170 C-237 C-276 C-277 everything that the closure of a publication proved is read anew, by GET alone, and kept', async (t) => {
  const at = await publicationClosing(t)
  const job = await at.whole()
  const closed = await at.during(async () => void must(await at.close(job, at.request(job))))
  const rows = () => JSON.stringify(
    [at.job(job), at.connection(), at.task(at.job(job).task_id ?? '')])
  const before = rows()
  let seen
  const read = await at.during(async () => {
    seen = must(await at.run(
      ['codehost', 'observe', job, ...look(at.connection().revision)])).json()
  })
  t.strictSame([...read].sort(), [...closed].sort(), 'the very same reads')
  t.hasStrict(seen, { gets: 8, nothing_else_changed: true })
  t.equal(rows(), before)
  const { history } = await at.json(['codehost', 'job', job, '--history', 'reads'])
  t.hasStrict(JSON.parse(history.lines.at(-1)), { purpose: 'observation', gets: 8 })
  const receipt = at.place.write('r.json', must(await at.run(
    ['codehost', 'closures', at.job(job).closed?.closure_id ?? '', '--receipt'])).bytes)
  const held = must(await at.run(['codehost', 'verify', receipt, '--json'])).json()
  t.equal(held.readbacks.length, 6)
  t.equal(held.readbacks.filter((one: Loose) => one.object_id !== null).length, 5)
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout + check.stderr)
})

t.test('a publication of which nothing was sent has nothing to look at', async (t) => {
  const at = await publicationClosing(t)
  const job = await at.local()
  must(await at.close(job, at.request(job)))
  t.strictSame(await at.during(async () => {
    const ran = await at.run(['codehost', 'observe', job, ...look(at.connection().revision)])
    t.equal(ran.error().code, 'nothing_to_observe')
  }), [])
  const receipt = at.place.write('r.json', must(await at.run(
    ['codehost', 'closures', at.job(job).closed?.closure_id ?? '', '--receipt'])).bytes)
  must(await at.run(['codehost', 'verify', receipt]))
})
