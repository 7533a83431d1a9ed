/** The screenshot source over HTTP. What decodes, folds or counts everything runs in a thread. */
import * as v from 'valibot'
import { closedObject, parseClosed } from '../../base/schema.js'
import { shotsContext } from '../../fabric/contexts/shots.js'
import { reanalyzeReasons } from '../../shots/constants.js'
import { shotsReanalyze } from '../../shots/analysis/contract.js'
import { reanalyzeOne } from '../../shots/analysis/reanalyze.js'
import { clearStale, shotsClearStale } from '../../shots/clear-stale.js'
import { shotsShow } from '../../shots/observations/contract.js'
import { showObservation } from '../../shots/observations/show.js'
import { reportPeriod } from '../../shots/report/period.js'
import { shotsReport } from '../../shots/report/contract.js'
import { reportShots } from '../../shots/report/report.js'
import { timeZoneOf } from '../../observations/zone.js'
import { shotsScan } from '../../shots/scan/contract.js'
import { parseScanInput, scanInputShape } from '../../shots/scan/input.js'
import { scanFolder } from '../../shots/scan/scan.js'
import { saveShotsConfig, settingsBytesMax, showShotsConfig } from '../../shots/source/config.js'
import { shotsConfig } from '../../shots/source/contract.js'
import { shotsStatus } from '../../shots/status/contract.js'
import { readShotsStatus } from '../../shots/status/status.js'
import { jsonOf, smallBody, type Call, type Operation } from '../operation.js'

const observationOf = ({ asked: { params } }: Call): string => params['observation_id'] ?? ''

/** S-179, S-180: exactly one reason, under this name. */
const reanalyzeShape = closedObject({ reason: v.picklist(reanalyzeReasons) })

const about = { code: 'request_invalid', what: 'the request' }

const scan = async ({ gov, world, asked }: Call): Promise<unknown> => {
  const { screenshot_folder: folder, limit } = parseScanInput(jsonOf(asked))
  return shotsScan.answer(await scanFolder(shotsContext(world, gov), {
    ...(folder === undefined ? {} : { folder }), ...(limit === undefined ? {} : { limit }),
  }))
}

const reanalyze = async (call: Call): Promise<unknown> => {
  const { gov, session, world, asked } = call
  const { reason } = parseClosed(reanalyzeShape, jsonOf(asked), about)
  return shotsReanalyze.answer(await reanalyzeOne(shotsContext(world, gov), session, {
    target: observationOf(call), reason, release: false,
  }))
}

const saveSettings = async ({ gov, session, world, asked }: Call): Promise<unknown> => {
  const ctx = shotsContext(world, gov)
  const saved = await saveShotsConfig(ctx, session, jsonOf(asked))
  return shotsConfig.answer(showShotsConfig(ctx, gov.store.read(), saved))
}

const status = async ({ gov, world }: Call): Promise<unknown> => shotsStatus.answer({
  status: readShotsStatus({
    clock: gov.clock, stateDir: world.places.stateDir,
    state: { ctx: shotsContext(world, gov) },
  }),
  maxAgeMs: null, maxAnalysisAgeMs: null, nowMs: gov.clock.wallMs(),
})

/** The last 24 hours, in the zone of the service; a conclusion is shown and never bought here. */
const report = async ({ gov, world }: Call): Promise<unknown> =>
  shotsReport.answer(await reportShots(shotsContext(world, gov), {
    period: reportPeriod(gov.clock.wallMs(), { timeZone: timeZoneOf(world.env) }),
    html: null, conclude: null,
  }))

/** The operations. */
export const shotsOperations: readonly Operation[] = [
  {
    contract: shotsScan, method: 'POST', path: '/api/observer/screenshot-folder/scan',
    summary: 'Takes in what is new in the image folder; no model is asked.', verb: 'shots scan',
    mode: 'mutate', status: 200, where: 'thread',
    body: { shape: scanInputShape, required: false, bytesMax: smallBody },
    run: scan,
  },
  {
    contract: shotsReanalyze, method: 'POST',
    path: '/api/observer/screen-artifacts/{observation_id}/reanalyze',
    summary: 'Analyses one image again; it may be sent and paid for.', verb: 'shots reanalyze',
    mode: 'mutate', status: 200, where: 'thread', localOnly: true,
    body: {
      shape: reanalyzeShape, name: 'sallyport.shots.reanalyze.body.v1', required: true,
      bytesMax: smallBody,
    },
    run: reanalyze,
  },
  {
    contract: shotsShow, method: 'GET',
    path: '/api/observer/screen-artifacts/{observation_id}/analysis',
    summary: 'Local facts of one observation; never what a model wrote.', verb: 'shots show',
    mode: 'see', body: null, status: 200, where: 'here',
    run: async (call) => {
      const { gov, world } = call
      return shotsShow.answer(showObservation(
        shotsContext(world, gov), gov.store.read(), observationOf(call), false))
    },
  },
  {
    contract: shotsConfig, method: 'PUT', path: '/api/settings/screen-analysis',
    summary: 'Saves the image folder, or other settings; null forgets one.',
    verb: 'shots config', mode: 'mutate', status: 200,
    where: 'here',
    body: { shape: shotsConfig.input, required: true, bytesMax: settingsBytesMax },
    run: saveSettings,
  },
  {
    contract: shotsStatus, method: 'GET', path: '/api/settings/artifact-storage',
    summary: 'Folder, analysis and remote vision profile.', verb: 'shots status', mode: 'see',
    body: null, status: 200, where: 'thread', run: status,
  },
  {
    contract: shotsReport, method: 'GET', path: '/api/observer/screenshot-report',
    summary: 'Reports the last 24 hours; nobody is contacted and no picture is in it.',
    verb: 'shots report', mode: 'see', body: null, status: 200, where: 'thread', run: report,
  },
  {
    contract: shotsClearStale, method: 'POST', path: '/api/settings/screen-analysis/clear-stale',
    summary: 'Archives incomplete observations of other folders.', verb: 'shots clear-stale',
    mode: 'mutate', body: null, status: 200, where: 'thread', localOnly: true,
    run: async ({ gov, session, world }) =>
      shotsClearStale.answer(await clearStale(shotsContext(world, gov), session)),
  },
]
