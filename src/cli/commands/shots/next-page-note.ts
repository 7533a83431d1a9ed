import type { Page } from '../../../shots/observations/page.js'
import type { VerbDeps } from '../../verb.js'

/** Says on stderr when a list was cut; `others` names flags that reach the rest. */
export const noteNextPage = <T>(
  deps: VerbDeps, page: Page<T>, afterOf: (row: T) => string, others = '',
): void => {
  const { rows, total, counted } = page
  const last = rows.at(-1)
  if (last === undefined || (counted && rows.length === total)) return
  const value = afterOf(last)
  deps.cut = { flag: '--after', value }
  deps.note(`${rows.length} shown of ${counted ? total : `more than ${total}`}, the newest; `
    + `more with --after ${value}${others}`)
}
