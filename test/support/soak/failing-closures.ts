/**
 * Closures on a disk that is full, or fails, at each of their changing calls: each is closed once
 * and whole or as it was, only reads were sent, and the very same request then ends it.
 */
import assert from 'node:assert/strict'
import { closureCollection } from '../../../src/codehost/jobs/closed/closed-job-rows.js'
import { closing, type Closing } from '../codehost/closing.js'
import { must } from '../must.js'
import { onFailingDisk, type DiskFault } from './failing-disk.js'

/** What the rounds came to. */
export interface FailingClosures {
  /** Changing calls of a closure when nothing fails. */
  readonly calls: number
  readonly closed: number
  readonly codes: Readonly<Record<string, number>>
}

const faults: readonly DiskFault[] = ['ENOSPC', 'EIO', 'short']

const countCalls = async (at: Closing): Promise<number> => {
  const job = await at.unknown('Counted', 'numbered')
  const request = at.request(job)
  const seen: string[] = []
  await onFailingDisk([at.place.stateDir, at.place.configDir], { at: 0, fault: 'EIO', seen },
    async () => must(await at.close(job, request)))
  return seen.length
}

const fail = async (at: Closing, number: number, fault: DiskFault): Promise<string> => {
  const job = await at.unknown(`${fault} ${number}`, 'numbered')
  const before = at.job(job)
  const request = at.request(job)
  let code = 'closed'
  const seen = await at.during(async () => {
    const ran = await onFailingDisk([at.place.stateDir, at.place.configDir],
      { at: number, fault, seen: [] }, () => at.close(job, request))
    if (ran.status !== 0) ({ code } = ran.error())
    const { closed, revision, reserved } = at.job(job)
    assert.deepEqual([revision, reserved], closed === null
      ? [before.revision, true] : [before.revision + 1, false], `${fault} at ${number}`)
    if (ran.status === 0) assert.notEqual(closed, null)
    must(await at.close(job, request))
  })
  assert.ok(seen.every((one) => one.startsWith('GET ')))
  assert.equal(at.job(job).revision, before.revision + 1, `${fault} at ${number}`)
  const rows = at.view().all(closureCollection).filter(({ doc }) => doc.job_id === job)
  assert.equal(rows.length, 1)
  const check = await at.run(['state', 'check'])
  assert.equal(check.status, 0, `${fault} at ${number}: ${check.stdout}${check.stderr}`)
  return code
}

const roundsPerState = 25

/** Fails so many closures, each at another call. */
export const failingClosures = async (rounds: number): Promise<FailingClosures> => {
  const codes: Record<string, number> = {}
  let calls = 0
  for (let done = 0; done < rounds; done += roundsPerState) {
    const teardowns: (() => Promise<void> | void)[] = []
    try {
      const at = await closing({ teardown: (end) => void teardowns.unshift(end) })
      calls = await countCalls(at)
      const last = Math.min(rounds, done + roundsPerState)
      for (let round = done; round < last; round += 1) {
        const number = Math.floor(round * calls / rounds) % calls + 1
        const code = await fail(at, number, faults[round % faults.length] ?? 'EIO')
        codes[code] = (codes[code] ?? 0) + 1
      }
    } finally {
      for (const end of teardowns) await end()
    }
  }
  const { closed = 0, ...refused } = codes
  return { calls, closed, codes: refused }
}

/** The long loop. */
export const run = async (rounds: number): Promise<void> => {
  process.stdout.write(`${JSON.stringify(await failingClosures(rounds), null, 1)}\n`)
}
