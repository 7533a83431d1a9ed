/**
 * The deployment profile: which provider, model and hosts this state directory may ever reach.
 * It is sealed at `init`; no flag, variable or setting changes it later.
 */
import * as v from 'valibot'
import { fail } from '../base/errors.js'
import type { Store } from '../state/types.js'

/** A name as a profile may hold it. */
export const profileName = v.pipe(
  v.string(), v.minLength(1), v.maxLength(200), v.regex(/^[^\p{Cc}]+$/u),
)

/** The one text provider. */
export const providerShape = v.strictObject({
  name: profileName, base_url: v.string(), model_id: profileName,
})

const sealedShape = v.strictObject({
  schema: v.literal('sallyport.profile.v1'),
  name: profileName,
  provider: providerShape,
  gateway: v.nullable(v.strictObject({ base_url: v.string() })),
  codehost: v.nullable(v.strictObject({ base_url: v.string() })),
  /** The CA's bytes (PEM), not its path; null means Node's bundled roots. */
  ca_pem: v.nullable(v.string()),
  /** True when every host is loopback; only then may a CA be sealed. */
  loopback: v.boolean(),
  workspace: v.string(),
})
/** The profile as sealed in the state directory. */
export type DeploymentProfile = v.InferOutput<typeof sealedShape>

/** The built-in profile: NEAR AI Cloud, the public provider whose protocol `alpha` speaks. */
export const defaultProfile: Omit<DeploymentProfile, 'workspace'> = {
  schema: 'sallyport.profile.v1',
  name: 'near-ai-cloud',
  provider: {
    name: 'near-ai-cloud',
    base_url: 'https://cloud-api.near.ai/v1',
    model_id: 'Qwen/Qwen3-30B-A3B-Instruct-2507',
  },
  gateway: { base_url: 'https://openrouter.ai/api/v1' },
  codehost: { base_url: 'https://api.github.com' },
  ca_pem: null,
  loopback: false,
}

/** Of profiles that nobody changes any more. */
const opened = new WeakMap<object, DeploymentProfile>()

/** The sealed profile of an open store. Throws `damaged` when it is not one. */
export const deploymentProfile = (store: Store): DeploymentProfile => {
  const { profile } = store
  const kept = typeof profile === 'object' && profile !== null && Object.isFrozen(profile)
  const known = kept ? opened.get(profile) : undefined
  if (known !== undefined) return known
  const parsed = v.safeParse(sealedShape, profile)
  if (parsed.success) {
    if (kept) opened.set(profile, parsed.output)
    return parsed.output
  }
  throw fail.damaged('profile_damaged', 'The sealed profile is not of its shape.', {
    next: 'Run `sallyport state check`.',
  })
}
