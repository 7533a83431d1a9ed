import { timersShow, type Timers } from '../../../fabric/timers/contract.js'
import { timerStanding } from '../../../fabric/timers/standing.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { foundTimers } from './found.js'
import { timersText } from './text.js'

const definition: VerbDefinition<Timers> = {
  meta: {
    name: 'timers show',
    summary: 'which timers are installed, when their jobs last ran, how old the proofs are',
    description:
      'Reads the units or the crontab lines of this state directory, asks whether user units go on '
      + 'while nobody is logged in, and tells the newest run of each job by its own receipts, '
      + 'whoever started it. It needs no session and changes nothing.',
    examples: ['$ sallyport timers show', '$ sallyport timers show --json'],
    session: 'none',
    damage: 'refuses',
    exits: ['conflict', 'no_state', 'damaged'],
    json: timersShow,
  },
  text: timersText,
}

const run: Run<object, Timers> = async (_options, deps) =>
  timersShow.answer(await foundTimers(deps, timerStanding(await deps.gov('read'))))

/** Parses a line of `timers show`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
