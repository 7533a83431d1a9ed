/** Closing the capacity of publications, wherever they stopped: by what was contacted, and by it
 * alone. */
import { must } from '../../../support/must.js'
import {
  publicationClosing, stops, type StoppedAt,
} from '../../../support/codehost/publication-closing.js'
import { t } from '../../../support/tests-in-slices.js'

const top = '/repos/operator/notes'

/** The kinds of requests, each once, without ids. */
const kindsOf = (seen: readonly string[]): readonly string[] => seen.map((one) =>
  one.replace(`GET ${top}`, '').replace(/[0-9a-f]{40}/, 'ID').replace(/\?.*/, (query) =>
    query.includes('recursive') ? '?recursive' : ''))

t.test('C-021 C-087 C-112 C-154 C-155 C-156 C-247 C-248 a whole publication is proved object by object, with its changed paths, and its connection is free', async (t) => {
  const at = await publicationClosing(t)
  const job = await at.whole()
  const [row, connection] = [at.job(job), at.connection()]
  t.hasStrict(row, { state: 'unknown_external_effect', contacted: 6, created: 6, reserved: true })
  let receipt
  const seen = await at.during(async () => {
    const ran = must(await at.close(job, at.request(job)))
    receipt = ran.json().receipt
  })
  t.strictSame([...kindsOf(seen)].sort(), [
    '', '/git/blobs/ID', '/git/commits/ID', `/git/ref/heads/topic%2F1`, '/git/trees/ID?recursive',
    '/git/trees/ID?recursive', '/pulls/1', '/pulls/1/files',
  ].sort())
  t.hasStrict(receipt, {
    effects: { planned: 6, contacted: 6, observed: 6 },
    evidence: { fresh: 6, earlier: 0, gets: 8 },
    producer: { applicable: true, standing: 'complete' },
    job: { state: 'unknown_external_effect' },
  })
  const { closed, ...after } = at.job(job)
  const { closed: none, ...before } = row
  t.equal(none, null)
  t.ok(closed)
  t.strictSame(after, { ...before, revision: row.revision + 1, reserved: false })
  t.strictSame(at.connection(), { ...connection, active_job_id: null })
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout + check.stderr)
  must(await at.runJob(await at.approvedPublication()))
  await at.isWhole(t)
  const plural = at.requests().filter(({ path }) => path.startsWith(`${top}/git/refs`))
  t.strictSame([...new Set(plural.map(({ method }) => method))], ['POST'])
})

for (const last of Object.keys(stops) as StoppedAt[]) {
  t.test(`C-021 C-249 a publication that stopped behind its ${last} is closed by what may have left, and nothing else is read`, async (t) => {
    const at = await publicationClosing(t)
    const job = await at.stopped(last)
    const contacted = stops[last]
    t.hasStrict(at.job(job), { contacted, created: contacted - 1, reserved: true })
    const hint = last === 'pull_request' ? { pr_number: 1 } : {}
    const seen = await at.during(async () => {
      const { receipt } = must(await at.close(job, at.request(job, hint))).json()
      t.hasStrict(receipt, { effects: { contacted, observed: contacted } })
    })
    t.equal(seen.length, 1 + contacted + (last === 'pull_request' ? 1 : 0))
    t.equal(at.connection().active_job_id, null)
    t.equal((await at.run(['state', 'check'])).status, 0)
    await at.isWhole(t)
  })
}

t.test('C-269 local work alone is closed by its marker, and nobody is contacted', async (t) => {
  const at = await publicationClosing(t)
  const job = await at.local()
  t.hasStrict(at.job(job), { state: 'blocked', contacted: 0, reserved: true })
  const seen = await at.during(async () => {
    const { receipt } = must(await at.close(job, at.request(job))).json()
    t.hasStrict(receipt, {
      effects: { contacted: 0, observed: 0 }, evidence: { gets: 0, journals: [] },
      producer: { standing: 'complete' },
    })
  })
  t.strictSame(seen, [])
  t.equal(at.connection().active_job_id, null)
  t.equal((await at.run(['state', 'check'])).status, 0)
})
