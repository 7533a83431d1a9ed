/** The screenshot source over HTTP. What decodes, folds or counts everything runs in a thread. */
import * as v from 'valibot'
import { closedObject } from '../../base/schema.js'
import { shotsContext } from '../../fabric/contexts/shots.js'
import { operation } from '../../fabric/operation.js'
import { shots } from '../../fabric/operations/shots.js'
import { reanalyzeReasons } from '../../shots/constants.js'
import { shotsReanalyze } from '../../shots/analysis/analysis-contract.js'
import { reanalyzeOne } from '../../shots/analysis/reanalyze.js'
import { clearStale, shotsClearStale } from '../../shots/clear-stale.js'
import { reportPeriod } from '../../shots/report/period.js'
import { shotsReport } from '../../shots/report/report-contract.js'
import { reportShots } from '../../shots/report/report.js'
import { timeZoneOf } from '../../observations/zone.js'
import { shotsScan } from '../../shots/scan/scan-contract.js'
import { parseScanInput, scanInputShape } from '../../shots/scan/input.js'
import { scanFolder } from '../../shots/scan/scan.js'
import { saveShotsConfig, settingsBytesMax, showShotsConfig } from '../../shots/source/config.js'
import { shotsConfig } from '../../shots/source/source-contract.js'
import { shotsStatus } from '../../shots/status/status-contract.js'
import { readShotsStatus } from '../../shots/status/status.js'
import { shotsDay } from '../../shots/told-day/told-day-contract.js'
import { readDay } from '../../shots/told-day/read-day.js'
import { jsonOf, type Call, type Route } from '../route.js'
import { bodyOf, route, routeOf, smallJson } from '../route-of.js'

/** S-179, S-180: exactly one reason, under this name. */
const reanalyzeShape = closedObject({ reason: v.picklist(reanalyzeReasons) })

const scan = async ({ gov, world, asked }: Call): Promise<unknown> => {
  const { screenshot_folder: folder, limit } = parseScanInput(jsonOf(asked))
  return shotsScan.answer(await scanFolder(shotsContext(world, gov), {
    ...(folder === undefined ? {} : { folder }), ...(limit === undefined ? {} : { limit }),
  }))
}

const reanalyze = async ({ gov, session, world, asked }: Call): Promise<unknown> => {
  const { reason } = bodyOf(reanalyzeShape, asked)
  return shotsReanalyze.answer(await reanalyzeOne(shotsContext(world, gov), session, {
    target: asked.params['observation_id'] ?? '', reason, release: false,
  }))
}

const saveSettings = async ({ gov, session, world, asked }: Call): Promise<unknown> => {
  const ctx = shotsContext(world, gov)
  const saved = await saveShotsConfig(ctx, session, jsonOf(asked))
  return shotsConfig.answer(showShotsConfig(ctx, gov.store.read(), saved))
}

const status = operation(shotsStatus, 'see', ({ gov, world }) => ({
  status: readShotsStatus({
    clock: gov.clock, stateDir: world.places.stateDir,
    state: { ctx: shotsContext(world, gov) },
  }),
  maxAgeMs: null, maxAnalysisAgeMs: null, nowMs: gov.clock.wallMs(),
}))

/** The last 24 hours, in the zone of the service; a conclusion is shown and never bought here. */
const report = operation(shotsReport, 'see', ({ gov, world }) =>
  reportShots(shotsContext(world, gov), {
    period: reportPeriod(gov.clock.wallMs(), { timeZone: timeZoneOf(world.env) }),
    html: null, conclude: null,
  }))

/** A day, by the rule of a report; a service writes no files of it. */
const day = operation(shotsDay, 'see', ({ gov, world }, { time_zone: timeZone, ...asked }) => ({
  ...readDay(shotsContext(world, gov), { ...asked, timeZone }), csv_file: null, ical_file: null,
}))

const clear = operation(shotsClearStale, 'mutate', ({ gov, session, world }) =>
  clearStale(shotsContext(world, gov), session))

/** The routes. */
export const shotsRoutes: readonly Route[] = [
  route(shotsScan, 'POST /api/observer/screenshot-folder/scan',
    'Takes in what is new in the image folder; no model is asked.', {
      mode: 'mutate', where: 'thread', run: scan,
      body: { ...smallJson(scanInputShape), required: false },
    }),
  route(shotsReanalyze, 'POST /api/observer/screen-artifacts/{observation_id}/reanalyze',
    'Analyses one image again; it may be sent and paid for.', {
      mode: 'mutate', where: 'thread', localOnly: true, run: reanalyze,
      body: smallJson(reanalyzeShape, 'sallyport.shots.reanalyze.body.v1'),
    }),
  routeOf(shots.show, 'GET /api/observer/screen-artifacts/{observation_id}/analysis',
    'Local facts of one observation; never what a model wrote.', { id: 'id' }),
  route(shotsConfig, 'PUT /api/settings/screen-analysis',
    'Saves the image folder, or other settings; null forgets one.', {
      verb: 'shots setup', mode: 'mutate', run: saveSettings,
      body: { shape: shotsConfig.input, required: true, bytesMax: settingsBytesMax },
    }),
  routeOf(status, 'GET /api/settings/artifact-storage',
    'Folder, analysis and remote vision profile.', { where: 'thread' }),
  routeOf(report, 'GET /api/observer/screenshot-report',
    'Reports the last 24 hours; nobody is contacted and no picture is in it.', { where: 'thread' }),
  routeOf(day, 'GET /api/shots/day',
    'One day, or hours of it: time, episodes, cost; no picture is in it.', {
      where: 'thread', query: [
        { name: 'day', what: 'A day like 2026-11-27, today or yesterday.', kind: 'text' },
        { name: 'from', what: 'Time of the day from which on: 14:00.', kind: 'text' },
        { name: 'to', what: 'Time of the day before which: 16:00.', kind: 'text' },
        { name: 'time_zone', what: 'IANA name; else that of the service.', kind: 'text' },
      ],
    }),
  routeOf(clear, 'POST /api/settings/screen-analysis/clear-stale',
    'Archives incomplete observations of other folders.', { where: 'thread', localOnly: true }),
]
