/** A worker that wakes behind the closure of its own job. */
import assert from 'node:assert/strict'
import { runJob } from '../../../../src/codehost/jobs/run.js'
import { closeWith } from './closings.js'
import { compare } from './compare.js'
import { approve, prepare } from './lives.js'
import { bodyText, type Lived } from './lived.js'
import type { SentRequest } from './reference.js'
import { requestFor } from './requests.js'

const closeBehind = async (lived: Lived, number: number): Promise<SentRequest> => {
  const job = lived.job(number)
  const model = lived.model
  lived.at.dropGuards()
  await lived.at.line({}, async () => undefined)
  model.fence += 1
  model.active = number
  job.state = 'unknown_external_effect'
  job.reserved = true
  lived.absorb(number)
  lived.at.host.make({ title: job.title, body: bodyText })
  const request = requestFor(lived, number, {
    hint: 'right', numbers: 'now', key: 'new', read: null, skip: 0,
  })
  lived.sent.push({ job: number, request })
  await closeWith(lived, number, request, null)
  compare(lived)
  return request
}

/**
 * A worker stands still before its first byte, and is taken for dead; somebody makes by hand what
 * it was about to make, and its capacity is closed by that. Then it wakes.
 */
export const paused = async (lived: Lived, title: string): Promise<void> => {
  const number = await prepare(lived, title)
  if (number === null) return
  await approve(lived, number)
  if (lived.model.active !== null) return
  let closed: SentRequest | null = null
  const [, { posts }] = await lived.counted(() => lived.whole((inside) => lived.at.line({
    at: (step) => inside(async () => {
      if (step !== 'codehost.before_first_byte' || closed !== null) return
      closed = await closeBehind(lived, number)
    }),
  }, async ({ ctx, session }) => runJob(ctx, session, lived.id(number)))))
  assert.equal(posts, 0, 'a worker that wakes behind the closure sends nothing')
  assert.notEqual(closed, null, 'it was closed')
  lived.model.fenced.push(`${lived.id(number)} post_handoff`)
  lived.count('woke behind its closure')
}
