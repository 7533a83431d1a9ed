/** Stored captures, as observations are made of them. */
import t from 'tap'
import { storedCaptures } from '../../src/edge/stored-captures.js'
import { capture, headOf, pairDevice, send } from '../support/edge/uploading.js'
import { signIn } from '../support/tasks.js'
import { World } from '../world/world.js'

t.test('the time of a capture has its milliseconds, whether or not its device told them: rows are in the order of whole times', async (t) => {
  const { gov, ...world } = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn({ gov, ...world })
  const { party } = await pairDevice(gov, session)
  for (const [sequence, captured_at] of [
    [1, '2026-01-02T03:04:05Z'], [2, '2026-01-02T03:04:05.500Z'],
  ] as const) {
    const body = capture(64, sequence)
    await send(gov, party, headOf(body, sequence, { captured_at }), body)
  }
  const found = [...storedCaptures.newestFirst(gov.store.read(), party.device.device_id)]
  t.strictSame(found.map(({ sequence, capturedAt }) => [sequence, capturedAt]), [
    [2, '2026-01-02T03:04:05.500Z'], [1, '2026-01-02T03:04:05.000Z'],
  ])
})
