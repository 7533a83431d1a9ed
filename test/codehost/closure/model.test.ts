/** The program and the reference model of closing capacity live the same histories. */
import t from 'tap'
import { closureModel } from '../../support/soak/closure-model.js'
import { rounds } from '../../support/slice.js'

const firstSeed = 20_261_300
const allRuns = 90

/** What histories come to. */
const ends = [
  'closed unknown_external_effect', 'applied', 'crashed, closed',
  'crashed, unchanged', 'raced, refused', 'woke behind its closure', 'job_closed',
  'closure_blocked remote_taken', 'closure_blocked remote_not_found', 'closure_root_ended',
  'looked', 'look observation_blocked', 'look not_closed',
]

t.test('histories of jobs, closures and looks behind them, with crashes and changes in between, leave what the states and transitions of the specification say', async (t) => {
  const runs = rounds('histories', { short: 20, all: allRuns })
  t.comment(`seeds ${firstSeed} to ${firstSeed + runs - 1}`)
  const { outcomes } = await closureModel(t, runs, firstSeed)
  t.comment(JSON.stringify(outcomes, null, 1))
  const reaches = (end: string): boolean => (outcomes[end] ?? 0) > 0
  // A few histories come to most of it, and all of them to everything.
  if (runs < allRuns) t.ok(ends.filter(reaches).length > ends.length / 2)
  else for (const end of ends) t.ok(reaches(end), end)
})
