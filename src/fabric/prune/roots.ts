/** The sessions of a prune: those that are over and that no remaining row names. */
import { isoFromMs, msFromIso } from '../../base/clock.js'
import type { CapabilityRows } from '../../governance/capability.js'
import { connectionCollection } from '../../governance/connections/connection-rows.js'
import type { Gov } from '../../governance/context.js'
import { rootsOfTask } from '../../governance/retention/tasks.js'
import { collections, rootOverMs, rootsByEnd, type Root, type Task } from '../../governance/rows.js'
import { dropLastUse } from '../../governance/session/last-use.js'
import { walkIndex } from '../../state/indexes.js'
import type { CollectionSpec, View } from '../../state/types.js'
import { pageMax, pagesOf } from './pages.js'

/** Every session that a row names; `leaves`, asked once a task, says which no longer count. */
export const namedRoots = (
  gov: Gov, rows: readonly CapabilityRows[], leaves: (view: View, task: Task) => boolean,
): ReadonlySet<string> => {
  const named = new Set<string>()
  const add = (roots: Iterable<string | null>): void => {
    for (const root of roots) if (root !== null) named.add(root)
  }
  for (const spec of [collections.openTasks, collections.closedTasks]) {
    for (const page of pagesOf(gov.store, spec)) {
      for (const { doc } of page.rows) if (!leaves(page.view, doc)) add(rootsOfTask(doc))
    }
  }
  const view = gov.store.read()
  add(view.all(collections.consents).map(({ doc }) => doc.root))
  add(view.all(collections.saveIntents).map(({ doc }) => doc.root))
  add(view.all(connectionCollection).map(({ doc }) => doc.consent?.root ?? null))
  for (const one of rows) add(one.rootsNamed?.(view) ?? [])
  return named
}

/** Whether a session was over before a moment (ISO). Pure. */
const wasOver = (root: Root, before: string): boolean => rootOverMs(root) < msFromIso(before)

/** Sessions that were over before a moment and that nothing names, by where they lie. */
const rootsToGo = (
  view: View, before: string, named: ReadonlySet<string>,
): readonly { readonly spec: CollectionSpec<Root>, readonly id: string }[] => {
  const { roots, pastRoots } = collections
  const listed = [...walkIndex(view, roots, rootsByEnd, {
    from: isoFromMs(msFromIso(before)), reverse: true,
  })].map(({ id }) => ({ spec: roots, id }))
  const past = view.all(pastRoots).filter(({ doc }) => wasOver(doc, before))
    .map(({ id }) => ({ spec: pastRoots, id }))
  return [...listed, ...past].filter(({ id }) => !named.has(id))
}

/** How many sessions would go. */
export const countRoots = (
  gov: Gov, before: string, named: ReadonlySet<string>,
): number => rootsToGo(gov.store.read(), before, named).length

/** Removes them, slice by slice; answers how many went. */
export const pruneRootRows = async (
  gov: Gov, before: string, named: ReadonlySet<string>,
): Promise<number> => {
  const found = rootsToGo(gov.store.read(), before, named)
  let gone = 0
  for (let from = 0; from < found.length; from += pageMax) {
    const slice = found.slice(from, from + pageMax)
    const ids = await gov.store.transact('state prune', (tx) => slice.flatMap(({ spec, id }) => {
      // One that is over names nothing new, and nothing new names it.
      const root = tx.get(spec, id)
      if (root === undefined || !wasOver(root, before)) return []
      tx.remove(spec, id)
      return [id]
    }))
    for (const id of ids) dropLastUse(gov.store.dir, id)
    gone += ids.length
  }
  return gone
}
