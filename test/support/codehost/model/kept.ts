/** Requests of closures that were kept: sent again, looked at, discarded. */
import assert from 'node:assert/strict'
import { canonicalJson } from '../../../../src/base/canonical.js'
import { discardKept, inspectText } from '../../../../src/codehost/closure/look.js'
import { closeWith } from './closings.js'
import type { Lived } from './lived.js'
import type { CrashWish } from './operations.js'
import { verdictOf, type SentRequest } from './reference.js'
import { requestJson } from './requests.js'

/** The same request once more. */
export const retry = async (lived: Lived, key: string, crash: CrashWish | null): Promise<void> => {
  const kept = lived.model.pending.get(key)
  if (kept !== undefined) await closeWith(lived, kept.job, kept.request, crash)
}

/** What became of a request is said as the model says. */
export const inspect = async (
  lived: Lived, number: number, request: SentRequest,
): Promise<void> => {
  const told = await lived.silent(() => lived.at.line({ mode: 'read' }, async (line) =>
    inspectText(line.gov, line.session, lived.id(number), JSON.stringify(requestJson(request)))))
  assert.equal(told.kind, 'done', JSON.stringify(told))
  if (told.kind !== 'done') return
  const { verdict } = told.value
  assert.equal(verdict.verdict, verdictOf(lived.model, number, request), 'the verdict')
  if (verdict.verdict === 'applied') {
    assert.equal(canonicalJson(verdict.closure.receipt), lived.job(number).closed?.receipt)
  }
}

/** A kept request is discarded, unless it may have done something. */
export const discard = async (lived: Lived, key: string): Promise<void> => {
  const { job, request } = lived.model.pending.get(key) as { job: number; request: SentRequest }
  const verdict = verdictOf(lived.model, job, request)
  const told = await lived.silent(() => lived.at.line({ mode: 'read' }, async (line) =>
    discardKept(line.gov, line.session, { jobId: lived.id(job), key })))
  if (verdict === 'inconclusive') {
    assert.equal(told.kind === 'refused' ? told.code : '', 'pending_inconclusive')
    return
  }
  assert.equal(told.kind, 'done', JSON.stringify(told))
  lived.model.pending.delete(key)
}
