/** A publication of several growing trees and several pages of changed paths. */
import { must } from '../../../support/must.js'
import { publicationClosing } from '../../../support/codehost/publication-closing.js'
import { t } from '../../../support/tests-in-slices.js'

t.test('C-227 C-244 C-247 trees between the first and the last one are read by one level, the pages of changed paths by hundreds', async (t) => {
  const at = await publicationClosing(t)
  const files = Object.fromEntries(Array.from({ length: 450 }, (_, number) =>
    [`part-${number % 7}/file-${number}.txt`, `text ${number}\n`]))
  const job = await at.whole(files)
  const seen = await at.during(async () => {
    const { receipt } = must(await at.close(job, at.request(job))).json()
    t.equal(receipt.effects.observed, receipt.effects.contacted)
  })
  const trees = seen.filter((one) => one.includes('/git/trees/'))
  t.equal(trees.filter((one) => !one.endsWith('?recursive=1')).length, 1, 'the one between')
  t.equal(trees.length, 3 + 2, 'three chunks, and the last one')
  t.strictSame(seen.filter((one) => one.includes('/files?')).sort(),
    [1, 2, 3, 4, 5].map((page) =>
      `GET /repos/operator/notes/pulls/1/files?per_page=100&page=${page}`))
  await at.isWhole(t)
})

t.test('C-201 C-227 a pull request of another number of files is told before any page is read', async (t) => {
  const at = await publicationClosing(t)
  const job = await at.whole()
  const told = [[2_001, 'pages_exceeded'], [6, 'changed_paths_differ']] as const
  for (const [number, reason] of told) {
    at.sandbox.faults.set('pull_counts', { service: 'codehost', times: 1, value: number })
    const seen = await at.during(async () => {
      t.hasStrict((await at.close(job, at.request(job))).error(), { reason })
    })
    t.equal(seen.length, 2, 'the repository and the pull request')
    at.sandbox.faults.clear()
  }
})
