/** Several machines and one directory: what is answered is there once. */
import t from 'tap'
import { rounds } from '../../support/slice.js'
import { raceOfMachines, raceOnDirectory } from '../../support/soak/shared-race.js'

const [writers, commits] = [4, rounds('commits of a race', { short: 10, all: 100 })]
const right = { commits: writers * commits, lost: 0, doubled: 0, chains: 1 }

t.test('of machines that write at once nothing is lost or doubled, and all have one chain', async (t) => {
  t.hasStrict(await raceOfMachines(t, writers, commits), right)
})

t.test('of processes on a directory nothing is lost or doubled', async (t) => {
  t.hasStrict(await raceOnDirectory(t, writers, commits), right)
})
