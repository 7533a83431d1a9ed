/** What the forms that set a capability up share: how they open, and how they are saved. */
import type { Configuration } from '../fabric/configuration.js'
import type { Work } from '../fabric/operation.js'
import { untilAgreed } from './form-again.js'
import type { Prompter } from './prompt.js'
import { tellTyped } from './typed.js'
import type { VerbDeps } from './verb.js'
import { saveListing } from './voids.js'

/** What a form was filled in with, and the yes that it still needs. */
export interface FilledForm {
  /** A save as the configuration use case takes it; parsed strictly there. */
  readonly document: object
  /** The lines that say the same, without their consent. */
  readonly typed: readonly (readonly string[])[]
  /**
   * Whoever saves agrees once, unchecked: to the statements, where the save needs a consent
   * and else to the change that was shown. Throws `cancelled`.
   */
  agree(): Promise<void>
}

/** What is enabled may be blocked all the same: by a revoke, or after a restore. */
export const standingText = (
  what: string, { enabled, status, reason }: {
    readonly enabled: boolean
    readonly status: string
    readonly reason: string | null
  }, verb: string,
): string => {
  if (!enabled) return `${what} is disabled.`
  return status === 'blocked' ? `${what} sends nothing now. ${reason ?? ''}`
    : `${what} is enabled, and stays so; to end it: \`sallyport ${verb} --disable\``
}

/** Saves what is filled in, once it is agreed to; nothing where nothing changes (null). */
export const saveByForm = async (
  deps: VerbDeps, opened: Work, { only, verb, voidAnswers }: {
    readonly only: 'alpha_text' | 'gateway'
    readonly verb: string
    readonly voidAnswers: boolean | undefined
  }, fill: (prompter: Prompter) => Promise<FilledForm | null>,
): Promise<Pick<Configuration, 'requests'>> => {
  const asked = await deps.ask(`Give the flags, see \`sallyport ${verb} --help\`.`)
  return untilAgreed(asked, async (prompter) => {
    const filled = await fill(prompter)
    if (filled === null) return {}
    const saved = await saveListing(deps, opened, { value: filled.document, only }, {
      ...(voidAnswers === undefined ? {} : { voidAnswers }), agree: filled.agree,
    })
    tellTyped(deps, filled.typed)
    return saved
  })
}
