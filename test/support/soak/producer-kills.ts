/**
 * Producers of the shipped program that die from outside: the supervisor at each of its syncs (by
 * strace, where there is one) and at random times, its parent at random times. A proof may only
 * stand where nothing of the producer is left, and stays what it is.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StartRecord } from '../../../src/codehost/producer/shapes.js'
import type { ProducerTools } from '../../../src/codehost/producer/tools.js'
import { startTicksOf } from '../../../src/codehost/producer/supervisor/git-child.js'
import { chanceOf } from '../chance.js'
import { clear, lives, producing, startApart, supervisorOf } from '../codehost/producing.js'
import type { Produced } from '../codehost/producing.js'
import { signalled } from '../signalled.js'
import { until } from '../until.js'
import { straced, strace } from './strace.js'

const files = {
  ...Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`d${n % 5}/f${n}`, `file ${n}\n`])),
  large: Buffer.alloc(2 * 1024 * 1024, 'x'),
}
const chance = chanceOf('producer-kills')

/** Start record and its folder, marker and its folder. */
const syncs = 4

const startOf = ({ stage }: Produced): StartRecord | null => {
  try {
    return JSON.parse(readFileSync(join(stage, 'start.json'), 'utf8')) as StartRecord
  } catch {
    return null
  }
}

const isSame = (pid: number, ticks: string): boolean => {
  try {
    return lives(pid) && startTicksOf(pid) === ticks
  } catch {
    return false
  }
}

/** Whether anything that the start record names is still there. */
const leftOf = (produced: Produced): boolean => {
  const start = startOf(produced)
  if (start === null) return false
  return [start.supervisor, ...Object.values(start.children)]
    .some(({ pid, start_ticks: ticks }) => isSame(pid, ticks))
}

const settled = async (produced: Produced): Promise<string> => {
  await until('the guard is free', () => !produced.held())
  const verdict = produced.verdict()
  if (verdict.quiescent) assert.equal(leftOf(produced), false, 'a proof, and something lives')
  // git has no more input, and ends by itself.
  await until('nothing of it is left', () => !leftOf(produced))
  assert.deepEqual(produced.verdict(), verdict, 'a verdict changed')
  return verdict.quiescent ? verdict.complete ? 'complete' : 'prefix' : verdict.reason
}

const atSync = async (round: number): Promise<string> => {
  const when = (round % syncs) + 1
  const node = (tools: ProducerTools, dir: string): ProducerTools => straced(
    tools, dir, ['-e', 'trace=fsync', '-e', `inject=fsync:signal=KILL:when=${when}`], '/dev/null')
  const produced = await producing({ files, tools: node })
  try {
    await produced.start()
    const found = await settled(produced)
    assert.equal(found, when < syncs ? 'marker_missing' : 'complete', `sync ${when}`)
    return `sync ${when}: ${found}`
  } finally {
    clear(produced)
  }
}

/** Kills whoever it is told at some moment of the first second. */
const atRandom = async (who: 'parent' | 'supervisor'): Promise<string> => {
  const produced = await producing({ files })
  try {
    writeFileSync(join(produced.dir, 'who'), who)
    const parent = startApart(produced)
    const ended = once(parent, 'exit')
    if (who === 'supervisor') {
      await until('it began', () => startOf(produced) !== null || parent.exitCode !== null)
      await sleep(chance.next() * 300)
      if (leftOf(produced)) signalled(supervisorOf(produced), 'SIGKILL')
    } else {
      await sleep(500 + chance.next() * 3_000)
      parent.kill('SIGKILL')
    }
    await ended
    return `${who}: ${await settled(produced)}`
  } finally {
    clear(produced)
  }
}

/** Kills so many producers; prints what they left. */
export const run = async (rounds: number): Promise<void> => {
  const counts = new Map<string, number>()
  for (let round = 0; round < rounds; round += 1) {
    const kind = round % 3
    const left = kind === 0 && strace() ? await atSync(Math.floor(round / 3))
      : await atRandom(kind === 1 ? 'parent' : 'supervisor')
    counts.set(left, (counts.get(left) ?? 0) + 1)
  }
  const told = [...counts].sort().map(([left, count]) => `${left} ${count}`).join(', ')
  process.stdout.write(`producer kills: ${rounds} rounds; ${told}; `
    + `${strace() ? '' : 'kills at syncs not measured (no strace); '}0 false proofs\n`)
}
