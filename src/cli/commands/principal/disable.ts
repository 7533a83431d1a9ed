import * as v from 'valibot'
import { disablePrincipal, principalFacts } from '../../../governance/principals.js'
import { loginToMutate } from '../../mutate.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { principalFactsShape, principalText } from './facts.js'

/** Flags of `principal disable`. */
export interface PrincipalDisableOptions {
  readonly name: string
  readonly yes?: boolean
}

const schema = v.strictObject({ principal: principalFactsShape, sessions_ended: v.number() })
/** Result of `principal disable`. */
export type PrincipalDisabled = v.InferOutput<typeof schema>

const definition: VerbDefinition<PrincipalDisabled> = {
  meta: {
    name: 'principal disable',
    summary: 'disable an owner for good',
    description:
      'Ends every session of an owner and lets it log in no more. Its tasks, goals and what it '
      + 'owes stay. The last owner cannot be disabled, and nothing enables an owner again.',
    examples: ['$ sallyport principal disable maria', '$ sallyport principal disable maria --yes'],
    session: 'required',
    exits: ['unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
    json: { version: 1, schema },
  },
  flags: (command) => command
    .argument('<name>', 'name or id of the owner')
    .option('--yes', 'do not ask'),
  text: ({ principal, sessions_ended: ended }) =>
    `${principalText(principal)}${ended} session(s) ended.\n`,
}

/** Disables. */
export const run: Run<PrincipalDisableOptions, PrincipalDisabled> = async (options, deps) => {
  const { gov, session } = await loginToMutate(deps)
  if (deps.interactive && options.yes !== true) {
    await deps.confirm('Disable this owner for good?', '--yes')
  }
  const { principal, sessions_ended } = await disablePrincipal(gov, session, options.name)
  return { principal: principalFacts(principal), sessions_ended }
}

/** Parses a line of `principal disable`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
