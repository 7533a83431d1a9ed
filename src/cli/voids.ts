/** Saving a set-up: what it would put out of reach is listed first, and a person is asked. */
import { countText } from '../base/counted.js'
import {
  configurationVoids, saveConfiguration, type Configuration, type ConfigurationSave,
} from '../fabric/configuration.js'
import type { Gov, Session } from '../governance/context.js'
import { lostBy, namesOf, type AcceptedVoids, type SaveVoids } from '../governance/policy/voids.js'
import type { VerbDeps } from './verb.js'
import { sentBeforeLines } from './sent-before.js'

/** The flag of the saving verbs and its help. */
export const voidAnswersFlag = [
  '--void-answers', 'save even if waiting paid results can then never be used',
] as const

const tell = (deps: VerbDeps, { purposes, tasks, operations }: SaveVoids): void => {
  if (purposes.length > 0) deps.note(`Consents that this save ends: ${purposes.join(', ')}.`)
  for (const id of tasks) {
    deps.note(`Task ${id}: its paid answer could never be released any more.`)
  }
  for (const id of operations) {
    deps.note(`Operation ${id}: its result, which is under way, would be dropped.`)
  }
}

/** Asks where something would be lost and somebody is there; answers what may be. */
const accepted = async (
  deps: VerbDeps, voids: SaveVoids, voidAnswers: boolean,
): Promise<AcceptedVoids> => {
  const lost = lostBy(voids)
  if (voidAnswers) return 'all'
  if (lost.length === 0 || !deps.interactive) return []
  const what = `${countText(lost.length, 'paid result')}, ${namesOf(lost)}`
  await deps.confirm(`Give up ${what}?`, '--void-answers')
  return lost
}

/** What a line or a form says about saving. */
interface Listing {
  readonly voidAnswers?: boolean
  /** Asks whoever filled in a form, once it is told what the save would void. */
  readonly agree?: () => Promise<void>
}

/**
 * Saves the configuration. Lists on stderr what the save would void, and what had left before; paid
 * results are given up only by `--void-answers` or at an unchecked prompt, to exactly those that
 * were listed. Throws `cancelled`, and as the save does.
 */
export const saveListing = async (
  deps: VerbDeps, { gov, session }: { readonly gov: Gov; readonly session: Session },
  save: ConfigurationSave, { voidAnswers = false, agree }: Listing,
): Promise<Configuration> => {
  const voids = await configurationVoids(gov, save)
  tell(deps, voids)
  await agree?.()
  const accepts = await accepted(deps, voids, voidAnswers)
  const saved = await saveConfiguration(gov, session, { ...save, accepts })
  for (const line of sentBeforeLines(saved.requests ?? [])) deps.note(line)
  return saved
}
