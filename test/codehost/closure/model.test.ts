/** The program and the reference model of closing capacity live the same histories. */
import t from 'tap'
import { closureModel } from '../../support/soak/closure-model.js'
import { rounds } from '../../support/slice.js'

const firstSeed = 20_261_300

t.test('histories of jobs, closures and looks behind them, with crashes and changes in between, leave what the states and transitions of the specification say', async (t) => {
  const runs = rounds('histories', { short: 24, all: 90 })
  t.comment(`seeds ${firstSeed} to ${firstSeed + runs - 1}`)
  const { outcomes } = await closureModel(t, runs, firstSeed)
  t.comment(JSON.stringify(outcomes, null, 1))
  for (const reached of [
    'closed unknown_external_effect', 'applied', 'crashed, closed',
    'crashed, unchanged', 'raced, refused', 'woke behind its closure', 'job_closed',
    'closure_blocked remote_taken', 'closure_blocked remote_not_found', 'closure_root_ended',
    'looked', 'look observation_blocked', 'look not_closed',
  ]) t.ok((outcomes[reached] ?? 0) > 0, reached)
})
