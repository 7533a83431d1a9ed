import { enablePrincipal } from '../../../governance/enable.js'
import {
  principalEnable, type PrincipalEnabledDocument,
} from '../../../governance/principals-contract.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { principalText } from './text.js'

/** Arguments of `principal enable`. */
export interface PrincipalEnableOptions {
  readonly name: string
}

const definition: VerbDefinition<PrincipalEnabledDocument> = {
  meta: {
    name: 'principal enable',
    summary: 'let an owner log in again after a restore',
    description:
      'Where a backup was put in place, or a damaged state repaired, and nothing told which owners '
      + 'had been disabled since, only the one who did it may log in. This lets another owner log '
      + 'in again, by name; consents and acknowledgments that it gave before do not come back. An '
      + 'owner that a person disabled stays disabled for good where the state still tells so; '
      + 'where that is lost, whoever runs this has to remember.',
    examples: ['$ sallyport principal enable maria'],
    session: 'required',
    damage: 'refuses',
    exits: ['unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
    json: principalEnable,
  },
  flags: (command) => command.argument('<name>', 'name or id of the owner'),
  text: ({ principal }) => principalText(principal),
}

/** Enables. */
export const run: Run<PrincipalEnableOptions, PrincipalEnabledDocument> = async (
  options, deps,
) => {
  const { name } = requestOf(principalEnable, options)
  const { gov, session } = await loginToMutate(deps)
  return principalEnable.answer(await enablePrincipal(gov, session, name))
}

/** Parses a line of `principal enable`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
