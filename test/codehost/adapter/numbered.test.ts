/** What a 201 about something that the host numbered confirms, from told values alone. */
import t from 'tap'
import { numberedConfirmation } from '../../../src/codehost/adapter/post-reply.js'
import { likenessOf } from '../../../src/codehost/adapter/provenance.js'
import { provenanceOf } from '../../../src/codehost/jobs/ledger.js'
import { oneSecond } from '../../support/codehost/provenance.js'

const of = oneSecond.provenance
const payload = { created_at: oneSecond.within, user: oneSecond.user }
const told = { remoteId: 7, inPlace: true, sameText: true, payload }

t.test('C-104 a 201 of this effect is confirmed with its number, one that differs in its text alone keeps it, and nothing else has one', async (t) => {
  t.strictSame(numberedConfirmation(of, told), { remoteId: 7, problem: null })
  t.strictSame(numberedConfirmation(of, { ...told, sameText: false }),
    { remoteId: 7, problem: 'differs' })
  for (const sameText of [true, false]) {
    t.strictSame(numberedConfirmation(of, { ...told, sameText, inPlace: false }),
      { remoteId: null, problem: 'differs' })
    for (const [change, word] of [
      [{ created_at: oneSecond.before }, 'other_time'], [{ created_at: null }, 'time_missing'],
      [{ user: { id: 6 } }, 'other_author'], [{ user: null }, 'author_missing'],
    ] as const) {
      t.strictSame(
        numberedConfirmation(of, { ...told, sameText, payload: { ...payload, ...change } }),
        { remoteId: null, problem: sameText ? word : 'differs' })
    }
    t.strictSame(numberedConfirmation({ ...of, author: null }, { ...told, sameText }),
      { remoteId: null, problem: sameText ? 'author_unknown' : 'differs' })
  }
})

t.test('C-021 a job of before, that has no author, is told from its like by nothing but a mark', async (t) => {
  t.hasStrict(provenanceOf({}, null), { author: null, marked: false })
  t.strictSame(likenessOf({ ...of, author: provenanceOf({}, null).author }, payload),
    'author_unknown')
  t.equal(likenessOf({ ...of, ...provenanceOf({ mark: 'a'.repeat(32) }, null) }, payload), null)
})

t.test('C-021 with a mark the text tells it; where the text is another, the mark may be gone, and time and maker have to', async (t) => {
  const marked = { ...of, marked: true }
  const other = { ...told, payload: { created_at: oneSecond.before, user: { id: 6 } } }
  t.strictSame(numberedConfirmation(marked, other), { remoteId: 7, problem: null })
  t.strictSame(numberedConfirmation(marked, { ...other, sameText: false }),
    { remoteId: null, problem: 'differs' })
  t.strictSame(numberedConfirmation(marked, { ...told, sameText: false }),
    { remoteId: 7, problem: 'differs' })
})
