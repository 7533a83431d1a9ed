/** What comes out of a look at what an operator has to know first. Nothing in it is a secret. */
import * as v from 'valibot'
import { count, nullableText, text } from '../../base/schema.js'
import { command } from '../../base/told.js'
import { contract } from '../../base/contract.js'
import { deviceDocument, deviceShape } from '../../edge/edge-contract.js'
import type { DeviceFacts } from '../../edge/device-facts.js'
import { waitingShape, type Waiting } from '../../governance/waiting.js'
import { dayShape, type Day } from '../../shots/day.js'

const nullableCount = v.nullable(count)

const consentShape = v.strictObject({
  kind: v.picklist(['policy', 'codehost']),
  id: text,
  /** What may be done on it: a purpose, or the actions on a repository. */
  purpose: text,
  /** Repository, where it is for one. */
  repository: nullableText,
  granted_at: text,
  /** Null: until it is taken back. */
  expires_at: nullableText,
})
export type CurrentConsent = v.InferOutput<typeof consentShape>

const folderShape = v.strictObject({
  configured_folder: nullableText,
  configuration_source: nullableText,
  saved_folder: nullableText,
  /** Whether the saved folder counts (S-111). */
  editable: v.boolean(),
  image_count: nullableCount,
  local_scan_status: text,
  last_scan_at: nullableText,
  last_scan_reason: nullableText,
  manual_scan_action: v.strictObject({ command, method: text, path: text }),
  inspection_endpoint: text,
  stored_artifact_type: v.literal('image'),
  newest_item_at: nullableText,
  newest_item_age_seconds: v.nullable(v.number()),
  failure: nullableText,
})
/** The image folder as far as a page shows it. */
export type OverviewFolder = v.InferOutput<typeof folderShape>

const spendShape = v.strictObject({
  ceiling_microusd: count, settled_microusd: count, held_microusd: count,
  unknown_microusd: count, available_microusd: count,
})

/** What a look found. */
export interface Overview {
  readonly checked_at: string
  readonly owner: string
  readonly profile: string
  /** When the session ends by itself unless it is used again. */
  readonly session_ends_at: string
  readonly policy: {
    readonly state: 'active' | 'revoked'
    readonly revision: number
    readonly usable: boolean
    readonly block: string | null
  }
  readonly waiting: readonly Waiting[]
  readonly folder: OverviewFolder
  /** Null before the first set-up of a route. */
  readonly spend: v.InferOutput<typeof spendShape> | null
  readonly day: Day
  readonly consents: readonly CurrentConsent[]
  readonly devices: readonly DeviceFacts[]
}

/** A look at what waits, what is new, what it cost, what is allowed, and who sends. */
export const overviewShow = contract({
  name: 'overview',
  output: v.strictObject({
    checked_at: text,
    owner: text,
    profile: text,
    session_ends_at: text,
    policy: v.strictObject({
      state: v.picklist(['active', 'revoked']), revision: v.number(), usable: v.boolean(),
      block: nullableText,
    }),
    waiting: v.array(waitingShape),
    folder: folderShape,
    spend: v.nullable(spendShape),
    day: dayShape,
    consents: v.array(consentShape),
    devices: v.array(deviceShape),
  }),
  toDocument: ({ waiting, consents, devices, ...rest }: Overview) => ({
    ...rest, waiting: [...waiting], consents: [...consents],
    devices: devices.map(deviceDocument),
  }),
})
