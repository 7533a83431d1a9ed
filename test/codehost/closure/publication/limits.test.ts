/** The limits of proving a publication, each at its value and one past it, by small limits. */
import { ReadBudget } from '../../../../src/codehost/closure/budget.js'
import {
  publicationReadLimits, type PublicationReadLimits,
} from '../../../../src/codehost/closure/closure-limits.js'
import { closureCollection } from '../../../../src/codehost/jobs/closed/closed-job-rows.js'
import { closeWith } from '../../../support/codehost/close-with.js'
import { publicationClosing } from '../../../support/codehost/publication-closing.js'
import { t } from '../../../support/tests-in-slices.js'

const mebibyte = 1024 * 1024

t.test('C-219 C-221 C-222 C-223 C-224 C-225 C-226 C-227 C-228 the limits of a publication are those of the specification', async (t) => {
  t.hasStrict(publicationReadLimits, {
    windowMs: 120_000, getsMax: 4_096, rawBytesMax: 192 * mebibyte, decodedBytesMax: 128 * mebibyte,
    filesMax: 2_000, filesBytesMax: 64 * mebibyte, fileBytesMax: 2 * mebibyte, pagesMax: 20,
    journalBytesMax: 262_144, journalsBytesMax: 16 * mebibyte, atOnce: 8, getsPerMinuteMax: 800,
  })
})

/** Nothing is closed below this one: what comes so far has passed every other limit. */
const last = { journalsBytesMax: 0 }

/** Counters of the closures of some work, the newest last. */
const countersOf = async (work: () => Promise<unknown>): Promise<readonly ReadBudget[]> => {
  const seen = new Set<ReadBudget>()
  const own = ReadBudget.prototype.begin
  ReadBudget.prototype.begin = function (this: ReadBudget, ...of) {
    seen.add(this)
    return own.apply(this, of)
  }
  await work()
  ReadBudget.prototype.begin = own
  return [...seen]
}

t.test('C-202 C-221 C-222 C-223 C-224 C-225 C-226 C-227 C-228 each limit holds at its value and blocks one past it', async (t) => {
  const at = await publicationClosing(t)
  const job = await at.whole({ 'a.txt': 'a\n'.repeat(9), 'two/binary': Buffer.from([0, 255]) })
  const before = at.bytes()
  const tried = (limits: Partial<PublicationReadLimits>) => closeWith(at, job, limits)
  const [counters] = await countersOf(async () =>
    t.equal(await tried(last), 'journals_exceeded'))
  const limits = {
    getsMax: 8, rawBytesMax: counters?.rawBytes ?? 0, decodedBytesMax: counters?.decodedBytes ?? 0,
    filesMax: 3, fileBytesMax: 18, filesBytesMax: 34, pagesMax: 1,
  }
  const reasons: Readonly<Record<keyof typeof limits, string>> = {
    getsMax: 'gets_exceeded', rawBytesMax: 'bytes_exceeded',
    decodedBytesMax: 'decoded_bytes_exceeded', filesMax: 'files_exceeded',
    fileBytesMax: 'file_bytes_exceeded', filesBytesMax: 'files_bytes_exceeded',
    pagesMax: 'pages_exceeded',
  }
  for (const [name, value] of Object.entries(limits)) {
    const limit = name as keyof typeof limits
    t.equal(await tried({ ...limits, ...last, [limit]: value - 1 }), reasons[limit], limit)
  }
  // A reply has a limit of its own by what is read, whatever that of all others is.
  for (const limit of [
    'replyBytesMax', 'treeReplyBytesMax', 'blobReplyBytesMax', 'pageReplyBytesMax',
  ]) t.equal(await tried({ ...limits, ...last, [limit]: 10 }), 'readback_too_large', limit)
  t.equal(await tried({ ...limits, journalBytesMax: 1_000 }), 'journals_exceeded')
  t.strictSame([...at.bytes()], [...before], 'nothing was closed')
  t.equal(await tried({ ...limits, journalBytesMax: 6_000 }), 'closed', 'each at its value')
  const [closure] = at.view().all(closureCollection)
  const evidence = closure?.doc.receipt.evidence
  t.strictSame([evidence?.gets, evidence?.raw_bytes], [limits.getsMax, limits.rawBytesMax])
  t.ok((evidence?.journals.length ?? 0) > 1, 'in several journals')
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('C-219 C-220 C-230 the window is one, and its end is the end of every read', async (t) => {
  const at = await publicationClosing(t)
  const job = await at.whole()
  const before = at.bytes()
  let replies = 0
  t.equal(await closeWith(at, job, {}, (step) => {
    if (step === 'closure.replied' && (replies += 1) === 3) at.clock.advance(120_000)
  }), 'deadline_elapsed')
  t.strictSame([...at.bytes()], [...before])
  t.equal(await closeWith(at, job, {}, (step) => {
    if (step === 'closure.replied') at.clock.stepWall(30_000)
  }), 'closed')
})
