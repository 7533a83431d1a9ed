// The least that sends the same creations: each POST of a list in its order, over a TLS connection
// of its own, by node-fetch, and before and behind each what a ledger and an anchor cost: a line
// of a log, synced, and an anchor moved as one is moved: one of two slots written and synced.
// Arguments: base URL, CA, list, folder, and `nosync` to leave the syncs out. Prints wall and
// processor milliseconds of the POSTs.
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import fetch from 'node-fetch'

const [base, caFile, listFile, dir, syncs] = process.argv.slice(2)
const ca = readFileSync(caFile)
const posts = JSON.parse(readFileSync(listFile, 'utf8'))
const log = openSync(join(dir, 'log'), 'a')
const anchor = openSync(join(dir, 'anchor'), 'w+')
const sync = syncs === 'nosync' ? () => undefined : fdatasyncSync
const line = `${'x'.repeat(600)}\n`
const slot = Buffer.alloc(4_096, line.slice(0, 200))
let turn = 0

const keep = () => {
  writeSync(log, line)
  sync(log)
  writeSync(anchor, slot, 0, slot.length, turn * slot.length)
  sync(anchor)
  turn = 1 - turn
}

const [start, used] = [performance.now(), process.cpuUsage()]
for (const { path, file } of posts) {
  const body = readFileSync(file)
  keep()
  const response = await fetch(base + path, {
    method: 'POST', agent: new Agent({ ca }), body,
    headers: {
      'authorization': 'Bearer token-of-the-bench', 'content-type': 'application/json',
      'accept': 'application/vnd.github+json', 'user-agent': 'bench',
      'accept-encoding': 'identity',
    },
  })
  const told = await response.json()
  if (response.status !== 201) throw new Error(`status ${response.status}: ${told.message}`)
  keep()
}
const { user, system } = process.cpuUsage(used)
closeSync(log)
closeSync(anchor)
console.log(JSON.stringify({
  wallMs: performance.now() - start, processorMs: (user + system) / 1000,
}))
