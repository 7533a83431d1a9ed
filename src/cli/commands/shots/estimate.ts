import { shotsContext } from '../../../fabric/contexts/shots.js'
import { timeZoneOf, zoneOf } from '../../../observations/zone.js'
import { shotsEstimate, type EstimateDocument } from '../../../shots/estimate/estimate-contract.js'
import { estimateDay } from '../../../shots/estimate/estimate.js'
import { requestOf } from '../../request.js'
import type { LineOf, VerbRecord } from '../../verb.js'
import { estimateText } from './estimate-text.js'

type EstimateOptions = Partial<LineOf<typeof shotsEstimate>>

export const estimate: VerbRecord<EstimateOptions, EstimateDocument> = {
  summary: 'what a day costs, before it is paid',
  description:
    'Counts the images of a day, yesterday unless said: how many would be a request, how many are '
    + 'blocked and why, and what is described. It counts those that repeat what was described, or '
    + 'would be. Files are read and compared as an analysis does it, so a day of many images takes '
    + 'a while. What was not compared counts as a request, told as "at most". A table has requests '
    + 'and dollars of such a day for each setting, by what the newest requests cost and by the '
    + 'bound of one. Nobody is contacted and nothing is written. Images that no scan took in yet '
    + 'are not counted.',
  examples: [
    '$ sallyport shots estimate',
    '$ sallyport shots estimate --day 2026-11-20 --time-zone Europe/Berlin --json',
  ],
  session: 'none',
  json: shotsEstimate,
  exits: ['rejected', 'no_state', 'damaged', 'cancelled'],
  flags: (command) => command
    .option('--day <day>', 'a day such as 2026-11-20; yesterday unless given')
    .option('--time-zone <zone>', 'zone in which it is meant; that of TZ, or the machine\'s'),
  text: estimateText,
  run: async ({ timeZone, ...options }, deps) => {
    const line = { ...options, timeZone: timeZone ?? zoneOf(timeZoneOf(deps.env)).name }
    const { day, time_zone: zone } = requestOf(shotsEstimate, line)
    const ctx = shotsContext(deps, await deps.gov('see'))
    return shotsEstimate.answer(await estimateDay(ctx, { day, timeZone: zone }))
  },
}
