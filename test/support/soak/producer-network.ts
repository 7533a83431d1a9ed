/**
 * Every network call of a producer and of each git below it, and every file of settings that it
 * opens: it connects to nothing, and reads no settings but those of its stage. Its records are
 * durable in their order.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clear, producing } from '../codehost/producing.js'
import { until } from '../until.js'
import { straced, strace } from './strace.js'

const calls = ['-e', 'trace=network,openat,open,fsync,link,linkat,unlink,unlinkat']
/** The start record and its folder; then the marker, its name, its folder. */
const durable = 'fsync fsync fsync link fsync'.split(' ')

const once = async (): Promise<{ readonly calls: number, readonly opened: number }> => {
  const produced = await producing({
    tools: (tools, dir) => straced(tools, dir, calls, join(dir, 'trace')),
  })
  try {
    const verdict = await produced.start()
    assert.ok(verdict.quiescent && verdict.complete, JSON.stringify(verdict))
    const trace = (): string => readFileSync(join(produced.dir, 'trace'), 'utf8')
    await until('the trace is whole', () => trace().split('\n').length > 50)
    const lines = trace().split('\n')
    const own = lines.filter((line) => line.startsWith(`${verdict.start.supervisor.pid} `))
      .map((line) => /\b(fsync|link)(?:at)?\(/.exec(line)?.[1]).filter((call) => call !== undefined)
    // A runner of tests that sits in every process of ours may write at its end.
    assert.deepEqual(own.slice(0, durable.length), durable)
    assert.deepEqual(lines.filter((line) => /\b(?:connect|bind|sendto|listen)\(/.test(line)), [])
    assert.deepEqual(lines.filter((line) => /\bsocket\(AF_(?!UNIX)/.test(line)), [])
    const opened = lines.filter((line) => /\bopen(?:at)?\(/.test(line))
    assert.deepEqual(opened.filter((line) => /gitconfig|gitattributes|\.git\//.test(line)), [])
    assert.ok(opened.some((line) => /"(?:\.\/)?config"/.test(line)), 'git read its own settings')
    return { calls: lines.length - opened.length, opened: opened.length }
  } finally {
    clear(produced)
  }
}

/** Runs so many producers under strace. Rejects where there is none: nothing was seen then. */
export const run = async (rounds: number): Promise<void> => {
  if (!strace()) throw new Error('producer network: not measured, there is no strace here')
  const seen = { calls: 0, opened: 0 }
  for (let round = 0; round < rounds; round += 1) {
    const { calls: more, opened } = await once()
    seen.calls += more
    seen.opened += opened
  }
  process.stdout.write(`producer network: ${rounds} producers, ${seen.calls} calls of pipes and `
    + `sockets, not one connect; ${seen.opened} files opened, no settings but their own\n`)
}
