/** Texts of issues and comments are right as they were given and as they are sent. */
import t from 'tap'
import { prepareFollowThrough } from '../../../src/codehost/jobs/prepare.js'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import { working } from '../../support/codehost/working.js'

const bodyMax = 65_536

t.test('a line that tells a job from its like makes no text of none, and a text that is too long with it is refused', async (t) => {
  const at = await working(t)
  const prepare = (body: string, mark: boolean) => prepareFollowThrough(at.gov, at.session(), {
    connectionId: at.id, wish: { what: 'comment', issue: 1, body }, mark,
  })
  const refused = (reason: string) => ({ code: 'host_text_invalid', reason })
  await t.rejects(prepare('', false), refused('body_empty'))
  await t.rejects(prepare('', true), refused('body_empty'))
  const longest = 'x'.repeat(bodyMax)
  await t.rejects(prepare(longest, true), refused('body_too_long'))
  t.strictSame(at.view().all(jobCollection), [])
  const { state } = await prepare(longest, false)
  t.equal(state, 'prepared')
})
