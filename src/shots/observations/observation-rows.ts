/**
 * Every document of the screenshot source, as closed shapes. Times are ISO text (`*_at`), money is
 * integer micro-USD, digests are lowercase hex. No row holds private text: payloads, digests,
 * conclusions and fingerprints are sealed artifacts that rows name by id and digest.
 * `observation-store.ts` alone writes observations, so that counters and calendar never disagree
 * with them.
 */
import * as v from 'valibot'
import { count, counted, iso, sha256, text } from '../../base/schema.js'
import { digestOf } from '../../base/canonical.js'
import { byTail } from '../../governance/by-tail.js'
import type { CollectionSpec, Index } from '../../state/types.js'
import {
  analysisStatuses, classifications, edgeSource, reanalyzeReasons, screenshotSource,
} from '../constants.js'

const formatShape = v.picklist(['png', 'jpeg'])

/** A file's name below its folder: text for people, and the bytes where they are not UTF-8. */
export const fileNameShape = v.strictObject({ text, bytes_base64: v.nullable(text) })
export type FileName = v.InferOutput<typeof fileNameShape>

const pathShape = v.strictObject({ name: fileNameShape, modified_at: iso })

/** Detail of a representative that stands for a run of like images (S-068, S-075). */
const visualRunShape = v.strictObject({
  representative_path: text,
  first_seen: iso,
  last_seen: iso,
  suppressed_count: count,
  latest_suppressed_path: v.nullable(text),
  /** Suppressions by reason code. */
  reason_counts: v.record(text, count),
  /**
   * Suppressions by the quarter hour of their files (its beginning, ISO): the hours of every time
   * zone begin with one. Left out in runs of an earlier version.
   */
  quarter_counts: v.optional(v.record(text, count)),
})
/** A run as its representative's row keeps it. */
export type VisualRun = v.InferOutput<typeof visualRunShape>

/** A part of a picture, in pixels from its top left corner. */
const rectEntries = { x: count, y: count, width: count, height: count }

/** Bounded analyzer status details (S-065). */
const analyzerShape = v.strictObject({
  /** Why the status is what it is: a code, or null for a good one. */
  reason: v.nullable(text),
  /** A sentence for people, bounded; never a body, a key or a reply's text. */
  detail: v.nullable(v.pipe(text, v.maxLength(300))),
  /** Worker attempts that were consumed, sent or not. */
  attempts: count,
  /** The newest claimed call; null when nothing was ever claimed. */
  input_digest: v.nullable(sha256),
  operation_id: v.nullable(text),
  /** Set from before the first byte until the outcome is recorded. */
  contact: v.picklist(['none', 'claimed', 'ended', 'uncertain']),
  reanalyze_reason: v.nullable(v.picklist(reanalyzeReasons)),
  updated_at: v.nullable(iso),
})

const payloadShape = v.strictObject({
  artifact_id: text,
  /** SHA-256 of the canonical payload. */
  sha256,
  /** Configured text `gateway/<provider>/<model>` that was in force when it was sent. */
  model: text,
  reply_model: text,
  prompt_version: text,
  schema_version: text,
  analyzed_at: iso,
  operation_id: text,
  cost_microusd: count,
  /** True when a later attempt failed: this is what succeeded before it. */
  earlier: v.boolean(),
  /**
   * Set where it was made for another image, which this one was confirmed to be a repeat of: which
   * one, when that was captured, and when it was analysed. Left out where it is of a call of its
   * own. Model, prompt, schema and operation are those of that call; this image cost nothing.
   */
  payload_of: v.optional(v.strictObject({
    observation_id: text, captured_at: iso, analyzed_at: iso,
  })),
})
/** What is known of a sealed semantic payload. */
export type PayloadRef = v.InferOutput<typeof payloadShape>

const captureShape = v.strictObject({
  /** Principal id: the owner of the device. */
  owner: text,
  device_id: text,
  device_name: text,
  /** The sealed upload: its bytes are the picture, and no copy of them is kept. */
  artifact_id: text,
  sequence: counted,
  /**
   * Set where its pairing and its upload each allowed egress to a cloud and to a model; left out
   * where one of the four did not, and in rows of an earlier version.
   */
  may_leave: v.optional(v.literal(true)),
})
/** Which stored capture an observation is about. */
export type CaptureOf = v.InferOutput<typeof captureShape>

const observationShape = v.strictObject({
  observation_id: v.pipe(text, v.startsWith('obs_')),
  source: v.picklist([screenshotSource, edgeSource]),
  /**
   * Absolute canonical path of the image folder it was scanned from; of a capture the name of the
   * place that its device is (`deviceRoot`), which is no path.
   */
  root: text,
  root_digest: sha256,
  sha256,
  bytes: count,
  format: formatShape,
  width: v.nullable(count),
  height: v.nullable(count),
  /** The file's modification time (S-063); of a capture what its device declared. */
  captured_at: iso,
  /** True when that time lay ahead of the clock at the scan. */
  captured_in_future: v.boolean(),
  observed_at: iso,
  /**
   * The policy revision that was in force then: what a consent is compared with, because a clock
   * can be set back. Left out in rows of an earlier version.
   */
  observed_revision: v.optional(count),
  /** Names under which these very bytes were seen, first one first; bounded. */
  paths: v.pipe(v.array(pathShape), v.minLength(1), v.maxLength(16)),
  screenshot_visual_run: v.nullable(visualRunShape),
  /**
   * Digest of the areas that were ignored of its size when it was taken in: no image that others
   * were ignored for is merged with it. Left out where none were.
   */
  ignored_sha256: v.optional(sha256),
  /** The small rectangle that it differs in from the image before it; left out where none does. */
  changed_region: v.optional(v.strictObject(rectEntries)),
  analysis_status: v.picklist(analysisStatuses),
  classification: v.nullable(v.picklist(classifications)),
  archived_at: v.nullable(iso),
  analyzer: analyzerShape,
  /**
   * The later image that stands for it, because their region went on changing; only while it is
   * blocked for that.
   */
  stood_for_by: v.optional(text),
  payload: v.nullable(payloadShape),
  /** Set where a paired device captured it; left out for the images of folders. */
  edge: v.optional(captureShape),
})
/** One image (sections 2 and 3 of the contract). */
export type Observation = v.InferOutput<typeof observationShape>

const contentShape = v.strictObject({
  /** Of the bytes; of captures what `contentIdOf` makes of it. */
  sha256,
  observations: v.array(v.strictObject({ observation_id: text, root_digest: sha256 })),
  /**
   * Observations that these bytes were suppressed for, newest last and bounded; left out where they
   * never were, and in rows of an earlier version.
   */
  suppressed_for: v.optional(v.pipe(v.array(text), v.maxLength(16))),
})

const fileShape = v.strictObject({
  root_digest: sha256,
  name: fileNameShape,
  bytes: count,
  /** Modification time in nanoseconds, decimal text. */
  modified_ns: text,
  /** Time of the last change of content or facts, the same way; rows of old may not have it. */
  changed_ns: v.optional(text),
  inode: text,
  outcome: v.picklist(['ingested', 'duplicate', 'suppressed', 'rejected']),
  reason: v.nullable(text),
  /** Of a suppressed file: largest cell difference to the representative, 0..255. */
  measure: v.nullable(v.number()),
  /** The cell that differs most, counted from the top left; left out where nothing differs. */
  cell: v.optional(v.strictObject({ x: count, y: count })),
  /**
   * Set where its whole picture was compared with the representative's: that one's SHA-256, and the
   * largest difference where the two are repeats. Left out in rows of an earlier version.
   */
  compared: v.optional(v.strictObject({
    representative_sha256: sha256, difference: v.nullable(v.number()),
  })),
  /** Digest of the areas that did not count in that; left out where every pixel did. */
  ignored_sha256: v.optional(sha256),
  /** Why the picture could not be looked into; left out where it could. */
  flaw: v.optional(text),
  observation_id: v.nullable(text),
  sha256: v.nullable(sha256),
  seen_at: iso,
})
/** What became of one file when it was read; the durable answer to "known?". */
export type SeenFile = v.InferOutput<typeof fileShape>

const artifactRefShape = v.strictObject({ stored_sha256: sha256, sha256, bytes: count })

const smallChangesShape = v.strictObject({
  /** Observations that have a `changed_region`. */
  images: count,
  /** Where they differ, most images first: near ones grow together, and few are kept. */
  areas: v.pipe(v.array(v.strictObject({
    screen_width: count, screen_height: count, ...rectEntries, images: count, latest_at: iso,
  })), v.maxLength(8)),
})
/** Images that differ from the one before them in one small rectangle only. */
export type SmallChanges = v.InferOutput<typeof smallChangesShape>

const folderShape = v.strictObject({
  root: text,
  root_digest: sha256,
  /** Newest unsuppressed image: what the next one is compared with. */
  representative: v.nullable(v.strictObject({
    observation_id: text, format: formatShape, width: count, height: count,
    /** Null where it could not be decoded: nothing is merged with it. */
    fingerprint: v.nullable(artifactRefShape),
  })),
  observations: count,
  /** Representatives that stand for a run, and files that they stand for. */
  visual_runs: count,
  suppressed: count,
  duplicates: count,
  rejected: count,
  /** Left out where there are none, and in rows of an earlier version. */
  small_changes: v.optional(smallChangesShape),
  latest_captured_at: v.nullable(iso),
  latest_analyzed_at: v.nullable(iso),
  /** Rows that clear-stale archived. */
  archived: count,
  /** Of a device: captures up to this number were looked at; left out for folders. */
  taken_sequence: v.optional(count),
  last_scan: v.nullable(v.strictObject({
    at: iso, status: v.picklist(['ok', 'degraded', 'failed']), reason: v.nullable(text),
    receipt_id: v.nullable(text),
  })),
  first_seen_at: iso,
})
/** What is known of one image folder, or of a device as a place of pictures. */
export type ShotFolder = v.InferOutput<typeof folderShape>

const countShape = v.strictObject({
  root_digest: sha256,
  analysis_status: v.picklist(analysisStatuses),
  classification: v.nullable(v.picklist(classifications)),
  archived: v.boolean(),
  /** Model, prompt and schema of the payload; null without one. */
  model: v.nullable(text),
  prompt_version: v.nullable(text),
  schema_version: v.nullable(text),
  /** Of blocked and failed rows: why, as it was last written; left out for all others. */
  reason: v.optional(v.nullable(text)),
  /** Of blocked rows: the policy revision at which they were taken in; null in rows of old. */
  observed_revision: v.optional(v.nullable(count)),
  /** The analysis was made for another image; left out where it was not. */
  reused: v.optional(v.literal(true)),
  /** Paired devices captured them; left out for the images of folders. */
  edge: v.optional(v.literal(true)),
  count,
})
/** How many observations share these facts; status reads these and no observation. */
export type ShotCount = v.InferOutput<typeof countShape>

/** The facts that a counter row is about: a group of observations. */
export type CountKey = Omit<ShotCount, 'count'>

/** The group that a row is counted in. */
export const countKeyOf = (row: Observation): CountKey => ({
  root_digest: row.root_digest,
  analysis_status: row.analysis_status,
  classification: row.classification,
  archived: row.archived_at !== null,
  model: row.payload?.model ?? null,
  prompt_version: row.payload?.prompt_version ?? null,
  schema_version: row.payload?.schema_version ?? null,
  ...reasonPart(row),
  ...(row.payload?.payload_of === undefined ? {} : { reused: true }),
  ...(row.edge === undefined ? {} : { edge: true }),
})

/**
 * Id of the row that tells which observations some bytes have. What a device captured is compared
 * with captures of that device alone, so that no image of a folder is anything else for it (S-044).
 */
export const contentIdOf = (
  { sha256: digest, root_digest: place, edge }: {
    readonly sha256: string
    readonly root_digest: string
    readonly edge?: CaptureOf | undefined
  },
): string => (edge === undefined ? digest : digestOf({ place, sha256: digest }))

/** What is told of blocked and failed images is told of all of them: none of them is read. */
const reasonPart = (
  { analysis_status: status, analyzer: { reason }, observed_revision: revision }: Observation,
): Pick<ShotCount, 'reason' | 'observed_revision'> => {
  if (status === 'failed') return { reason }
  return status === 'blocked' ? { reason, observed_revision: revision ?? null } : {}
}

/** Id of a group's counter row. */
export const countIdOf = (key: CountKey): string => digestOf(key)

/** So much of a group's id tells it from the few others that there are. */
const groupChars = 16

/** The part of a key by which an index names a group. */
export const groupPart = (countId: string): string => countId.slice(0, groupChars)

/**
 * The calendar: observations of each group by the time of their capture. The counter rows say which
 * groups there are, so that what is looked for by status, folder, model or time is found without a
 * look at anything else.
 */
export const observationsByGroup: Index<Observation> = {
  name: 'group', parts: 2,
  keysOf: (row) => [[groupPart(countIdOf(countKeyOf(row))), row.captured_at]],
}

/** Observations by the end of their ids. */
export const observationsByTail = byTail<Observation>(({ observation_id: id }) => id)

/** Every collection of the screenshot source but those of receipts, texts and settings. */
export const shotCollections = {
  /** By observation id. */
  observations: {
    name: 'observations', schema: observationShape, partition: 'hash256',
    indexes: [observationsByGroup, observationsByTail],
  },
  /** By `contentIdOf`. */
  contents: { name: 'observation_contents', schema: contentShape, partition: 'hash256' },
  /** By `fileIdOf(folder digest, name)`. */
  files: { name: 'shot_files', schema: fileShape, partition: 'hash256' },
  /** By folder digest: one for each folder that was ever scanned. */
  folders: { name: 'shot_roots', schema: folderShape, partition: 'one' },
  /** By `countIdOf`: as many as there are combinations, whatever the number of observations. */
  counts: { name: 'shot_counts', schema: countShape, partition: 'one' },
} satisfies {
  observations: CollectionSpec<Observation>
  contents: CollectionSpec<v.InferOutput<typeof contentShape>>
  files: CollectionSpec<SeenFile>
  folders: CollectionSpec<ShotFolder>
  counts: CollectionSpec<ShotCount>
}
