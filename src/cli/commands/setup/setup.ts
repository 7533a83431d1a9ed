import { setup, type SetupDocument } from '../../../fabric/setup/contract.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { walkThrough } from './walk.js'

const definition: VerbDefinition<SetupDocument> = {
  meta: {
    name: 'setup',
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
    json: setup,
  },
  text: ({ steps }) => steps.map(({ step, done, told }) =>
    `${step.padEnd(9)}${done ? 'done' : 'open'}  ${told}\n`).join(''),
}

const instead = 'A script types what it would run: `sallyport init`, `sallyport login`, '
  + '`sallyport alpha setup --help`, `sallyport gateway setup --help`, '
  + '`sallyport shots config set --help`, `sallyport gateway prove --all`, '
  + '`sallyport timers install --help`.'

const run: Run<object, SetupDocument> = async (_options, deps) =>
  setup.answer(await walkThrough(deps, instead))

/** Parses a line of `setup`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
