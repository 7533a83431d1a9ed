/**
 * The semantic payload of one image, `svc.screenshot_analysis.v1`: the one place where its fields
 * and bounds are said. The JSON schema that every request carries, the shape of the parser and the
 * table in docs/dev/screenshots.md all come from here (S-080 to S-085, S-094).
 */
import { analysisSchemaVersion } from '../constants.js'
import {
  choiceField, constantField, flagField, listField, nullable, recordField, shareField, textField,
  type ValueOf,
} from './fields.js'

/** What the person seems to be doing. */
export const activities = [
  'coding', 'code_review', 'terminal', 'writing', 'reading', 'research', 'communication',
  'meeting', 'planning', 'design', 'data_analysis', 'administration', 'media', 'idle', 'other',
  'unknown',
] as const

/** Kinds of visible artifacts. */
export const artifactKinds = [
  'file', 'repository', 'pull_request', 'issue', 'page', 'tool',
] as const

/** How what is visible relates to a goal. */
export const goalStatuses = ['aligned', 'partly_aligned', 'not_aligned', 'unknown'] as const

/** Whether it moved the work on. */
export const needleSignals = ['yes', 'no', 'unknown'] as const

/** Bounds of the payload; characters are Unicode code points. */
export const payloadLimits = {
  summaryChars: 300,
  observationItems: 12,
  observationChars: 400,
  nameChars: 120,
  applicationItems: 16,
  artifactItems: 24,
  artifactChars: 200,
  snippetItems: 8,
  snippetChars: 160,
  intentChars: 300,
  evidenceChars: 400,
  noteItems: 8,
  noteChars: 200,
  tagItems: 12,
  /** Bytes of the model's text that are parsed at all. */
  contentBytes: 65_536,
} as const

const limits = payloadLimits

/** Every field of the payload. */
export const payloadField = recordField({
  schema: constantField(analysisSchemaVersion),
  summary: textField(limits.summaryChars, 'One sentence: what is on the screen.', {
    pattern: '^[^\\n]*$',
  }),
  observations: listField(
    limits.observationItems,
    textField(limits.observationChars, 'One privacy-safe observation.'),
    'Details of what is done, without anything private.',
  ),
  activity: choiceField(activities, 'Kind of activity; unknown when it cannot be told.'),
  project: nullable(textField(limits.nameChars, 'Project that it seems to be about, or null.')),
  applications: listField(
    limits.applicationItems, textField(limits.nameChars, 'Name of an application.'),
    'Applications that are visible.',
  ),
  artifacts: listField(
    limits.artifactItems,
    recordField({
      kind: choiceField(artifactKinds, 'What it is.'),
      name: textField(limits.artifactChars, 'Its visible name.'),
    }),
    'Files, repositories, pull requests, issues, pages and tools that are visible.',
  ),
  snippets: listField(
    limits.snippetItems, textField(limits.snippetChars, 'A short, non-sensitive visible text.'),
    'Short non-sensitive texts as they are visible; no code, no log, no message.',
  ),
  intent: nullable(textField(limits.intentChars, 'What the person seems to want, or null.')),
  goal: recordField({
    status: choiceField(goalStatuses, 'How this relates to a goal that is visible.'),
    evidence: nullable(textField(limits.evidenceChars, 'What on the screen says so, or null.')),
    pushed_the_needle: choiceField(needleSignals, 'Whether it moved the work on.'),
  }),
  confidence: shareField('How certain all of this is: 0 not at all, 1 wholly.'),
  sensitive: flagField('True when private or sensitive content is visible.'),
  privacy_notes: listField(
    limits.noteItems, textField(limits.noteChars, 'What kind of content was left out.'),
    'What was left out for privacy, by kind, without the content.',
  ),
  tags: listField(
    limits.tagItems,
    textField(40, 'A tag of lowercase letters, digits and dashes.', {
      pattern: '^[a-z0-9][a-z0-9-]{0,39}$',
    }),
    'Tags for reports.',
  ),
})

/** A validated semantic payload. */
export type AnalysisPayload = ValueOf<typeof payloadField>

/** Name of the JSON schema as requests give it: letters, digits and underscores. */
const payloadSchemaName = 'svc_screenshot_analysis_v1'

/** The strict `response_format` of an analysis. */
export const payloadResponseFormat = {
  type: 'json_schema',
  json_schema: { name: payloadSchemaName, strict: true, schema: payloadField.json },
} as const
