import type { ShotsConfig } from '../../../shots/source/config.js'
import { shotsSetup } from '../../../shots/source/contract.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { saveByForm } from './config-form.js'
import { configText } from './config-text.js'

const definition: VerbDefinition<ShotsConfig> = {
  meta: {
    name: 'shots setup',
    summary: 'set up folder, analysis, budget and renewal of proofs, by a form',
    description:
      'Asks on a terminal for the folder, for what may leave it and under which controls, for the '
      + 'bounds of spend, and whether jobs renew proofs. Enter keeps what is saved; what is on is '
      + 'never switched off here. The change is shown before it is saved. A script says the same '
      + 'with `shots config set` and its flags.',
    examples: ['$ sallyport shots setup'],
    session: 'required',
    damage: 'refuses',
    exits: ['rejected', 'unauthorized', 'conflict', 'no_state', 'locked', 'damaged'],
    json: shotsSetup,
  },
  text: (result, view) => configText(result, view),
}

const run: Run<object, ShotsConfig> = async (_options, deps) =>
  shotsSetup.answer(await saveByForm(deps))

/** Parses a line of `shots setup`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
