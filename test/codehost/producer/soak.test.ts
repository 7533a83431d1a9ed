/** A few rounds of what `npm run soak` does at length. */
import { run as kills } from '../../support/soak/producer-kills.js'
import { strace } from '../../support/soak/strace.js'
import { run as network } from '../../support/soak/producer-network.js'
import { t } from '../../support/tests-in-slices.js'

t.test('C-207 C-266 killed at a sync or at random, a producer leaves no false proof', async (t) => {
  await t.resolves(kills(4))
})

t.test('C-078 C-080 C-267 a producer connects to nothing, reads no settings but its own, syncs its records in order', async (t) => {
  if (strace()) await t.resolves(network(1))
  else await t.rejects(network(1), /no strace/)
})
