/**
 * What a capability proof asks of each slot and how the answer is judged. Versions are part of what
 * a proof is bound to: a changed word is a new version, and every older proof is stale.
 */
import * as v from 'valibot'
import { SallyportError } from '../base/errors.js'
import { parseStrictJson } from '../base/strict-json.js'
import { slotUse, type SlotName } from './constants.js'

/** One proof request, without the routing part that every request has. */
interface ProofRecipe {
  readonly promptVersion: string
  /** Version of the strict answer schema; null where free text is asked for. */
  readonly schemaVersion: string | null
  readonly messages: () => Promise<readonly unknown[]>
  readonly responseFormat: Readonly<Record<string, unknown>> | null
  /** Whether the content is what was asked for. */
  accepts(content: string): boolean
}

const contentBytesMax = 16_384

const matches = (schema: v.GenericSchema, content: string): boolean => {
  try {
    const value = parseStrictJson(Buffer.from(content, 'utf8'), {
      bytesMax: contentBytesMax, depthMax: 4,
    })
    return v.safeParse(schema, value).success
  } catch (error) {
    if (error instanceof SallyportError) return false
    throw error
  }
}

const strictSchema = (name: string, properties: Readonly<Record<string, unknown>>) => ({
  type: 'json_schema',
  json_schema: {
    name,
    strict: true,
    schema: {
      type: 'object', properties, required: Object.keys(properties), additionalProperties: false,
    },
  },
})

const chat: ProofRecipe = {
  promptVersion: 'svc.gateway.proof.chat.prompt.v1',
  schemaVersion: null,
  messages: async () => [{ role: 'user', content: 'Reply with exactly: ready' }],
  responseFormat: null,
  // Any text proves the route; how well a model follows orders is not what is proved.
  accepts: (content) => content.trim() !== '',
}

const report: ProofRecipe = {
  promptVersion: 'svc.gateway.proof.report.prompt.v1',
  schemaVersion: 'svc.gateway.proof.report.v1',
  messages: async () => [{
    role: 'user',
    content: 'Answer with JSON of the given schema: readiness is "ready".',
  }],
  responseFormat: strictSchema('svc_gateway_proof_report_v1', {
    readiness: { type: 'string', enum: ['ready', 'not_ready'] },
  }),
  accepts: (content) => matches(v.strictObject({ readiness: v.literal('ready') }), content),
}

const colours = ['red', 'green', 'blue'] as const

/** Loaded at use: what only reads proofs needs no encoder. */
const proofImage = async (): Promise<Buffer> => (await import('./test-image.js')).twoColourPng()

/** An image made here: the left half red, the right half blue. Nobody's screen is in it. */
const screenshot: ProofRecipe = {
  promptVersion: 'svc.gateway.proof.screenshot.prompt.v1',
  schemaVersion: 'svc.gateway.proof.screenshot.v1',
  messages: async () => [{
    role: 'user',
    content: [
      {
        type: 'text',
        text: 'The image has two halves of one colour each. Answer with JSON of the given schema.',
      },
      {
        type: 'image_url',
        image_url: { url: `data:image/png;base64,${(await proofImage()).toString('base64')}` },
      },
    ],
  }],
  responseFormat: strictSchema('svc_gateway_proof_screenshot_v1', {
    left: { type: 'string', enum: [...colours] },
    right: { type: 'string', enum: [...colours].reverse() },
  }),
  accepts: (content) => matches(
    v.strictObject({ left: v.literal('red'), right: v.literal('blue') }), content,
  ),
}

/** The proof of each slot. */
export const proofRecipes: Readonly<Record<SlotName, ProofRecipe>> = { chat, report, screenshot }

export const proofVersions = (slot: SlotName): {
  readonly prompt_version: string
  readonly schema_version: string | null
  readonly used_prompt_version: string | null
  readonly used_schema_version: string | null
} => ({
  prompt_version: proofRecipes[slot].promptVersion,
  schema_version: proofRecipes[slot].schemaVersion,
  used_prompt_version: slotUse[slot].prompt,
  used_schema_version: slotUse[slot].schema,
})
