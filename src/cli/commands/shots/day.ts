import { shotsContext } from '../../../fabric/contexts/shots.js'
import { shotsDay, type DayDocument } from '../../../shots/told-day/told-day-contract.js'
import { tellDay } from '../../../shots/told-day/export.js'
import { requestOf } from '../../request.js'
import type { LineOf, VerbRecord } from '../../verb.js'
import { dayText } from './day-text.js'

type DayOptions = Partial<LineOf<typeof shotsDay>>

export const day: VerbRecord<DayOptions, DayDocument> = {
  summary: 'what was done on a day: time, episodes, what it cost',
  description:
    'Tells a day, today unless said, or hours of it. It begins with the time by activity, '
    + 'application and project as the model named them. Episodes with their stored sentences '
    + 'follow, then what it cost. A picture counts until the next one of the same folder or '
    + 'device, and at most five minutes past the last time it was seen. An application counts '
    + 'wherever it is visible. The text has at most 60 lines. Nobody is contacted. --csv and '
    + '--ical write the episodes to new files for a time sheet or a calendar.',
  examples: [
    '$ sallyport shots day yesterday',
    '$ sallyport shots day 2026-11-20 --from 14:00 --to 16:00',
    '$ sallyport shots day 2026-11-20 --csv day.csv --ical day.ics',
  ],
  session: 'none',
  json: shotsDay,
  exits: ['rejected', 'conflict', 'no_state', 'damaged'],
  flags: (command) => command
    .argument('[day]', 'a day such as 2026-11-20, or yesterday; today unless given')
    .option('--from <time>', 'only from this time of the day on, as 14:00')
    .option('--to <time>', 'only before this time of the day, as 16:00')
    .option('--time-zone <zone>', 'zone in which it is meant; that of TZ, or the machine\'s')
    .option('--csv <file>', 'write the episodes to a new file of comma-separated values')
    .option('--ical <file>', 'write the episodes to a new calendar file'),
  text: async (told, view) => ({
    out: await dayText(told, view),
    notes: [told.csv_file, told.ical_file].flatMap((file) =>
      (file === null ? [] : [`episodes written to ${file}`])),
  }),
  run: async (options, deps) => {
    const { time_zone: zone, ...asked } = requestOf(shotsDay, options)
    const ctx = shotsContext(deps, await deps.gov('see'))
    return shotsDay.answer(tellDay(ctx, { ...asked, timeZone: zone, cwd: deps.cwd }))
  },
}
