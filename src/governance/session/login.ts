import { isoFromMs } from '../../base/clock.js'
import { fail, type SallyportError } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import type { Reached } from '../../state/holds/fence.js'
import type { FenceWatch } from '../../state/holds/holds.js'
import { lookUp } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import { nowIso, type Gov } from '../context.js'
import { verifyPassphrase, type Passphrase } from '../passphrase.js'
import { collections, rootsByOwner, type Principal, type Root } from '../rows.js'
import { reachStopped, requireAnswered } from '../stops/act.js'
import { noteRecorded } from '../stops/recent.js'
import { endRootsOf, pruneRoots } from './end.js'
import { dropLastUse, touchLastUse } from './last-use.js'
import { newToken, tokenDigest } from './token.js'

/** Shortest and longest idle time and life of a session, milliseconds. */
export const sessionLimits = {
  idleMsMin: 1_000,
  idleMsMax: 24 * 3_600_000,
  ttlMsMin: 1_000,
  ttlMsMax: 7 * 24 * 3_600_000,
} as const

/** How to log in. */
export interface LoginRequest {
  /** Name of the owner; may be left out where there is only one. */
  readonly owner?: string | undefined
  readonly passphrase?: Passphrase | undefined
  readonly idleMs: number
  readonly ttlMs: number
  /** Ends every other session of the same owner, and what is leaving of it. */
  readonly replace?: boolean | undefined
}

const requireLimits = ({ idleMs, ttlMs }: LoginRequest): void => {
  const within = (value: number, min: number, max: number): boolean =>
    Number.isSafeInteger(value) && value >= min && value <= max
  const { idleMsMin, idleMsMax, ttlMsMin, ttlMsMax } = sessionLimits
  if (!within(idleMs, idleMsMin, idleMsMax)) {
    throw fail.rejected('session_idle_out_of_range', 'The idle time is 1 second to 24 hours.', {
      details: { idle_ms_min: idleMsMin, idle_ms_max: idleMsMax },
    })
  }
  if (!within(ttlMs, ttlMsMin, ttlMsMax)) {
    throw fail.rejected('session_ttl_out_of_range', 'A session lives 1 second to 7 days.', {
      details: { ttl_ms_min: ttlMsMin, ttl_ms_max: ttlMsMax },
    })
  }
}

/** One error for every refusal, so that it does not tell which owners exist. */
const refused = (): SallyportError =>
  fail.unauthorized('login_refused', 'The owner or the passphrase is not right.', {
    next: 'Check --owner and --passphrase-file (none for an owner without a passphrase).',
  })

const candidate = (view: View, name: string | undefined): Principal | undefined => {
  const enabled = view
    .all(collections.principals)
    .map(({ doc }) => doc)
    .filter((principal) => principal.disabled_at === null)
  if (name !== undefined) return enabled.find((principal) => principal.name === name)
  if (enabled.length === 1) return enabled[0]
  throw fail.usage('owner_required', 'There are several owners, so one must be named.', {
    next: 'Run it again with --owner NAME.',
  })
}

/**
 * Whether a login of this owner takes a passphrase, so that a face knows when to ask for one. True
 * for an unknown owner, too. Throws `usage`/`owner_required`.
 */
export const takesPassphrase = (view: View, owner: string | undefined): boolean =>
  candidate(view, owner)?.passphrase !== null

const makeRoot = (gov: Gov, request: LoginRequest, principal: Principal, token: string): Root => {
  const issuedMs = gov.clock.wallMs()
  return {
    root_id: newId('root'),
    principal_id: principal.principal_id,
    token_digest: tokenDigest(gov.store, token),
    issued_at: isoFromMs(issuedMs),
    idle_ms: request.idleMs,
    expires_at: isoFromMs(issuedMs + request.ttlMs),
    ended: null,
    named: false,
  }
}

/** Records that somebody was not let in. */
export const noteRefusal = (gov: Gov, subject: string | null): Promise<void> =>
  gov.store.transact('login', (tx) => {
    const face = gov.face
    const entry = { what: 'session.login_refused', principal: null, root: null, subject }
    appendAudit(tx, nowIso(gov), { ...entry, facts: { face } })
  })

/**
 * The owner, by what a login takes; checked outside the lock. A refusal is recorded by `note`, with
 * the id of the owner or null of an unknown one. Throws `unauthorized`/`login_refused`, the same
 * for a wrong passphrase, an unknown and a disabled owner; `usage`/`owner_required`.
 */
export const proveOwner = async (
  gov: Gov, { owner, passphrase }: Pick<LoginRequest, 'owner' | 'passphrase'>, note = noteRefusal,
): Promise<Principal> => {
  const known = candidate(gov.store.read(), owner)
  if (await verifyPassphrase(known, passphrase) && known !== undefined) return known
  await note(gov, known?.principal_id ?? null)
  throw refused()
}

/** Writes the session; with `replace` it ends the others of its owner in the same record. */
const writeRoot = (gov: Gov, root: Root, replace: boolean) =>
  gov.store.transact('login', (tx) => {
    const row = tx.get(collections.principals, root.principal_id)
    // The owner may have been disabled while the passphrase was being checked.
    if (row === undefined || row.disabled_at !== null) throw refused()
    const now = root.issued_at
    const by = { principal: row.principal_id, root: root.root_id }
    const replaced = replace ? endRootsOf(tx, now, row.principal_id, 'replaced', by) : []
    // No stop lies while this is written: the record alone tells what is leaving that they ended.
    // Of sessions that were over already nothing leaves, and there may be more than are kept.
    for (const target of replaced) {
      const isOver = (tx.get(collections.roots, target)?.expires_at ?? now) <= now
      if (!isOver) noteRecorded(tx, { kind: 'root', target })
    }
    const pruned = pruneRoots(tx, now)
    tx.put(collections.roots, root.root_id, root)
    const facts = { face: gov.face, expires_at: root.expires_at, replaced: replaced.length }
    appendAudit(tx, now, { what: 'session.login', ...by, subject: root.root_id, facts })
    return { replaced, pruned }
  })

/**
 * What was leaving of sessions that are ended now, and who does not answer of any earlier one: a
 * process that was silent when its session ended may be so still.
 */
const reachReplaced = async (
  { store }: Gov, root: Root, replaced: readonly string[], watched: FenceWatch,
): Promise<Reached> => {
  const lookup = { under: [root.principal_id] }
  const earlier = lookUp(store.read(), collections.roots, rootsByOwner, lookup)
    .filter(({ id }) => id !== root.root_id).map(({ id }) => ({ kind: 'root', target: id }))
  const reached = await reachStopped(earlier, watched)
  const isOfThese = (id: string | null | undefined): boolean =>
    id === undefined || (id !== null && replaced.includes(id))
  return { ...reached, sent: reached.sent.filter((one) => isOfThese(one.root)) }
}

/**
 * Opens a session. An owner without a passphrase logs in by possession of the store. The passphrase
 * is checked outside the lock; the row is then written in its own transaction with its audit row.
 * `keep` is given its token. A second login ends no session unless `replace`: then nothing more
 * leaves of what rests on the others, and `sent` names what had. Throws
 * `unauthorized`/`login_refused`, the same for a wrong passphrase, an unknown and a disabled owner;
 * `usage`/`owner_required`; `rejected` for limits; with the session open what `requireAnswered`
 * does.
 */
export const login = async (
  gov: Gov, request: LoginRequest, keep: (token: string) => Promise<void> = async () => undefined,
): Promise<{
  readonly root: Root; readonly token: string; readonly sent: Reached['sent']
}> => {
  requireLimits(request)
  const { replace = false } = request
  const known = await proveOwner(gov, request)
  const token = newToken()
  const root = makeRoot(gov, request, known, token)
  const open = async (): Promise<readonly string[]> => {
    const { replaced, pruned } = await writeRoot(gov, root, replace)
    for (const id of [...replaced, ...pruned]) dropLastUse(gov.store.dir, id)
    touchLastUse(gov.store.dir, root.root_id, gov.clock.wallMs())
    await keep(token)
    return replaced
  }
  if (!replace) {
    await open()
    return { root, token, sent: [] }
  }
  const watched = gov.store.holds.watch()
  try {
    const reached = await reachReplaced(gov, root, await open(), watched)
    requireAnswered(reached, null)
    return { root, token, sent: reached.sent }
  } finally {
    watched.close()
  }
}
