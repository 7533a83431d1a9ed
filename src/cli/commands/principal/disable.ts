import { countText } from '../../../base/counted.js'
import { disablePrincipal } from '../../../governance/stops/people.js'
import {
  principalDisable, type PrincipalDisabledDocument,
} from '../../../governance/principals-contract.js'
import { afterStop, loginToStop } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { principalText } from './text.js'

/** Flags of `principal disable`. */
export interface PrincipalDisableOptions {
  readonly name: string
  readonly yes?: boolean
}

const definition: VerbDefinition<PrincipalDisabledDocument> = {
  meta: {
    name: 'principal disable',
    summary: 'disable an owner for good',
    description:
      'Ends every session of an owner and lets it log in no more. Its tasks, goals and what it '
      + 'owes stay. The last owner cannot be disabled. Nothing enables an owner again whom a '
      + 'person has disabled, not even `principal enable`, while the state knows it: a backup from '
      + 'before, where the state of after is lost, and a repair that lost the record know nothing '
      + 'of it, and this owner waits for `principal enable` then as every other one does. To end '
      + 'only what somebody does now, revoke the session (`session revoke`).',
    examples: ['$ sallyport principal disable maria', '$ sallyport principal disable maria --yes'],
    session: 'required',
    damage: 'refuses',
    exits: ['unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
    json: principalDisable,
  },
  flags: (command) => command
    .argument('<name>', 'name or id of the owner')
    .option('--yes', 'do not ask'),
  text: ({ principal, sessions_ended: ended }) =>
    `${principalText(principal)}${countText(ended, 'session')} ended.\n`,
}

const question = 'Disable this owner for good? No command lets it in again while the state knows '
  + 'it; a backup from before does not.'

/** Disables. */
export const run: Run<PrincipalDisableOptions, PrincipalDisabledDocument> = async (
  options, deps,
) => {
  const { name } = requestOf(principalDisable, options)
  const { gov, session } = await loginToStop(deps)
  if (deps.interactive && options.yes !== true) {
    await deps.confirm(question, '--yes')
  }
  const disabled = await disablePrincipal(gov, session, name)
  await afterStop(deps, gov, disabled.recorded)
  return principalDisable.answer(disabled)
}

/** Parses a line of `principal disable`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
