/**
 * What any source of screen observations hands to the one report builder (S-024). Neutral: nothing
 * here is a path, a digest of an image, visible text or a reply. Times are ISO text.
 */
import type { CalendarPeriod } from './periods.js'
import type { NamedOn } from './sums.js'

/** Text that a language model wrote, never without the model's name and the time (S-026). */
export interface ModelText {
  readonly text: string
  /** Configured text of the model. */
  readonly model: string
  /** The name that the reply gave. */
  readonly replyModel: string
  readonly writtenAt: string
  /** A later attempt failed, or prompt, schema or model are newer: this is from before. */
  readonly outdated: boolean
  /** Set where it was written about another image, which looks the same; else left out. */
  readonly asAt?: AsAt
}

/** The other image that a text was written about; nothing tells which one it is. */
export interface AsAt {
  /** When that one was captured. */
  readonly capturedAt: string
  /** Areas did not count when the two were compared: the text may describe what was in them. */
  readonly areasIgnored: boolean
}

/** One screen observation of any source. */
export interface ScreenObservationInput {
  readonly observationId: string
  /** Where it comes from: `screenshot_folder` or another capture path. */
  readonly source: string
  /** Which of the places of its source; left out where there is one. */
  readonly place?: string
  /** Name of the file, without its folder. */
  readonly filename: string
  readonly format: string
  readonly width: number | null
  readonly height: number | null
  readonly bytes: number
  readonly capturedAt: string
  /** When a like image was last seen; `capturedAt` where there was none. */
  readonly lastSeenAt: string
  /** Like images that this one stands for. */
  readonly likeImages: number
  /** When they were captured, as far as it is known: times and how many. */
  readonly likeTimes?: readonly { readonly at: string; readonly images: number }[]
  /** Those of them that differ from it in ignored areas. */
  readonly ignoredImages?: number
  /** Analysis status. */
  readonly status: string
  /** Null where there is none, and where the source opened those of newer ones alone. */
  readonly summary: ModelText | null
  /** What the model named on it; left out where its analysis was not opened. */
  readonly named?: NamedOn
  /** Configured text of the model that named it; with `named`. */
  readonly namedBy?: string
  /** Whether there is a summary, opened or not; left out: whether it is here. */
  readonly analysed?: boolean
  /** Whether its summary was written about another image that looks the same; left out: no. */
  readonly reused?: boolean
}

/** One digest of a window. */
export interface ScreenDigestInput {
  readonly episodeId: string
  readonly windowStart: string
  readonly windowEnd: string
  readonly sourceObservationIds: readonly string[]
  readonly text: ModelText
}

/** A conclusion over stored analyses and digests. */
export interface ScreenConclusionInput {
  readonly conclusionId: string
  readonly text: ModelText
  readonly digestIds: readonly string[]
  readonly sourceObservationIds: readonly string[]
  /** True when it was made from exactly what this report holds. */
  readonly current: boolean
}

/** Spend against the budget over the rolling day that ends when the report is made; micro-USD. */
export interface ScreenSpendInput {
  readonly since: string
  readonly budgetMicrousd: number | null
  readonly spentMicrousd: number
  /** Bounds of calls that are under way or whose charge is not known. */
  readonly heldMicrousd: number
  readonly budgetRequests: number | null
  readonly requests: number
  /** Charges above their bounds that wait for a review; each counts whole. */
  readonly disputedCharges: number
}

/** What the calls of one hour cost, by the hour in which each was claimed; micro-USD. */
interface ScreenSpendHour {
  /** Beginning of the hour, ISO. */
  readonly at: string
  readonly spentMicrousd: number
  /** Bounds of calls that are under way or whose charge is not known. */
  readonly heldMicrousd: number
}

/** Why observations of one status are what they are. */
export interface ScreenReason {
  readonly status: string
  /** A code. */
  readonly reason: string
  readonly count: number
  /** A sentence for people; null where there is none. */
  readonly text: string | null
  /** What takes it away; commands stand between backticks. Null where nothing is known. */
  readonly next: string | null
  /** True where it stays until a person acts. */
  readonly needsPerson: boolean
}

/** Money that stays as it is until a person looks at it. */
export interface ScreenMoneyDue {
  /** Calls whose charge nobody knows, and what is held for them, micro-USD. */
  readonly unknownCharges: number
  readonly heldMicrousd: number
  /** Charges that passed their bound. */
  readonly overruns: number
}

/** Why observations of the period are not in the report, by count. */
interface ScreenExclusions {
  readonly sourceMissing: number
  readonly staleFolder: number
  readonly archived: number
  /** Digests that rest on one of these. */
  readonly digests: number
}

/** What did not count when images were compared. */
interface ScreenIgnoring {
  /** Areas that are ignored now, as their setting names them. */
  readonly areas: readonly string[]
}

/** Everything that one report is built from. */
export interface ScreenReportInput {
  readonly madeAt: string
  /** The period, half-open, by the time of each image. */
  readonly since: string
  readonly until: string
  /** IANA name; days and hours are counted in it. */
  readonly timeZone: string
  /** The day, week or month that the period is; left out where it is none. */
  readonly calendar?: CalendarPeriod
  /** By capture time, oldest first; one without an image in the period is left out. */
  readonly observations: readonly ScreenObservationInput[]
  readonly digests: readonly ScreenDigestInput[]
  readonly conclusion: ScreenConclusionInput | null
  readonly spend: ScreenSpendInput | null
  /** Hours of the period in which a call was claimed, oldest first, as far as they are kept. */
  readonly spendHours: readonly ScreenSpendHour[]
  /** From when on none of them is forgotten, ISO; null where all of the period are there. */
  readonly spendKnownSince: string | null
  /** Why observations are blocked or failed, most first. */
  readonly reasons: readonly ScreenReason[]
  readonly moneyDue: ScreenMoneyDue
  readonly excluded: ScreenExclusions
  readonly ignoring: ScreenIgnoring
}
