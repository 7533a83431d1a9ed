import type { Sandbox } from '../../../src/sandbox/start.js'
import { jsonOf, post } from './https-post.js'
import type { Ask, Reply } from './https-post.js'

/** A completion request that Sallyport may send, with members changed for a test. */
export const completionBody = (
  sandbox: Sandbox,
  change: Record<string, unknown> = {},
): Record<string, unknown> => ({
  model: sandbox.profile.provider.model_id,
  messages: [{ role: 'user', content: 'what is a sally port?' }],
  n: 1,
  max_tokens: 256,
  ...change,
})

type Change = Readonly<Record<string, unknown>>

/** Posts a body of this service, with members changed for a test, to its completions. */
const completionsOf = (
  service: 'provider' | 'gateway', bodyOf: (sandbox: Sandbox, change: Change) => Change,
) => (sandbox: Sandbox, change: Change = {}, how: Partial<Ask> = {}): Promise<Reply> =>
  post({
    url: `${sandbox.profile[service].base_url}/chat/completions`,
    ca: sandbox.caPem,
    body: bodyOf(sandbox, change),
    ...how,
  })

/** Asks the sandbox's provider. */
export const ask = completionsOf('provider', completionBody)

/** Asks the sandbox's billing for one id. */
export const bill = (sandbox: Sandbox, id: string, how: Partial<Ask> = {}): Promise<Reply> =>
  post({
    url: `${sandbox.profile.provider.base_url}/billing/costs`,
    ca: sandbox.caPem,
    body: { requestIds: [id] },
    ...how,
  })

/** Asks once, without faults, and gives the billing id of what was answered. */
export const askedId = async (sandbox: Sandbox): Promise<string> =>
  sandbox.provider.billingId(String(jsonOf(await ask(sandbox)).id))

/** A gateway request that passes every rule, with members changed for a test. */
export const gatewayBody = (change: Record<string, unknown> = {}): Record<string, unknown> => ({
  model: 'acme/vision-9',
  messages: [{ role: 'user', content: 'say something' }],
  max_tokens: 64,
  usage: { include: true },
  provider: {
    only: ['acme-host'],
    allow_fallbacks: false,
    data_collection: 'deny',
    zdr: true,
    require_parameters: true,
  },
  ...change,
})

/** Asks the sandbox's gateway. */
export const askGateway = completionsOf('gateway', (_sandbox, change) => gatewayBody(change))
