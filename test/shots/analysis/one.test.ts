/** How one image of a pass ends. */
import t from 'tap'
import { fail } from '../../../src/base/errors.js'
import { unrecorded } from '../../../src/contact/persist.js'
import { endImage } from '../../../src/shots/analysis/one.js'

type Given = Parameters<typeof endImage>

t.test('what was sent and could not be recorded ends the pass, and its operation is told', async (t) => {
  const error = unrecorded(fail.locked('lock_held', 'The state is locked.'), 'op_1')
  const described = { take: async () => { throw error } }
  const request = { reason: null, group: null, timeoutMs: 1, described, settling: null }
  const prepared = { row: {}, verdict: { kind: 'ready' } }
  t.strictSame(
    await endImage({} as Given[0], prepared as Given[1], request as unknown as Given[2]), {
      outcome: 'failed', reason: 'outcome_not_recorded', operationId: 'op_1', costMicrousd: null,
      stop: 'outcome_not_recorded', reused: false, error,
    })
})
