import { setup as setupContract } from '../../../fabric/setup/contract.js'
import { verb } from '../../verb.js'
import { walkThrough } from './walk.js'

const instead = 'A script types what it would run: `sallyport init`, `sallyport login`, '
  + '`sallyport alpha setup --help`, `sallyport gateway setup --help`, '
  + '`sallyport shots config set --help`, `sallyport gateway prove --all`, '
  + '`sallyport timers install --help`.'

export const setup = verb(setupContract, {
  summary: 'be led through all of it, from the state directory to the timers',
  description:
    'Asks on a terminal, step by step: provider or rehearsal, session, key, limits and consent '
    + 'of questions, the gateway, the folder of screenshots and what may leave it, the proof, '
    + 'timers. Each step runs a command that it tells, so that the next time you can type it. '
    + 'Enter leaves a step as it is, and what is done is told and not asked for again unless '
    + 'you say so. Ctrl-C leaves what was saved by then.',
  examples: ['$ sallyport setup'],
  session: 'none',
  damage: 'refuses',
  contacts: true,
  exits: ['rejected', 'conflict', 'locked', 'damaged'],
  text: ({ steps }) => steps.map(({ step, done, told }) =>
    `${step.padEnd(9)}${done ? 'done' : 'open'}  ${told}\n`).join(''),
  run: async (_request, deps) => walkThrough(deps, instead),
})
