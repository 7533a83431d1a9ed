/** What happens at a step of what is run in this process. */
import type { CodehostContext } from '../../../src/codehost/context.js'

/** A context in which something happens once, at the first step of a name. */
export const atStep = (
  ctx: CodehostContext, wanted: string, act: () => unknown,
): CodehostContext => {
  let isOver = false
  const at = async (step: string): Promise<void> => {
    if (step !== wanted || isOver) return
    isOver = true
    await act()
  }
  return { ...ctx, gov: { ...ctx.gov, observer: { ...ctx.gov.observer, at } } }
}
