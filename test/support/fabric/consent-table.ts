/**
 * What becomes of a request on every route, whatever happens to its consent and whenever. A cell
 * is the word and, where it is not adopted, the reason that is told:
 * `refused`: nothing was sent, nothing is charged or held; `adopted`: one request, its charge is
 * settled and its result is there; `dropped`: one request, settled, no result; `held`: one
 * request, settled, and the result waits for a person.
 */
import type { EventOfTable, RouteOfTable } from './consent-cells.js'

/** The three moments of one event, in their order. */
type Row = readonly [beforeAdmission: string, beforeContact: string, beforeAdoption: string]

/** Routes of one file of tests. */
export const shares = {
  asks: ['question', 'report proof', 'screenshot proof'],
  images: ['image', 'text'],
} as const satisfies Record<string, readonly RouteOfTable[]>

/** Requests over the slots of the gateway: they rest on the giver of the consent alone. */
const overSlots: Readonly<Record<EventOfTable, Row>> = {
  'giver disabled': [
    'refused: principal_disabled',
    'refused: principal_disabled',
    'dropped: consent_giver_disabled',
  ],
  'giver disabled by a restore and enabled again': [
    'refused: egress_not_acknowledged',
    'refused: egress_not_acknowledged',
    'dropped: egress_not_acknowledged',
  ],
  'another owner disabled': ['adopted', 'adopted', 'adopted'],
  'save that keeps the consent': ['adopted', 'refused: slot_changed', 'adopted'],
  'save that makes a new consent': [
    'refused: proof_stale',
    'refused: before_consent',
    'dropped: slot_changed',
  ],
  'save that has not ended': [
    'refused: save_in_progress',
    'refused: save_in_progress',
    'adopted',
  ],
  'save that was interrupted': [
    'refused: save_interrupted', 'refused: save_interrupted', 'adopted',
  ],
  'save of the other capability': ['adopted', 'refused: policy_moved', 'adopted'],
  'cap lowered': ['adopted', 'refused: slot_changed', 'adopted'],
  'policy revoke': [
    'refused: policy_revoked',
    'refused: policy_revoked',
    'dropped: policy_revoked',
  ],
  'consent withdrawn': [
    'refused: route_disabled',
    'refused: route_disabled',
    'dropped: route_disabled',
  ],
  'asking session ended': ['adopted', 'adopted', 'adopted'],
  'asking session expired': ['adopted', 'adopted', 'adopted'],
}

/** Each cell once; one that is left out does not compile, and fails the test as well. */
export const table: Readonly<Record<RouteOfTable, Readonly<Record<EventOfTable, Row>>>> = {
  question: {
    'giver disabled': [
      'refused: consent_giver_disabled',
      'refused: consent_giver_disabled',
      'dropped: consent_giver_disabled',
    ],
    'giver disabled by a restore and enabled again': [
      'refused: consent_not_current',
      'refused: consent_not_current',
      'dropped: consent_not_current',
    ],
    'another owner disabled': ['adopted', 'adopted', 'adopted'],
    'save that keeps the consent': ['adopted', 'refused: policy_moved', 'adopted'],
    'save that makes a new consent': [
      'refused: acknowledgment_missing',
      'refused: consent_not_current',
      'dropped: consent_not_current',
    ],
    'save that has not ended': [
      'refused: save_in_progress',
      'refused: save_in_progress',
      'held: alpha_save_in_between',
    ],
    'save that was interrupted': [
      'refused: save_interrupted', 'refused: save_interrupted', 'held: alpha_save_in_between',
    ],
    'save of the other capability': ['adopted', 'refused: policy_moved', 'adopted'],
    'cap lowered': ['adopted', 'refused: output_cap_lowered', 'adopted'],
    'policy revoke': [
      'refused: policy_revoked',
      'refused: policy_revoked',
      'dropped: policy_revoked',
    ],
    'consent withdrawn': [
      'refused: route_disabled',
      'refused: alpha_disabled',
      'dropped: alpha_disabled',
    ],
    'asking session ended': [
      'refused: session_required',
      'refused: root_gone',
      'dropped: root_gone',
    ],
    'asking session expired': [
      'refused: session_expired',
      'refused: root_gone',
      'dropped: root_gone',
    ],
  },
  'report proof': {
    'giver disabled': [
      'refused: consent_giver_disabled',
      'refused: consent_giver_disabled',
      'dropped: consent_giver_disabled',
    ],
    'giver disabled by a restore and enabled again': [
      'refused: egress_not_acknowledged',
      'refused: egress_not_acknowledged',
      'dropped: egress_not_acknowledged',
    ],
    'another owner disabled': ['adopted', 'adopted', 'adopted'],
    'save that keeps the consent': ['adopted', 'refused: slot_changed', 'adopted'],
    'save that makes a new consent': ['adopted', 'refused: slot_changed', 'dropped: slot_changed'],
    'save that has not ended': [
      'refused: save_in_progress',
      'refused: save_in_progress',
      'adopted',
    ],
    'save that was interrupted': [
      'refused: save_interrupted', 'refused: save_interrupted', 'adopted',
    ],
    'save of the other capability': ['adopted', 'refused: policy_moved', 'adopted'],
    'cap lowered': ['adopted', 'refused: slot_changed', 'adopted'],
    'policy revoke': [
      'refused: policy_revoked',
      'refused: policy_revoked',
      'dropped: policy_revoked',
    ],
    'consent withdrawn': [
      'refused: route_disabled',
      'refused: route_disabled',
      'dropped: route_disabled',
    ],
    'asking session ended': [
      'refused: session_required',
      'refused: root_not_live',
      'dropped: root_not_live',
    ],
    'asking session expired': [
      'refused: session_expired',
      'refused: root_not_live',
      'dropped: root_not_live',
    ],
  },
  'screenshot proof': {
    'giver disabled': [
      'refused: consent_giver_disabled',
      'refused: consent_giver_disabled',
      'dropped: consent_giver_disabled',
    ],
    'giver disabled by a restore and enabled again': [
      'refused: egress_not_acknowledged',
      'refused: egress_not_acknowledged',
      'dropped: egress_not_acknowledged',
    ],
    'another owner disabled': ['adopted', 'adopted', 'adopted'],
    'save that keeps the consent': ['adopted', 'refused: slot_changed', 'adopted'],
    'save that makes a new consent': ['adopted', 'refused: slot_changed', 'dropped: slot_changed'],
    'save that has not ended': [
      'refused: save_in_progress',
      'refused: save_in_progress',
      'adopted',
    ],
    'save that was interrupted': [
      'refused: save_interrupted', 'refused: save_interrupted', 'adopted',
    ],
    'save of the other capability': ['adopted', 'refused: policy_moved', 'adopted'],
    'cap lowered': ['adopted', 'refused: slot_changed', 'adopted'],
    'policy revoke': [
      'refused: policy_revoked',
      'refused: policy_revoked',
      'dropped: policy_revoked',
    ],
    'consent withdrawn': [
      'refused: route_disabled',
      'refused: route_disabled',
      'dropped: route_disabled',
    ],
    'asking session ended': [
      'refused: session_required',
      'refused: root_not_live',
      'dropped: root_not_live',
    ],
    'asking session expired': [
      'refused: session_expired',
      'refused: root_not_live',
      'dropped: root_not_live',
    ],
  },
  image: overSlots,
  text: {
    ...overSlots,
    // Texts were asked for as of the proof; an image is also asked as of its taking in.
    'save that makes a new consent': [
      'refused: proof_stale',
      'refused: proof_stale',
      'dropped: slot_changed',
    ],
  },
}
