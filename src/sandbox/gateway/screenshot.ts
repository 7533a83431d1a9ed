/**
 * A sensible analysis of a screenshot, made from the bytes of the image alone: the same image gives
 * the same answer, other images mostly other ones. Nothing is looked at but size and a few bytes.
 */
import { createHash } from 'node:crypto'
import type { JsonObject } from '../types.js'

/** Name of the JSON schema by which an analysis is asked for. */
export const screenshotSchemaName = 'svc_screenshot_analysis_v1'

const scenes = [
  {
    activity: 'coding', project: 'harbour', application: 'Code editor', kind: 'file',
    artifact: 'router.ts', snippet: 'router.ts', intent: 'Finish a change to request routing.',
    summary: 'A code editor with a source file open beside its tests.',
  },
  {
    activity: 'code_review', project: 'harbour', application: 'Browser', kind: 'pull_request',
    artifact: 'Bound the retry queue', snippet: 'Files changed', intent: 'Review a change.',
    summary: 'A pull request in a browser with comments on a diff.',
  },
  {
    activity: 'terminal', project: 'harbour', application: 'Terminal', kind: 'tool',
    artifact: 'test runner', snippet: '214 passing', intent: 'See whether the tests pass.',
    summary: 'A terminal in which a test run has just ended.',
  },
  {
    activity: 'writing', project: 'quarterly plan', application: 'Text editor', kind: 'page',
    artifact: 'Plan for the next quarter', snippet: 'Milestones', intent: 'Write a plan.',
    summary: 'A document with headings and a short list of milestones.',
  },
  {
    activity: 'research', project: null, application: 'Browser', kind: 'page',
    artifact: 'Documentation', snippet: 'Getting started', intent: 'Read how something is used.',
    summary: 'A page of documentation in a browser.',
  },
] as const

const sizeOf = (image: Buffer): string =>
  image.length >= 24 && image.readUInt32BE(0) === 0x89504e47
    ? `${image.readUInt32BE(16)} by ${image.readUInt32BE(20)} pixels` : `${image.length} bytes`

/** The answer to one image. */
export const screenshotAnswer = (image: Buffer): JsonObject => {
  const digest = createHash('sha256').update(image).digest()
  const scene = scenes[(digest[0] ?? 0) % scenes.length] ?? scenes[0]
  return {
    schema: 'svc.screenshot_analysis.v1',
    summary: scene.summary,
    observations: [
      `The image is ${sizeOf(image)}.`, `${scene.application} fills most of the screen.`,
    ],
    activity: scene.activity,
    project: scene.project,
    applications: [scene.application],
    artifacts: [{ kind: scene.kind, name: scene.artifact }],
    snippets: [scene.snippet],
    intent: scene.intent,
    goal: { status: 'unknown', evidence: null, pushed_the_needle: 'unknown' },
    confidence: 0.5 + ((digest[1] ?? 0) % 40) / 100,
    sensitive: false,
    privacy_notes: [],
    tags: ['sandbox', scene.activity.replace('_', '-')],
  }
}
