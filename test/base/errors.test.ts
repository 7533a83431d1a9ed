import t from 'tap'
import { fail, SallyportError } from '../../src/base/errors.js'
import { newId } from '../../src/base/ids.js'

t.test('each kind has its constructor, and every part is there or null', async (t) => {
  const kinds = { failed: 'failed', usage: 'usage', rejected: 'rejected', conflict: 'conflict',
    unauthorized: 'unauthorized', notFound: 'not_found', blocked: 'blocked', budget: 'budget',
    remote: 'remote', noState: 'no_state', locked: 'locked', damaged: 'damaged',
    partial: 'partial', cancelled: 'cancelled' } as const
  t.strictSame(Object.keys(fail).sort(), Object.keys(kinds).sort())
  for (const [name, kind] of Object.entries(kinds)) {
    const error = fail[name as keyof typeof fail]('some_code', 'A sentence.')
    t.ok(error instanceof SallyportError)
    t.matchStrict(
      error, { kind, code: 'some_code', message: 'A sentence.', next: null, reason: null }
    )
    t.strictSame(error.details, {})
    t.notOk('cause' in error)
  }
  const cause = new Error('x')
  t.hasStrict(fail.blocked('c', 'm', { next: 'n', reason: 'r', details: { limit: 1 }, cause }),
    { next: 'n', reason: 'r', details: { limit: 1 }, cause })
})

t.test('ids carry their type and sort by creation', async (t) => {
  const ids = Array.from({ length: 50 }, () => newId('task'))
  t.match(ids[0], /^task_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.strictSame([...ids].sort(), ids)
  t.equal(new Set(ids).size, 50)
})
