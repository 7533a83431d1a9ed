/** What goes in and comes out of the model configuration over both routes. */
import * as v from 'valibot'
import { alphaSetupInputShape } from '../alpha/setup.js'
import { contract } from '../base/contract.js'
import { closedObject, strictInteger } from '../base/schema.js'
import { gatewayInputShape } from '../gateway/setup.js'
import { configurationShape } from './configuration.js'

const configuration = { document: 'configuration', output: configurationShape } as const

/** Reading both routes. */
export const configShow = contract({ ...configuration, name: 'config.show' })

/** Saving one of them; what is left out stays. */
export const configSave = contract({
  ...configuration,
  name: 'config.save',
  input: closedObject({
    alpha_text: v.optional(alphaSetupInputShape),
    gateway: v.optional(gatewayInputShape),
    expected_policy_revision: v.optional(strictInteger(0, Number.MAX_SAFE_INTEGER)),
  }),
})
