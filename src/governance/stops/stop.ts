/**
 * A stop: what somebody wants to end, in force from the moment its file is durable and until it is
 * recorded. It names whom it stops; a stop that cannot be read, or of a kind that nobody knows,
 * stops everybody.
 */
import { fail, type SallyportError } from '../../base/errors.js'
import type { Stop } from '../../state/stop-board.js'

/** Whose an operation is; what is left out is not known, and any stop may be meant for it. */
export interface Party {
  /** Principal id of the owner who pays. */
  readonly principal?: string | undefined
  /** Principal ids of whoever gave the consents that it rests on. */
  readonly givers?: readonly string[] | undefined
  /** Root that has to stay live; null where the operation rests on none. */
  readonly root?: string | null | undefined
  readonly task?: string | null | undefined
  /** Saved connection that it writes through; null where it writes through none. */
  readonly connection?: string | null | undefined
  /** Paired device that sends it, or that captured what it sends; left out where none did. */
  readonly device?: string | undefined
  /** Provider of the text route that it asks; null where it asks none. */
  readonly provider?: string | null | undefined
  /** Slot of the gateway that it goes through; null where it goes through none. */
  readonly slot?: string | null | undefined
  /** What content of the screenshots' it sends, and for which purpose; null where it sends none. */
  readonly purpose?: string | null | undefined
  /** Digest of the image folder that its content is from; null where it is from none. */
  readonly folder?: string | null | undefined
}

/** What is no operation of a model route, for stops: a session, a save, a write to a code host. */
export const offRoutes = {
  givers: [] as readonly string[], provider: null, slot: null, purpose: null, folder: null,
} as const

/** What a stop says of whom it stops. */
export type Aim = Pick<Stop, 'kind' | 'target'>

/** Whether a stop of a capability's own kind covers an operation; undefined: not its kind. */
export type OwnCover = (aim: Aim) => boolean | undefined

/** Kinds of stops about a saved connection, and the mode that each one leaves it in. */
export const connectionStops = {
  /** Its consent is revoked; the mode stays. */
  connection: null,
  connection_disabled: 'disabled',
  connection_reconcile_only: 'reconcile_only',
} as const

/** A kind of stop about a saved connection. */
export type ConnectionStop = keyof typeof connectionStops

const isOfConnection = (kind: string): kind is ConnectionStop =>
  Object.hasOwn(connectionStops, kind)

/** Kind of the stop that ends the pairing of a device. It covers nothing else. */
export const deviceStop = 'edge_device'

/**
 * Kinds of stops that a save puts which closes something, and what of an operation each is aimed
 * at; without a target, at every operation that has it. The record of the save spends them.
 */
const saveStops = {
  alpha: 'provider', gateway_slot: 'slot', shots_purpose: 'purpose', folder: 'folder',
  saved_connection: 'connection',
} as const satisfies Readonly<Record<string, keyof Party>>

type SaveStop = keyof typeof saveStops

/** What a save closes. */
export interface SaveAim extends Aim { readonly kind: SaveStop }

/** Whether a kind of stop is put by a save, and spent by its record alone. */
export const isOfSave = (kind: string): kind is SaveStop => Object.hasOwn(saveStops, kind)

/** Whether a stop covers an operation. Pure. */
export const covers = (aim: Aim, party: Party, own?: OwnCover): boolean => {
  const isMeant = (id: string | null | undefined): boolean => id === undefined || id === aim.target
  if (aim.kind === 'principal') {
    return isMeant(party.principal) || (party.givers?.some(isMeant) ?? true)
  }
  if (aim.kind === 'root') return isMeant(party.root)
  if (aim.kind === 'task') return isMeant(party.task)
  if (aim.kind === deviceStop) return party.device === aim.target
  if (isOfConnection(aim.kind)) return own?.(aim) ?? isMeant(party.connection)
  if (isOfSave(aim.kind)) {
    const part = party[saveStops[aim.kind]]
    return part !== null && (aim.target === null || isMeant(part))
  }
  return own?.(aim) ?? true
}

/** Whether a stop covers every operation, whosever it is. */
export const stopsEverybody = ({ kind }: Aim): boolean =>
  !['principal', 'root', 'task', deviceStop].includes(kind) && !isOfConnection(kind)
  && !isOfSave(kind)

/** What is told of a request that was stopped by a save. */
export const closedBySave = 'closed_by_save'

const refusals: Readonly<Record<string, { readonly code: string; readonly message: string }>> = {
  principal: { code: 'principal_disabled', message: 'The owner of this work is disabled.' },
  root: { code: 'session_ended', message: 'The session of this work has ended.' },
  task: { code: 'cancel_requested', message: 'This task was cancelled.' },
  connection: {
    code: 'consent_revoked', message: 'What may be written through this connection was taken back.',
  },
  [deviceStop]: {
    code: 'device_ended', message: 'The pairing of the device that captured this has ended.',
  },
  save: { code: closedBySave, message: 'A save closed what this request goes through.' },
}

/** Stops of one refusal. */
const groupOf = (kind: string): string => {
  if (isOfConnection(kind)) return 'connection'
  return isOfSave(kind) ? 'save' : kind
}

export const stoppedError = (aim: Aim): SallyportError => {
  const known = refusals[groupOf(aim.kind)]
  return fail.unauthorized(
    known?.code ?? 'policy_revoked', known?.message ?? 'The policy is revoked for every route.',
    { reason: known?.code ?? 'policy_revoked', next: 'See `sallyport policy show`.' },
  )
}
