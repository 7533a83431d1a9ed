import { countText } from '../../../base/counted.js'
import { moneyText } from '../../../base/money.js'
import type { ShotsStatus } from '../../../shots/status/shape.js'
import type { View } from '../../output.js'
import { visibleLine } from '../../text.js'

type Folder = ShotsStatus['screenshot_folder']

const line = (name: string, value: string): string => `${name.padEnd(16)}${value}`
const money = (value: number | null): string => (value === null ? '?' : moneyText(value))

const known = (value: number | string | null): string => (value === null ? '?' : String(value))

const timeText = (view: View, at: string | null): string =>
  (at === null ? 'none' : view.time(at))

const unitOf = (seconds: number): number =>
  [86_400, 3_600, 60].find((unit) => seconds >= 2 * unit) ?? 1

const ageText = (view: View, seconds: number): string => {
  if (seconds < 0) return 'in the future'
  const unit = unitOf(seconds)
  return `${view.span(Math.floor(seconds / unit) * unit * 1000)} ago`
}

/** In a pipe its age and its time; a person is told the one in the words of all other times. */
const newestText = (view: View, seconds: number, at: string | null): string => {
  const told = at === null ? null : view.time(at)
  return told === null || told === at ? `${ageText(view, seconds)} (${at})` : told
}

const partial = (view: View, status: string, failure: string | null): string =>
  status === 'ok' ? '' : `  ${view.paint('yellow', `partial: ${failure ?? 'unknown'}`)}`

const ignoringLines = ({ ignored, small_changes: small }: Folder): string[] => [
  ...((ignored ?? []).length === 0 ? [] : [
    line('ignored areas', `${(ignored ?? []).join(' ')} (they do not count, and are sent)`),
  ]),
  ...(small === null || small.images === 0 ? [] : [line('small changes',
    `${countText(small.images, 'image')} changed in one small area only`
    + (small.area === null ? '' : `, ${small.area_images} of them in ${small.area}`)
    + small.next.map(({ command }) => `: ${command}`).join(''))]),
]

const folderLines = (folder: Folder, view: View): string[] => {
  const path = folder.configured_folder
  const shown = path === null ? 'unknown' : visibleLine(view.foreign(path))
  const scan = [
    folder.local_scan_status,
    ...(folder.last_scan_at === null ? [] : [view.time(folder.last_scan_at)]),
    ...(folder.last_scan_reason === null ? [] : [`(${folder.last_scan_reason})`]),
  ]
  const age = folder.newest_item_age_seconds
  return [
    line('folder', `${shown} (${folder.configuration_source ?? 'unknown'}`
      + `${folder.editable ? '' : ', not editable'})`),
    line('images', `${known(folder.image_count)}, newest ${timeText(view, folder.latest_image_at)}`
      + (folder.image_count_at === null ? ''
        : `, counted by the scan of ${view.time(folder.image_count_at)}`)
      + partial(view, folder.summary_status, folder.summary_failure)),
    line('last scan', scan.join(' ')),
    line('newest item', age === null ? 'none' : newestText(view, age, folder.newest_item_at)),
    ...ignoringLines(folder),
  ]
}

/** One reason is that of all; of several each has its number. */
const reasonsText = (reasons: Folder['analysis']['blocked_reasons']): string => {
  if (reasons === null || reasons.length === 0) return ''
  const [first, ...more] = reasons
  return more.length === 0 ? String(first?.reason)
    : reasons.map(({ reason, count }) => `${count} ${reason}`).join(', ')
}

const mixText = (analysis: Folder['analysis']): string => {
  const { status_mix: mix, blocked_looked_at: looked } = analysis
  if (mix === null) return '?'
  const blocked = reasonsText(analysis.blocked_reasons)
  const isSample = looked !== null && looked > 0 && looked < mix.blocked
  const why: Readonly<Record<string, string>> = {
    blocked: isSample ? `${blocked}: ${looked} of them were looked at` : blocked,
    failed: reasonsText(analysis.failed_reasons),
    succeeded: (analysis.reused_count ?? 0) === 0
      ? '' : `${analysis.reused_count} as earlier images, unpaid`,
  }
  const told = (status: string): string => {
    const reasons = why[status] ?? ''
    return reasons === '' ? '' : ` (${reasons})`
  }
  return Object.entries(mix).map(([status, n]) => `${n} ${status}${told(status)}`).join(', ')
}

const analysisLines = ({ analysis }: Folder, view: View): string[] => {
  const { stale_cleanup: stale, db_lock: lock } = analysis
  return [
    line('observations', `${known(analysis.observation_count)} of this folder, `
      + `${known(analysis.total_historical_observation_count)} ever`
      + partial(view, analysis.metadata_status, analysis.metadata_failure)),
    line('analysis', mixText(analysis)),
    ...(analysis.blocked_next === null ? []
      : [line('  to go on', view.told(analysis.blocked_next))]),
    line('active', `${known(analysis.active_backlog)} waiting, `
      + `${known(analysis.active_failures)} failed, `
      + `${known(analysis.source_missing_count)} source missing`),
    ...(analysis.device_observation_count === 0 ? [] : [
      line('of devices', `${known(analysis.device_observation_count)} observed`),
    ]),
    line('older folders', `${known(stale.stale_root_count)} to clear, `
      + `${known(stale.archived_count)} archived`),
    line('visual runs', `${known(analysis.visual_run_count)} with `
      + `${known(analysis.visual_suppression_count)} like images`),
    line('latest', `observed ${timeText(view, analysis.latest_observation_at)}, `
      + `analysed ${timeText(view, analysis.latest_analyzed_at)}`),
    line('digests', `${known(analysis.digest_count)}, `
      + `latest ${timeText(view, analysis.latest_digest_at)}`),
    line('state lock', `${lock.retry_count} retries, ${lock.failure_count} failures`),
  ]
}

const pausedLines = ({ paused }: ShotsStatus['remote_vision']): string[] => {
  if (paused === null) return []
  const { until, reason, refusals, operation_id: operation, observation_id: image } = paused
  const about = image === null ? '' : ` (${image})`
  const told = `${countText(refusals, 'refusal')} in a row, the last of ${operation}${about}`
  return [line('  paused', `until ${until}: ${reason}, ${told}`)]
}

const visionLines = (vision: ShotsStatus['remote_vision'], view: View): string[] => {
  const { budget, cloud_consent: consent, capability_proof: proof } = vision
  const reason = vision.gateway_reason === null ? '' : ` (${vision.gateway_reason})`
  const safe = vision.remote_routing_safe
    ? view.paint('green', 'safe')
    : view.paint('yellow', `not safe: ${vision.unsafe_reasons.join(', ')}`)
  const spent = budget.budget_microusd === null ? 'none'
    : `${money(budget.settled_microusd)} spent, ${money(budget.held_microusd)} held, of `
      + `${moneyText(budget.budget_microusd)}; ${known(budget.requests)} of `
      + `${known(budget.budget_requests)} requests in a day`
  const disputed = budget.disputed_charges ?? 0
  return [
    line('remote vision', safe),
    ...pausedLines(vision),
    line('  gateway', `${vision.gateway_state}${reason}`),
    line('  model', `${vision.selected_model ?? 'none'}; upstream `
      + `${vision.upstream_allow.join(', ') || 'none'}`),
    line('  consent', `analysis ${consent.analysis ?? 'not set'}, `
      + `cloud upload ${consent.cloud_upload ?? 'not set'}, `
      + `vision ${consent.vision_consent_current ? 'current' : 'not current'}`),
    line('  budget', spent),
    ...(disputed === 0 ? [] : [line('  disputed', view.paint('yellow',
      `${countText(disputed, 'charge')} above the bound: ${view.told(
        '`sallyport ledger reservations`, then `sallyport ledger review OPERATION`')}`))]),
    line('  proof', proof.state
      + (proof.made_at === null ? '' : ` (${view.time(proof.made_at)})`)
      + `, ${vision.renew_proof === 'on' ? 'renewed by the jobs' : 'renewed by a person alone'}`),
  ]
}

export const statusText = (status: ShotsStatus, view: View): string => {
  const { screenshot_folder: folder, remote_vision: vision } = status
  const lines = [
    ...folderLines(folder, view), ...analysisLines(folder, view), ...visionLines(vision, view),
  ]
  return `${lines.join('\n')}\n`
}
