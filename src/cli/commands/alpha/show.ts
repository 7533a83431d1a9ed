import { alphaShow } from '../../../alpha/setup-contract.js'
import type { AlphaShow } from '../../../alpha/projection.js'
import { showAlpha } from '../../../alpha/show.js'
import { deploymentProfile } from '../../../governance/profile.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { alphaText } from './text.js'

const definition: VerbDefinition<AlphaShow> = {
  meta: {
    name: 'alpha show',
    summary: 'show the set-up of the text capability',
    description:
      'Shows the route, its limits, the shared ceiling, whether a key is stored, whether the '
      + 'consent is current, and the status with its reason. It contacts nobody: `configured` '
      + 'says nothing about the provider.',
    examples: ['$ sallyport alpha show', '$ sallyport alpha show --json'],
    session: 'required',
    damage: 'refuses',
    exits: ['unauthorized', 'no_state', 'damaged'],
    json: alphaShow,
  },
  text: (result, view) => alphaText(result, view),
}

/** Reads the set-up. */
export const run: Run<object, AlphaShow> = async (_options, deps) => {
  const { gov, session } = await deps.login('read')
  return alphaShow.answer(showAlpha(gov, session, deploymentProfile(gov.store).provider))
}

/** Parses a line of `alpha show`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
