/** Ids that were typed in short: made whole before the verb runs, so that it knows no others. */
import { tailOf } from '../base/ids.js'
import type { IdKind } from '../governance/short-ids.js'
import type { VerbMeta, IdName, VerbDeps } from './verb.js'

const governance = () => import('../governance/own-ids.js')
const shots = () => import('../shots/own-ids.js')
const edge = () => import('../edge/own-ids.js')
const codehost = () => import('../codehost/own-ids.js')

/** Loaded where an id is not whole. */
const kinds: Readonly<Record<IdName, () => Promise<IdKind>>> = {
  task: async () => (await governance()).taskIds,
  operation: async () => (await governance()).operationIds,
  goal: async () => (await governance()).goalIds,
  session: async () => (await governance()).sessionIds,
  connection: async () => (await governance()).connectionIds,
  audit: async () => (await governance()).auditIds,
  observation: async () => (await shots()).observationIds,
  'observation or path': async () => (await shots()).namedObservationIds,
  digest: async () => (await shots()).digestIds,
  device: async () => (await edge()).deviceIds,
  capture: async () => (await edge()).captureIds,
  job: async () => (await codehost()).jobIds,
  'job or folder': async () => (await codehost()).namedJobIds,
  closure: async () => (await codehost()).closureIds,
}

/** The kind of what was typed; undefined where it begins with the type of none. */
const kindOf = async (
  name: IdName | readonly IdName[], given: string,
): Promise<IdKind | undefined> => {
  if (typeof name === 'string') return kinds[name]()
  const all = await Promise.all(name.map((one) => kinds[one]()))
  return all.find(({ prefix }) => given.startsWith(`${prefix}_`))
}

/** Whether scripts must name whole ids: a short one may mean another row tomorrow. */
export const needsWholeIds = ({ contacts, decides }: VerbMeta): boolean =>
  contacts === true || decides === true

/**
 * The options of a line with whole ids in place of short ones. What no row of the operator's fits
 * stays as it is. Throws `rejected` `id_ambiguous` and `whole_id_needed`, and what a login throws.
 */
export const withWholeIds = async <O extends object>(
  options: O, meta: VerbMeta, deps: VerbDeps,
): Promise<O> => {
  const found: Record<string, string> = {}
  for (const [field, name] of Object.entries(meta.ids ?? {})) {
    const given = (options as Record<string, unknown>)[field]
    if (typeof given !== 'string' || tailOf(given) !== null) continue
    const [kind, { mayBeShort, requireWholeId, wholeId }] = await Promise.all([
      kindOf(name, given), import('../governance/short-ids.js'),
    ])
    if (kind === undefined || !mayBeShort(kind, given)) continue
    if (deps.globals.noInput && needsWholeIds(meta)) requireWholeId(kind, given, field)
    const { gov, session } = meta.session === 'required'
      ? await deps.login('read', { touch: false })
      : { gov: await deps.gov('read'), session: null }
    found[field] = wholeId(gov.store.read(), session, kind, given, field)
  }
  return { ...options, ...found }
}
