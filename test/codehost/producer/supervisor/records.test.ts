/** What the supervisor writes down is durable, with its name, before it says so. */
import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { markerName, stageNames } from '../../../../src/codehost/producer/producer-limits.js'
import type { StartRecord, TerminalMarker } from '../../../../src/codehost/producer/shapes.js'
import {
  writeMarker, writeStart,
} from '../../../../src/codehost/producer/supervisor/records.js'
import { onCall } from '../../../support/codehost/on-call.js'
import { t } from '../../../support/tests-in-slices.js'
import { temporaryFolder } from '../../../world/place.js'

type At = Parameters<typeof writeStart>[2]

/** Runs a supervisor's work in its stage; gives the names that the last sync of it kept. */
const keptBy = async (dir: string, work: (at: At) => Promise<string>) => {
  const before = process.cwd()
  const steps: string[] = []
  const synced: string[] = []
  let names: readonly string[] = []
  process.chdir(dir)
  try {
    const sha256 = await onCall('fsyncSync', (_number, [fd]) => {
      const path = readlinkSync(`/proc/self/fd/${String(fd)}`)
      if (statSync(path).isDirectory()) names = readdirSync(path).sort()
      else synced.push(path.slice(dir.length + 1))
    }, () => work(async (step) => { steps.push(`${step}: ${names.join(' ')}`) }))
    return { sha256, steps, synced }
  } finally {
    process.chdir(before)
  }
}

t.test('C-267 start record and marker are synced with their names before they are said to be', async (t) => {
  const dir = temporaryFolder(t)
  const [start, marker] = [{} as StartRecord, { job_id: 'job_x' } as TerminalMarker]
  const begun = await keptBy(dir, (at) => writeStart('token', start, at))
  t.strictSame(begun.synced, [stageNames.start])
  t.strictSame(begun.steps, ['start.written: ', `start.synced: ${stageNames.start}`])
  const ended = await keptBy(dir, (at) => writeMarker('token', marker, at))
  const name = markerName(ended.sha256)
  t.equal(ended.synced.length, 1, 'under another name, whole')
  t.not(ended.synced[0], name)
  const names = [name, stageNames.start].sort().join(' ')
  t.strictSame(ended.steps, ['marker.written: ', 'marker.linked: ', `marker.synced: ${names}`])
})
