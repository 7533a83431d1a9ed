/** A question that was handed in waits a quarter of an hour, also under a clock that was wrong. */
import t from 'tap'
import {
  keepInput, keptInputMs, sweepInputs, waitingInputs,
} from '../../../src/alpha/ask/kept-input.js'
import { encodeInput, makeAlphaInput } from '../../../src/alpha/input.js'
import { World } from '../../world/world.js'

const bytes = encodeInput(makeAlphaInput('MARK: what is new?', 10))

t.test('A-102 one that was handed in while the clock stood ahead is gone once it is right', async (t) => {
  const world = await World.in(t).state().session()
  const session = world.session()
  const { gov } = world
  const ahead = (ms: number) =>
    ({ ...gov, clock: { ...gov.clock, wallMs: () => gov.clock.wallMs() + ms } })
  await keepInput(ahead(30_000), session, bytes)
  t.equal(waitingInputs(gov, world.view(), session).length, 1, 'a clock may be set back a little')
  t.equal(await sweepInputs(gov), 0)
  await keepInput(ahead(keptInputMs), session, bytes)
  t.equal(waitingInputs(gov, world.view(), session).length, 1)
  t.equal(await sweepInputs(gov), 1)
  t.equal(await sweepInputs(ahead(keptInputMs + 30_000)), 1, 'and each when its time is over')
})
