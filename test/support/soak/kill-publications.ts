/**
 * Publications of the shipped program that die: the process that runs one, or its supervisor, in
 * turn, at some moment of the run. Whatever dies, no effect is sent twice, what can be known is
 * known again, the rest goes on, and the state stays sound.
 */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stagePath } from '../../../src/codehost/producer/stage.js'
import type { StartRecord } from '../../../src/codehost/producer/shapes.js'
import { isHeld } from '../../../src/state/holds/guard.js'
import { chanceOf } from '../chance.js'
import { publishing, type Publishing } from '../codehost/publishing.js'
import { settledJob, toldJob } from '../codehost/settled-job.js'
import { must } from '../must.js'
import { signalled } from '../signalled.js'
import { until } from '../until.js'

const chance = chanceOf('kill-publications')

/** Three blobs, a chunk, growth, commit, branch, pull request; none of them twice. */
const filesOf = (round: number): Readonly<Record<string, string | Uint8Array>> => ({
  ...Object.fromEntries(Array.from({ length: 30 }, (_, n) =>
    [`d${n % 5}/f${n}`, `file ${n} of round ${round}\n`])),
  ...Object.fromEntries([1, 2, 3].map((n) =>
    [`blob-${n}`, Buffer.from([0, n, round % 256, round >> 8, 255])])),
})

const startOf = (at: Publishing, job: string): StartRecord | null => {
  try {
    const path = join(stagePath(at.place.stateDir, job), 'start.json')
    return JSON.parse(readFileSync(path, 'utf8')) as StartRecord
  } catch {
    return null
  }
}

type Who = 'parent' | 'supervisor'

/** Longest time from the claim of the job to the kill of its process, milliseconds. */
const parentMsMax = 2_500
/** The same of a supervisor, from its start record. */
const supervisorMsMax = 60

const killSupervisor = async (
  at: Publishing, job: string, child: ChildProcess,
): Promise<void> => {
  await until('it began', () => startOf(at, job) !== null || child.exitCode !== null)
  await sleep(chance.next() * supervisorMsMax)
  const pid = startOf(at, job)?.supervisor.pid
  if (pid !== undefined) signalled(pid, 'SIGKILL')
}

const killParent = async (at: Publishing, job: string, child: ChildProcess): Promise<void> => {
  await until('it is claimed', () => at.job(job).state !== 'approved' || child.exitCode !== null)
  await sleep(chance.next() * parentMsMax)
  child.kill('SIGKILL')
}

const runAndKill = async (at: Publishing, job: string, who: Who): Promise<void> => {
  let killing: Promise<void> = Promise.resolve()
  await at.place.spawn(['codehost', 'run', job, '--json'], {
    coverage: false,
    onChild: (child) => {
      killing = who === 'parent' ? killParent(at, job, child) : killSupervisor(at, job, child)
    },
  })
  await killing
}

const round = async (at: Publishing, number: number): Promise<string> => {
  const who: Who = number % 2 === 0 ? 'parent' : 'supervisor'
  const job = await at.approvedPublication(filesOf(number))
  await runAndKill(at, job, who)
  // A supervisor outlives its parent by a moment.
  const guard = at.job(job).approval?.producer?.producer_id
  if (guard === undefined) throw new Error('it was approved')
  await until('the producer has ended', () => !isHeld(at.place.stateDir, guard))
  must(await at.run(['goal', 'add', `Round ${number}`]))
  const left = toldJob(at, job)
  const end = await settledJob(at, job)
  if (at.connection().active_job_id !== null) await at.free(job)
  const check = await at.run(['state', 'check'])
  assert.equal(check.status, 0, `${who}, ${left}: ${check.stderr}`)
  return left === end ? `${who}: ${end}` : `${who}: ${left}, then ${end}`
}

/** POSTs of one host log, each by what it would do; none may stand twice. */
const requireOnce = (at: Publishing): number => {
  const sent = at.posts().map(({ path, bodySha256 }) => `${path} ${bodySha256}`)
  assert.equal(new Set(sent).size, sent.length, 'an effect was sent twice')
  return sent.length
}

/** What a state holds grows with each round; another one takes over then. */
const roundsPerState = 25

const tell = (rounds: number, posts: number, counts: ReadonlyMap<string, number>): void => {
  const lines = [...counts].sort().map(([left, count]) => `  ${count} x ${left}\n`).join('')
  process.stdout.write(`publication kills: ${rounds} rounds, ${posts} POSTs, none twice; every `
    + `state sound\n${lines}`)
}

/** Kills so many publications; prints what they left and how they went on. */
export const run = async (rounds: number): Promise<void> => {
  const counts = new Map<string, number>()
  let posts = 0
  for (let done = 0; done < rounds; done += roundsPerState) {
    const teardowns: (() => Promise<void> | void)[] = []
    const at = await publishing({ teardown: (end) => void teardowns.unshift(end) })
    try {
      for (let n = done; n < Math.min(rounds, done + roundsPerState); n += 1) {
        if (n > done) must(await at.consentToPublish())
        const left = await round(at, n)
        counts.set(left, (counts.get(left) ?? 0) + 1)
      }
      posts += requireOnce(at)
    } finally {
      for (const end of teardowns) await end()
    }
    // Told after each state: a loop that is ended early has told what it saw.
    tell(Math.min(rounds, done + roundsPerState), posts, counts)
  }
}
