/**
 * The fixed names of the screenshot source, verbatim from its public contract, and every limit with
 * its unit last.
 */

/** Where an observation comes from (S-060). */
export const screenshotSource = 'screenshot_folder'
/** The same of what a paired device captured and the service stored. */
export const edgeSource = 'edge'

/**
 * Why what a device captured is analysed by nobody, where its pairing or its upload keeps it here:
 * no setting and no consent takes it away.
 */
export const fromDevice = 'from_device'
/** The sealed bytes of a capture cannot be had: it is told as such, and keeps no other waiting. */
export const captureUnreadable = 'capture_unreadable'

/** Versions of prompt and schema that an analysis is made with (S-078, S-079). */
export const analysisSchemaVersion = 'svc.screenshot_analysis.v1'
export const analysisPromptVersion = 'svc.screenshot_analysis.prompt.v1'

/** Names of a digest episode (S-096, S-097). */
export const digestSourceTool = 'screenshot_observation_digest'
export const digestSchemaVersion = 'svc.screenshot_observation_digest.v1'

/** The only two names by which a folder can be configured (S-055). */
export const folderVariable = 'SVC_SCREENSHOT_FOLDER'

/** Whether a variable of the environment is a setting of screenshots. */
export const isSettingVariable = (name: string): boolean =>
  /^(?:SVC_SCREENSHOT|SCREENSHOT)_/.test(name)
export const folderSetting = 'screenshot_folder'
/** Below the sealed workspace, when nothing else names a folder (S-053). */
export const defaultFolder = 'artifacts/screenshot-folder'

/** The scheduler jobs (S-127). */
export const jobNames = [
  'screenshot_folder_ingest', 'screenshot_folder_analysis', 'screenshot_observation_digest',
] as const
export type JobName = (typeof jobNames)[number]

/** Analysis status of an observation (S-143): there is no sixth. */
export const analysisStatuses = [
  'pending', 'blocked', 'succeeded', 'failed', 'needs_reanalysis',
] as const
export type AnalysisStatus = (typeof analysisStatuses)[number]

/** Classifications beside the status (S-144); null means none. */
export const classifications = ['source_missing', 'stale_root'] as const
export type Classification = (typeof classifications)[number]

/** Why an image is analysed again (S-179). */
export const reanalyzeReasons = [
  'prompt_version_changed', 'model_version_changed', 'provider_failure_retry',
  'manual_operator_request',
] as const
export type ReanalyzeReason = (typeof reanalyzeReasons)[number]

/** Record types under which private bytes are sealed. */
export const shotLabels = {
  payload: 'svc.screenshot_analysis.v1',
  digest: 'svc.screenshot_observation_digest.v1',
  conclusion: 'svc.screenshot_report.conclusion.v1',
  fingerprint: 'svc.screenshot_fingerprint.v1',
  sketches: 'svc.screenshot_sketches.v1',
} as const

/** Every limit of this capability; the unit is the last word of the name. */
export const shotLimits = {
  /** New files that one scan may read (S-130). */
  ingestImagesDefault: 100,
  ingestImagesMax: 10_000,
  imageBytesMax: 20_000_000,
  /** One second look at a half-written file, and the age from which its end no longer matters. */
  settleMs: 300,
  settledAgeMs: 2_000,
  recursiveDepthMax: 8,
  /** Paths remembered of one content. */
  pathsPerObservationMax: 16,
  nameBytesMax: 4_096,
  /** A run of like images gets a new representative after this long (S-210). */
  visualRunRefreshMinutesDefault: 30,
  visualRunRefreshMinutesMax: 1_440,
  digestWindowMinutesMax: 1_440,
  /** Seconds of a region that goes on changing, of which one image is paid for. */
  settleSecondsMin: 5,
  settleSecondsMax: 600,
  /** Images that were described, newest first, which one that waits may be a repeat of. */
  describedMax: 256,
  /** Those of them that look nearest and are compared in full. */
  comparedMax: 4,
  /** Described images of which nothing is kept yet, looked into in one pass. */
  sketchedAgainMax: 64,
  analysisItemsDefault: 20,
  analysisItemsMax: 1_000,
  concurrencyDefault: 2,
  concurrencyMax: 16,
  analysisTimeoutSecondsDefault: 45,
  analysisTimeoutSecondsMax: 120,
  digestCharsDefault: 6_000,
  digestWindowsMax: 4,
  /** Hours of older images that a tick looks at. */
  digestDueHoursMax: 24,
  digestAgeMsMax: 24 * 3_600_000,
  listItemsDefault: 50,
  listItemsMax: 10_000,
} as const

/** How a turn of a job ended; `busy`: the same job is under way somewhere. */
export const turnOutcomes = ['done', 'degraded', 'failed', 'disabled', 'busy'] as const
export type TurnOutcome = (typeof turnOutcomes)[number]

/** Images that are analysed again together, by what they have in common. */
export const reanalyzeGroups = ['blocked', 'failed', 'needs'] as const
export type ReanalyzeGroup = (typeof reanalyzeGroups)[number]
