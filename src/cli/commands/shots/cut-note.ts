import type { Page } from '../../../shots/observations/page.js'
import type { VerbDeps } from '../../bound.js'

/** Says on stderr when a list was cut; `others` names flags that reach the rest. */
export const noteCut = (deps: VerbDeps, page: Page<unknown>, others = ''): void => {
  const { rows, total, counted } = page
  if (counted && rows.length === total) return
  deps.cut = { more: true, next_page: null }
  deps.note(`${rows.length} shown of ${counted ? total : `more than ${total}`}, the newest; `
    + `more with --limit N${others}`)
}
