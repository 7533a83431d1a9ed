import { fail } from '../../../base/errors.js'
import { egressText, renewText } from '../../../shots/source/config.js'
import { type SavedShotSettings } from '../../../shots/source/settings.js'
import type { VerbDeps } from '../../bound.js'
import { requireYes } from '../../ask-verdict.js'
import { differenceOf } from '../../difference.js'
import type { Prompter } from '../../prompt.js'

const integerOf = (text: string, field: string): number => {
  if (/^[1-9][0-9]{0,9}$/.test(text)) return Number(text)
  throw fail.rejected('form_number', `${field} must be a plain positive integer.`, {
    details: { field },
  })
}

const moneyFields = [
  ['budget_microusd', 'Budget of a rolling day, micro-USD:'],
  ['budget_requests', 'Requests of a rolling day:'],
  ['request_cost_bound_microusd', 'Hold for one image, micro-USD:'],
] as const

/** What is asked to be switched on, where it is not: an answer of no leaves it as it is. */
const asksFor = {
  analysis: ['on', 'Have images analysed by the configured model'],
  cloud_upload: ['on', 'Let whole images leave this machine for it'],
} as const

const strictWords = { fallbacks: 'deny', data_collection: 'deny', zdr: 'on' } as const

const isStrict = (saved: SavedShotSettings): boolean =>
  Object.entries(strictWords).every(([name, word]) =>
    saved[name as keyof typeof strictWords] === word)

type Change = Record<string, unknown>

/** What leaves the machine and under which controls; false where a person left it at that. */
const askEgress = async (
  prompter: Prompter, saved: SavedShotSettings, change: Change,
): Promise<boolean> => {
  for (const [name, [word, question]] of Object.entries(asksFor)) {
    if (saved[name as keyof typeof asksFor] === word) continue
    if (!(await prompter.confirm(question))) return false
    change[name] = word
  }
  if (!isStrict(saved) && await prompter.confirm(
    'Refuse fallbacks and data collection and demand zero data retention (analysis needs it)',
  )) Object.assign(change, strictWords)
  return true
}

const askMoney = async (
  prompter: Prompter, saved: SavedShotSettings, change: Change,
): Promise<void> => {
  for (const [field, question] of moneyFields) {
    const now = saved[field]
    const text = await prompter.text(question, now === null ? '' : String(now))
    if (text !== '' && text !== String(now)) change[field] = integerOf(text, field)
  }
}

/**
 * The settings as a form. It asks only for what it would add: nothing that is on is switched off
 * by it, and Enter alone keeps what is saved. What leaves the machine is said before it is asked,
 * and the change is shown before it is saved; an empty one is given where nothing changes.
 */
export const fillConfigForm = async (
  deps: VerbDeps, saved: SavedShotSettings, folder: string | null,
): Promise<object> => {
  const prompter = await deps.ask('Give the flags, see `sallyport shots config --help`.')
  const named = await prompter.text('Screenshot folder (absolute path):', folder ?? '')
  const change: Change = {}
  if (named !== '' && named !== folder) change['screenshot_folder'] = named
  deps.note(`\n${egressText}\n`)
  if (await askEgress(prompter, saved, change)) {
    await askMoney(prompter, saved, change)
    if (saved.renew_proof !== 'on') {
      deps.note(`\n${renewText}\n`)
      if (await prompter.confirm('Let jobs renew a proof by themselves')) {
        change['renew_proof'] = 'on'
      }
    }
  }
  const changes = differenceOf(saved, change)
  if (changes.length === 0) {
    deps.note('Nothing changes; nothing is saved.')
    return {}
  }
  deps.note(['This would change:', ...changes].join('\n'))
  await requireYes(prompter, 'Save this change')
  return change
}
