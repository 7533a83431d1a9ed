/** Inputs of reports for tests. */
import type {
  ModelText, ScreenObservationInput, ScreenReportInput,
} from '../../../src/observations/types.js'

/** ISO text on the day of the tests. */
export const at = (hour: number, minute = 0): string =>
  new Date(Date.UTC(2026, 10, 20, hour, minute)).toISOString()

/** Text of a model. */
export const said = (text: string, changes: Partial<ModelText> = {}): ModelText => ({
  text, model: 'gateway/acme/report-1', replyModel: 'acme/report-1-2026', writtenAt: at(17),
  outdated: false, ...changes,
})

/** An observation. */
export const seen = (changes: Partial<ScreenObservationInput> = {}): ScreenObservationInput => ({
  observationId: 'obs_1', source: 'screenshot_folder', filename: 'a.png', format: 'png',
  width: 1920, height: 1080, bytes: 2048, capturedAt: at(9), lastSeenAt: at(9), likeImages: 0,
  status: 'succeeded', summary: null, ...changes,
})

/** What a report is built from. */
export const input = (changes: Partial<ScreenReportInput> = {}): ScreenReportInput => ({
  madeAt: at(18), since: at(0), until: at(24), timeZone: 'UTC', observations: [seen()],
  digests: [], conclusion: null, spend: null, spendHours: [], spendKnownSince: null, reasons: [],
  moneyDue: { unknownCharges: 0, heldMicrousd: 0, overruns: 0 },
  excluded: { sourceMissing: 0, staleFolder: 0, archived: 0, digests: 0 },
  ignoring: { areas: [] }, ...changes,
})
