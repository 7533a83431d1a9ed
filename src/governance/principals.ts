/** Owners. Every owner may add and disable owners; there is no rank among them. */
import { fail } from '../base/errors.js'
import { newId } from '../base/ids.js'
import type { Tx, View } from '../state/types.js'
import { appendAudit } from './audit.js'
import { putDefaultGoal } from './goals.js'
import { nowIso, type Gov, type Problem, type Session } from './context.js'
import { hashPassphrase, type Passphrase } from './passphrase.js'
import { collections, type Goal, type Principal } from './rows.js'
import { endRootsOf } from './session/end.js'
import { requireRootRow } from './session/live.js'

export { verifyPassphrase } from './passphrase.js'

const nameForm = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/

/** Whether a person has disabled an owner: nothing enables it again. */
export const isDisabledForGood = (
  { disabled_at: at, disabled_by_restore: byRestore }: Principal,
): boolean => at !== null && byRestore !== true

/** The row of an owner that a person disables; one that a restore did keeps its time. */
export const disabledForGood = (
  { disabled_by_restore: _, ...row }: Principal, at: string,
): Principal => ({ ...row, disabled_at: row.disabled_at ?? at })

/** What the world sees of an owner: nothing of the passphrase but that there is one. */
export const principalFacts = (principal: Principal) => ({
  id: principal.principal_id,
  name: principal.name,
  has_passphrase: principal.passphrase !== null,
  created_at: principal.created_at,
  disabled_at: principal.disabled_at,
  disabled_for_good: isDisabledForGood(principal),
})

/** Throws `rejected`/`principal_name` unless a name has the form of one. */
export const requirePrincipalName = (name: string): void => {
  if (nameForm.test(name)) return
  const text = 'A name has 1 to 64 of A-Z a-z 0-9 . _ @ - and begins with a letter or digit.'
  throw fail.rejected('principal_name', text)
}

/**
 * Writes a principal, of a name that has the form of one, and its default goal; names are unique
 * whatever their letter case.
 */
export const putPrincipal = (
  tx: Tx,
  now: string,
  name: string,
  passphrase: Principal['passphrase'],
): { readonly principal: Principal; readonly goal: Goal } => {
  const lower = name.toLowerCase()
  if (tx.all(collections.principals).some(({ doc }) => doc.name.toLowerCase() === lower)) {
    throw fail.conflict('principal_exists', 'There is an owner of this name already.', {
      next: 'Run `sallyport principal list`.',
    })
  }
  const principal: Principal = {
    principal_id: newId('prn'), name, passphrase, created_at: now, disabled_at: null,
  }
  tx.put(collections.principals, principal.principal_id, principal)
  return { principal, goal: putDefaultGoal(tx, now, principal.principal_id) }
}

/** Adds an owner with a default goal. Throws `rejected`, `conflict`/`principal_exists`. */
export const addPrincipal = async (
  gov: Gov,
  session: Session,
  request: { readonly name: string; readonly passphrase?: Passphrase | undefined },
): Promise<{ readonly principal: Principal; readonly goal: Goal }> => {
  requirePrincipalName(request.name)
  const { passphrase } = request
  const hash = passphrase === undefined ? null : await hashPassphrase(passphrase)
  return gov.store.transact('principal add', (tx) => {
    const now = nowIso(gov)
    requireRootRow(tx, now, session.root.root_id)
    const made = putPrincipal(tx, now, request.name, hash)
    appendAudit(tx, now, {
      what: 'principal.added',
      principal: session.principal.principal_id,
      root: session.root.root_id,
      subject: made.principal.principal_id,
      facts: { name: request.name, has_passphrase: hash !== null },
    })
    return made
  })
}

/** Id of the one document of the collection `defaults`. */
const defaultsId = 'the'

/** Writes down that an owner is the default principal: `init` does, of the owner that it made. */
export const putDefaultPrincipal = (tx: Tx, principal: Principal): void =>
  tx.put(collections.defaults, defaultsId, { principal_id: principal.principal_id })

/** Id of the owner whom `init` made, as it was written down: damage may have taken the row. */
export const defaultPrincipalId = (view: View): string | undefined =>
  view.get(collections.defaults, defaultsId)?.principal_id

/**
 * The default principal: the owner whom `init` made, disabled or not. A store of a program that did
 * not write it down has its oldest owner for it. Throws `damaged`/`default_principal_missing`.
 */
export const defaultPrincipal = (view: View): Principal => {
  const named = defaultPrincipalId(view)
  const found = named === undefined
    ? listPrincipals(view)[0] : view.get(collections.principals, named)
  if (found !== undefined) return found
  throw fail.damaged('default_principal_missing', 'The owner whom init made has no row.', {
    next: 'Run `sallyport state check`.',
  })
}

/**
 * Throws `unauthorized`/`not_default_principal` for anybody but the owner whom `init` made; `what`
 * ends the sentence "Only the default owner of this state ..."; left out: consents to a code host.
 */
export const requireDefaultPrincipal = (
  view: View, { principal }: Session, what = 'consents to writes elsewhere',
): void => {
  if (defaultPrincipal(view).principal_id === principal.principal_id) return
  throw fail.unauthorized(
    'not_default_principal', `Only the default owner of this state ${what}.`,
    { next: 'Log in as the owner whom `sallyport init` made.' },
  )
}

/** Checks of the owners, for `state check`. */
export const verifyPrincipals = (view: View): Problem[] =>
  view.all(collections.defaults)
    .filter(({ id, doc }) =>
      id !== defaultsId || view.get(collections.principals, doc.principal_id) === undefined)
    .map(({ doc }) => ({
      code: 'default_principal_missing', subject: doc.principal_id,
      text: 'The default owner has no row.',
    }))

/** Every owner, oldest first. */
export const listPrincipals = (view: View): readonly Principal[] =>
  view.all(collections.principals).map(({ doc }) => doc)

/** The owner of a name or an id. Throws `not_found`/`principal_not_found`. */
export const findByNameOrId = (view: View, nameOrId: string): Principal => {
  const found = listPrincipals(view).find(
    (principal) => principal.name === nameOrId || principal.principal_id === nameOrId,
  )
  if (found !== undefined) return found
  throw fail.notFound('principal_not_found', 'There is no owner of this name.', {
    next: 'Run `sallyport principal list`.',
  })
}

/** The owner who may be disabled. Throws `not_found`, or `conflict`/`last_principal`. */
export const requireDisablable = (view: View, nameOrId: string): Principal => {
  const found = findByNameOrId(view, nameOrId)
  const isOther = (row: Principal): boolean =>
    row.principal_id !== found.principal_id && row.disabled_at === null
  if (found.disabled_at !== null || listPrincipals(view).some(isOther)) return found
  throw fail.conflict('last_principal', 'The last owner cannot be disabled.', {
    next: 'Add another owner first: `sallyport principal add NAME --passphrase-file F`.',
  })
}

/** Disables an owner and ends its sessions, in the caller's record; answers which ended. */
export const disableRow = (
  tx: Tx, now: string, session: Session, nameOrId: string,
): readonly string[] => {
  const found = requireDisablable(tx, nameOrId)
  if (isDisabledForGood(found)) return []
  tx.put(collections.principals, found.principal_id, disabledForGood(found, now))
  const by = { principal: session.principal.principal_id, root: session.root.root_id }
  const ended = endRootsOf(tx, now, found.principal_id, 'principal_disabled', by)
  const facts = { sessions_ended: ended.length }
  appendAudit(tx, now, { what: 'principal.disabled', ...by, subject: found.principal_id, facts })
  return ended
}
