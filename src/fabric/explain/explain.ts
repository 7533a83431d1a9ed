/**
 * What an id names, whatever collection has it: each capability explains its own, and what all of
 * them share is explained here. Reads rows alone, a bounded number of them; what belongs to another
 * owner is as absent as what never was.
 */
import { fail } from '../../base/errors.js'
import { shortForm, tailDigits, tailOf, type IdPrefix } from '../../base/ids.js'
import type { Registry } from '../../governance/capability.js'
import type {
  Explained, ExplainedKind, ExplainedKinds, ExplainSite,
} from '../../governance/explained.js'
import { collections } from '../../governance/rows.js'
import type { View } from '../../state/types.js'
import { capabilities } from '../capabilities.js'
import { auditedOf } from './audited.js'
import { boardKinds } from './board.js'
import type { ExplainedId, ExplainedRow, HistoryEvent } from './explain-contract.js'
import { moneyKinds } from './money.js'
import { peopleKinds } from './people.js'

/** A type of ids with one of those that explain it. */
interface Named extends ExplainedKind { readonly prefix: string }

/** Whether a text may be an id of this type, by how it begins. */
const mayBe = (prefix: string, given: string): boolean =>
  !given.includes('_') || given.startsWith(`${prefix}_`)

/**
 * The kinds that an id may be of: those of capabilities come before what they share. No capability
 * is loaded that explains none of them.
 */
const kindsOf = async (registry: Registry, given: string): Promise<readonly Named[]> => {
  const own: ExplainedKinds[] = []
  for (const { explained } of registry) {
    const isMeant = explained?.prefixes.some((prefix) => mayBe(prefix, given)) ?? false
    if (isMeant && explained !== undefined) own.push(await explained.kinds())
  }
  const jobs = new Set(registry.filter(({ explained }) => explained?.prefixes.includes('job'))
    .map(({ name }) => name))
  return [...own, boardKinds(registry, jobs), moneyKinds, peopleKinds].flatMap((kinds) =>
    Object.entries(kinds).map(([prefix, kind]) => ({ ...kind, prefix })))
    .filter(({ prefix }) => mayBe(prefix, given))
}

/** Types of ids that can be explained. */
export const explainedPrefixes = async (
  registry: Registry = capabilities,
): Promise<ReadonlySet<string>> =>
  new Set((await kindsOf(registry, '')).map(({ prefix }) => prefix))

/** A whole id that was found, with what each of its collections says. */
interface Hit {
  readonly id: string
  readonly found: readonly { readonly kind: string; readonly told: Explained }[]
}

const hitOf = (site: ExplainSite, kinds: readonly Named[], id: string): Hit => {
  const prefix = id.slice(0, Math.max(0, id.lastIndexOf('_')))
  return {
    id,
    found: kinds.filter((one) => one.prefix === prefix).flatMap(({ kind, find }) => {
      const told = find(site, id)
      return told === undefined ? [] : [{ kind, told }]
    }),
  }
}

/** Of each place so many ids are taken that begin as was typed. */
const beginningsMax = 8

/** Whole ids that a short one may mean, of whatever type. */
const candidates = async (
  { view, session }: ExplainSite, kinds: readonly Named[], given: string,
): Promise<readonly string[]> => {
  const ids = new Set<string>()
  for (const { prefix, short } of kinds) {
    const form = short === undefined ? null : shortForm(prefix as IdPrefix, given)
    if (short === undefined || form === null) continue
    const { begins, ends } = form
    const kind = await short()
    const found = [
      ...(begins === null ? [] : kind.beginningWith(view, session, begins, beginningsMax)),
      ...(ends === null ? [] : kind.endingWith(view, session, ends.slice(-tailDigits))
        .filter((id) => id.endsWith(ends))),
    ]
    for (const id of found) ids.add(id)
  }
  return [...ids]
}

const toldMax = 8

const ambiguous = (hits: readonly Hit[]): Error => {
  const named = hits.slice(0, toldMax).map(({ id, found }) => `${found[0]?.kind ?? ''} ${id}`)
  const left = hits.length - named.length
  const more = left > 0 ? ` and ${left} more` : ''
  return fail.rejected('id_ambiguous', `Several rows of yours fit: ${named.join(', ')}${more}.`, {
    next: `Give one of them whole: \`sallyport explain ${hits[0]?.id ?? 'ID'}\`.`,
    details: { field: 'id', rule: 'unique', candidates: named.join(', ') },
  })
}

const notFound = (): Error =>
  fail.notFound('id_not_found', 'There is no such id here, or it is another owner’s.', {
    next: 'Lists show ids: `sallyport task list`, `sallyport shots list`, `sallyport audit list`.',
  })

/** Whether a text has the form of an id, whole or short; which rows there are is not asked. */
const hasForm = (kinds: readonly Named[], given: string): boolean => tailOf(given) !== null
  || kinds.some(({ prefix }) => shortForm(prefix as IdPrefix, given) !== null)

const noId = (): Error =>
  fail.notFound('id_not_found', 'This is not an id: one is like `task_1a2b3c4d`.', {
    next: 'Lists show ids: `sallyport task list`, `sallyport shots list`, `sallyport audit list`.',
  })

/** Told only where nothing else tells of that moment. */
const lastChanged = 'last changed'

const historyOf = (
  site: ExplainSite, id: string, { events }: Explained,
): Pick<ExplainedRow, 'history' | 'history_whole'> => {
  const { rows, isWhole } = auditedOf(site, id, events)
  const names = namesOf(site.view)
  const audited: readonly HistoryEvent[] = rows.map((row) => ({
    at: row.at, what: row.what, by: row.principal === null ? null : names(row.principal),
    audit: row.audit_id, facts: row.facts,
  }))
  const told = new Set(rows.filter(({ subject }) => subject === id).map(({ at }) => at))
  const isTold = ({ at, what }: Explained['events'][number]): boolean => told.has(at)
    || (what.startsWith(lastChanged) && events.some((one) => one.at === at && one.what !== what))
  const own = events.filter((event) => !isTold(event))
    .map((event): HistoryEvent => ({ ...event, by: null, audit: null, facts: {} }))
  const all = [...own, ...audited]
  return {
    history: all.map((one, n) => [one, n] as const)
      .sort(([a, m], [b, n]) => (a.at === b.at ? m - n : a.at < b.at ? -1 : 1))
      .map(([one]) => one),
    history_whole: isWhole,
  }
}

const namesOf = (view: View) => (principal: string): string =>
  view.get(collections.principals, principal)?.name ?? principal

const rowOf = (
  site: ExplainSite, id: string, { kind, told }: Hit['found'][number],
): ExplainedRow => ({
  kind, state: told.state, text: told.text, facts: { ...told.facts },
  related: told.related.filter((one) => one !== id), ...historyOf(site, id, told),
  next: [...told.next],
})

/** What no row has any more: a code that was used, say. The audit of whoever asks may name it. */
const auditedHit = (site: ExplainSite, id: string): Hit => {
  const own = tailOf(id) === null ? [] : auditedOf(site, id, []).rows
    .filter(({ principal }) => principal === site.session.principal.principal_id)
  const [first] = own
  return first === undefined ? { id, found: [] } : {
    id,
    found: [{
      kind: 'something that was',
      told: {
        state: 'gone', text: 'No row has it any more; the audit tells of something that you did.',
        facts: {}, related: [], events: [],
        next: own.map((row) => `sallyport audit show ${row.audit_id}`).slice(0, toldMax),
      },
    }],
  }
}

/** A whole id as it is; a short one as all that it may mean. */
const hitsOf = async (
  site: ExplainSite, kinds: readonly Named[], given: string,
): Promise<readonly Hit[]> => {
  const whole = hitOf(site, kinds, given)
  if (whole.found.length > 0) return [whole]
  const ids = await candidates(site, kinds, given)
  return [...ids.map((id) => hitOf(site, kinds, id)), auditedHit(site, given)]
    .filter(({ found }) => found.length > 0)
}

/**
 * Explains an id, whole or short. Throws `not_found` `id_not_found` for what is missing or another
 * owner's, and `rejected` `id_ambiguous` with what fits.
 */
export const explain = async (
  site: ExplainSite, given: string, registry: Registry = capabilities,
): Promise<ExplainedId> => {
  const kinds = await kindsOf(registry, given)
  const hits = await hitsOf(site, kinds, given)
  const [first, ...others] = hits
  if (first === undefined) throw hasForm(kinds, given) ? notFound() : noId()
  if (others.length > 0) throw ambiguous(hits)
  return { id: first.id, rows: first.found.map((one) => rowOf(site, first.id, one)) }
}
