/** Rows of screenshots as a scan and an analysis would have left them. */
import { isoFromMs } from '../../src/base/clock.js'
import { sha256Hex } from '../../src/base/canonical.js'
import { newId } from '../../src/base/ids.js'
import { analysisPromptVersion, analysisSchemaVersion } from '../../src/shots/constants.js'
import type { Observation, PayloadRef } from '../../src/shots/observations/observation-rows.js'
import { folderDigestOf } from '../../src/shots/source/folder-digest.js'

/** A row as a scan writes one; `name` is its file's, and `folder` where it lies. */
export const observationOf = (
  folder: string, name: string, changes: Partial<Observation> = {},
): Observation => {
  const at = changes.captured_at ?? '2026-11-20T10:00:00.000Z'
  return {
    observation_id: newId('obs'),
    source: 'screenshot_folder',
    root: folder,
    root_digest: folderDigestOf(folder),
    sha256: sha256Hex(`${folder}/${name}`),
    bytes: 1234, format: 'png', width: 64, height: 48,
    captured_at: at, captured_in_future: false, observed_at: at,
    paths: [{ name: { text: name, bytes_base64: null }, modified_at: at }],
    screenshot_visual_run: null,
    analysis_status: 'blocked', classification: null, archived_at: null,
    analyzer: {
      reason: 'analysis_off', detail: null, attempts: 0, input_digest: null, operation_id: null,
      contact: 'none', reanalyze_reason: null, updated_at: null,
    },
    payload: null,
    ...changes,
  }
}

/** What a row knows of a payload; no artifact is behind it. */
export const payloadRefOf = (changes: Partial<PayloadRef> = {}): PayloadRef => ({
  artifact_id: 'art_none', sha256: sha256Hex('payload'),
  model: 'gateway/acme/screenshot-1', reply_model: 'acme/screenshot-1',
  prompt_version: analysisPromptVersion, schema_version: analysisSchemaVersion,
  analyzed_at: '2026-11-20T10:05:00.000Z', operation_id: 'op_none', cost_microusd: 100,
  earlier: false,
  ...changes,
})

/** ISO text so many milliseconds after 2026-11-20T10:00:00Z. */
export const after = (ms: number): string => isoFromMs(Date.UTC(2026, 10, 20, 10) + ms)
