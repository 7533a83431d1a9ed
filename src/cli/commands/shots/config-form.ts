import { fail } from '../../../base/errors.js'
import { egressText, renewText } from '../../../shots/source/config.js'
import { type SavedShotSettings } from '../../../shots/source/settings.js'
import type { VerbDeps } from '../../bound.js'

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

/**
 * The settings as a form. Enter alone keeps what is saved; each confirmation starts unchecked, and
 * what leaves the machine is said before it is asked.
 */
export const fillConfigForm = async (
  deps: VerbDeps, saved: SavedShotSettings, folder: string | null,
): Promise<object> => {
  const prompter = await deps.ask('Give the flags, see `sallyport shots config --help`.')
  const named = await prompter.text('Screenshot folder (absolute path):', folder ?? '')
  const change: Record<string, unknown> = {}
  if (named !== '' && named !== folder) change['screenshot_folder'] = named
  deps.note(`\n${egressText}\n`)
  const analysed = await prompter.confirm('Have images analysed by the configured model')
  change['analysis'] = analysed ? 'on' : 'off'
  if (!analysed) return change
  const upload = await prompter.confirm('Let whole images leave this machine for it')
  change['cloud_upload'] = upload ? 'on' : 'off'
  if (!upload) return change
  const strict = await prompter.confirm(
    'Refuse fallbacks and data collection and demand zero data retention (analysis needs it)',
  )
  if (strict) Object.assign(change, { fallbacks: 'deny', data_collection: 'deny', zdr: 'on' })
  for (const [field, question] of moneyFields) {
    const now = saved[field]
    const text = await prompter.text(question, now === null ? '' : String(now))
    if (text !== '') change[field] = integerOf(text, field)
  }
  deps.note(`\n${renewText}\n`)
  const renews = await prompter.confirm('Let jobs renew a proof by themselves')
  change['renew_proof'] = renews ? 'on' : 'off'
  return change
}
