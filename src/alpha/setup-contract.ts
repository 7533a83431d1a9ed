/** What goes in and comes out of reading and saving the set-up of the text capability. */
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import { closedObject, strictInteger } from '../base/schema.js'
import { alphaShowShape } from './projection.js'
import { alphaSetupInputShape } from './setup.js'

const show = { document: 'alpha', output: alphaShowShape } as const

export const alphaShow = contract({ ...show, name: 'alpha.show' })

/** Saving the set-up; each field by the rules of `alphaSetupInputShape`. */
export const alphaSetup = contract({
  ...show,
  name: 'alpha.setup',
  input: closedObject({
    alpha_text: alphaSetupInputShape,
    expected_policy_revision: v.optional(strictInteger(0, Number.MAX_SAFE_INTEGER)),
  }),
})

/** Acknowledging the current consent as another owner than the one who gave it. */
export const alphaAcknowledge = contract({
  ...show,
  name: 'alpha.acknowledge',
  input: closedObject({ plaintext_provider_egress_acknowledged: v.optional(v.boolean(), false) }),
})
