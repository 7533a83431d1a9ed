import { SallyportError } from '../../../base/errors.js'
import { policyRevoke, type PolicyDocument } from '../../../governance/policy/contract.js'
import { revokePolicy } from '../../../governance/policy/revoke.js'
import { currentToken } from '../../login.js'
import { recoverFirst } from '../../mutate.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

const definition: VerbDefinition<PolicyDocument> = {
  meta: {
    name: 'policy revoke',
    summary: 'stop every route at once',
    description:
      'Publishes a revoked policy revision: every route stops, every consent ends. It needs no '
      + 'session, because stopping must never be hard. A charge that is already owed is still '
      + 'read back. Each route has to be granted anew afterwards.',
    examples: ['$ sallyport policy revoke', '$ sallyport policy revoke --json'],
    session: 'none',
    anchor: 'any',
    damage: 'decides',
    exits: ['no_state', 'locked', 'damaged'],
    json: policyRevoke,
  },
  text: (policy) =>
    `Every route is stopped: alpha and gateway (policy revision ${policy.revision}).\n`,
}

/** Revokes. A session is named in the record when there is one, and never asked for. */
export const run: Run<object, PolicyDocument> = async (_options, deps) => {
  const gov = await deps.gov('write')
  const by = { principal: null as string | null, root: null as string | null }
  if (currentToken(gov, deps.env) !== null) {
    try {
      const { session } = await deps.login('write', { touch: false })
      by.principal = session.principal.principal_id
      by.root = session.root.root_id
    } catch {
      // An ended session must not keep anybody from stopping.
    }
  }
  const policy = await revokePolicy(gov, by)
  try {
    await recoverFirst(deps, gov)
  } catch (error) {
    // The routes are stopped and durable so: nothing that comes after may make it look otherwise.
    if (!(error instanceof SallyportError)) throw error
    deps.note(`Stopped, but what a dead process left was not resolved: ${error.message}`)
  }
  return policyRevoke.answer(policy)
}

/** Parses a line of `policy revoke`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
