import { timersShow } from '../../../fabric/timers/contract.js'
import { timerStanding } from '../../../fabric/timers/standing.js'
import { verb } from '../../verb.js'
import { foundTimers } from './found.js'
import { timersText } from './text.js'

export const show = verb(timersShow, {
  summary: 'which timers are installed, when their jobs last ran, how old the proofs are',
  description:
    'Reads the units or the crontab lines of this state directory, asks whether user units go on '
    + 'while nobody is logged in, and tells the newest run of each job by its own receipts, '
    + 'whoever started it. It needs no session and changes nothing.',
  examples: ['$ sallyport timers show', '$ sallyport timers show --json'],
  session: 'none',
  damage: 'refuses',
  exits: ['conflict', 'no_state', 'damaged'],
  text: timersText,
  run: async (_request, deps) => foundTimers(deps, timerStanding(await deps.gov('read'))),
})
