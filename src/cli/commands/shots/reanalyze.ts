import { resolve } from 'node:path'
import { countText } from '../../../base/counted.js'
import { moneyText } from '../../../base/money.js'
import { fail } from '../../../base/errors.js'
import {
  reanalyzeGroups, reanalyzeReasons, shotLimits, type ReanalyzeGroup, type ReanalyzeReason,
} from '../../../shots/constants.js'
import {
  shotsReanalyze, type ReanalysisDocument,
} from '../../../shots/analysis/analysis-contract.js'
import type { ReanalyzePlan } from '../../../shots/analysis/reanalyze.js'
import { choiceFlag, integerFlag } from '../../flags.js'
import type { LineOf, VerbRecord } from '../../verb.js'
import { workFor } from '../../work.js'
import { analysisReceiptText } from './analyze.js'
import { shotsContext } from '../../../fabric/contexts/shots.js'

interface ReanalyzeOptions extends Omit<LineOf<typeof shotsReanalyze>, 'group' | 'reason'> {
  readonly reason?: ReanalyzeReason
  readonly blocked?: boolean
  readonly failed?: boolean
  readonly needs?: boolean
  readonly yes?: boolean
}

/** The last of several would win otherwise; there is exactly one (S-179). */
const reasonFlag = () => {
  const flag = choiceFlag('--reason <reason>', 'why, exactly one', reanalyzeReasons)
  const read = flag.parseArg
  return flag.argParser((value, before) => {
    if (before !== undefined) throw fail.usage('reason_repeated', 'Give exactly one --reason.')
    return read?.(value, undefined)
  })
}

const groupOf = (options: ReanalyzeOptions): ReanalyzeGroup | null => {
  const groups = reanalyzeGroups.filter((one) => options[one] === true)
  const ways = groups.length + (options.target === undefined ? 0 : 1)
  if (ways === 1) return groups[0] ?? null
  throw fail.usage('one_target', 'Give one id or path, or one of --blocked, --failed, --needs.')
}

const planLines = (plan: ReanalyzePlan): string[] => [
  `${plan.found} found, ${plan.rows.length} would be sent`,
  ...(plan.needRetryReason === 0 ? [] : [
    `${plan.needRetryReason} left out: failed or uncertain, for provider_failure_retry alone`,
  ]),
  ...(plan.sourceGone === 0 ? [] : [
    `${plan.sourceGone} left out: their files are gone; what was analysed stays`,
  ]),
  ...(plan.notWhole === 0 ? [] : [
    `${plan.notWhole} left out: no whole images; a person releases one by name`,
  ]),
  ...(plan.notSelected === 0 ? [] : [
    `${plan.notSelected} left out: they lie in subfolders, and recursive is off`,
  ]),
  `each holds ${moneyText(plan.boundMicrousd)}, all together at `
    + `most ${moneyText(plan.atMostMicrousd)}`,
  ...(plan.earlierMicrousd === null
    ? [] : [`their analyses cost ${moneyText(plan.earlierMicrousd)} on average before`]),
  `the budget of the day leaves room for ${plan.callsLeft} requests`,
]

export const reanalyze: VerbRecord<ReanalyzeOptions, ReanalysisDocument> = {
  summary: 'analyse images again, for one reason',
  description:
    'Analyses one image again, by the id of its observation or the path of a file; a suppressed '
    + 'file is answered with its representative. With --blocked, --failed or --needs it takes '
    + 'many, oldest first, and shows count and price before it asks. Every gate of a first '
    + 'analysis holds. What failed or is uncertain is sent again only for '
    + 'provider_failure_retry; a bulk of such images alone is refused otherwise. '
    + 'An image that is damaged or cut stays here until --release names it. '
    + 'A failed reanalysis keeps the earlier analysis, marked as such.',
  examples: [
    '$ sallyport shots reanalyze obs_01890000-0000-7000-8000-000000000000 '
      + '--reason manual_operator_request',
    '$ sallyport shots reanalyze --needs --reason model_version_changed --limit 100',
  ],
  ids: { target: 'observation or path' },
  contacts: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'budget', 'remote', 'locked', 'partial'],
  json: shotsReanalyze,
  flags: (command) => command
    .argument('[target]', 'id of an observation, or the path of a file')
    .addOption(reasonFlag())
    .option('--blocked', 'every blocked image, those from before the consent too')
    .option('--failed', 'every failed image')
    .option('--needs', 'every image whose model, prompt or schema changed')
    .addOption(integerFlag('--limit <n>', 'in bulk: at most so many', {
      min: 1, max: shotLimits.analysisItemsMax,
    }))
    .option('--release', 'of one image: send it although it is damaged or cut')
    .option('--yes', 'in bulk: do not ask'),
  text: analysisReceiptText,
  run: async (options, deps) => {
    const { target, reason, limit, yes } = options
    const group = groupOf(options)
    if (reason === undefined) {
      throw fail.usage('reason_needed', `Give --reason: ${reanalyzeReasons.join(', ')}.`)
    }
    if (group === null && limit !== undefined) {
      throw fail.usage('limit_in_bulk', 'Give --limit with --blocked, --failed or --needs.')
    }
    if (group !== null && options.release === true) {
      throw fail.usage('release_by_name', 'Only one image, by its id or path, can be released.')
    }
    const given = target === undefined || target.startsWith('obs_')
      ? target : resolve(deps.cwd, target)
    const request = shotsReanalyze.request({
      reason,
      ...(given === undefined ? {} : { target: given }),
      ...(group === null ? {} : { group }),
      ...(limit === undefined ? {} : { limit }),
      ...(options.release === true ? { release: true } : {}),
    })
    const { gov, session } = await workFor(deps, 'mutate')
    const ctx = shotsContext(deps, gov)
    const shots = await import('../../../shots/analysis/reanalyze.js')
    if (group === null) {
      const named = request.target ?? ''
      // On a terminal it may be said at a prompt, which starts unchecked; elsewhere by the flag.
      const asks = request.release !== true && deps.interactive && shots.waitsForRelease(ctx, named)
      if (asks) await deps.confirm('This file is no whole image. Send it all the same', '--release')
      return shotsReanalyze.answer(await shots.reanalyzeOne(ctx, session, {
        target: named, reason, release: request.release === true || asks,
      }))
    }
    const plan = shots.planReanalysis(ctx, group, reason, request.limit)
    for (const line of planLines(plan)) deps.note(line)
    if (plan.rows.length > 0 && yes !== true) {
      await deps.confirm(`Send ${countText(plan.rows.length, 'image')}?`, '--yes')
    }
    const receipt = await shots.reanalyzePlanned(ctx, plan, reason)
    return shotsReanalyze.answer({ observationId: null, receipt })
  },
}
