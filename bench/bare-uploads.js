// The least that takes an upload: hashes the body, writes it to a file and syncs, over TLS and over
// plain HTTP. `POST /N` makes N syncs: the file, its folder, a line of a log, a small file and the
// folder to which that one is renamed. Arguments: a folder, and the file of key and certificate.
import { createHash } from 'node:crypto'
import { closeSync, fdatasync, fsync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { createServer as createPlain } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'

const [dir, identity] = process.argv.slice(2)
const { key, certificate: cert } = JSON.parse(readFileSync(identity, 'utf8'))
const [synced, syncedData] = [promisify(fsync), promisify(fdatasync)]
const folder = openSync(dir, 'r')
const log = openSync(join(dir, 'log'), 'a')
let count = 0

const small = async (n) => {
  const path = join(dir, `small-${n}`)
  const fd = openSync(path, 'wx')
  writeSync(fd, 'a line of two hundred bytes'.padEnd(200))
  await synced(fd)
  closeSync(fd)
  return path
}

const keep = async (n, fd, syncs) => {
  if (syncs >= 1) await synced(fd)
  if (syncs >= 2) await synced(folder)
  if (syncs >= 3) {
    writeSync(log, 'a record of a kilobyte'.padEnd(1_000))
    await syncedData(log)
  }
  if (syncs >= 4) renameSync(await small(n), join(dir, 'small'))
  if (syncs >= 5) await synced(folder)
}

const answer = (request, response) => {
  const syncs = Number(request.url.slice(1))
  const n = (count += 1)
  const fd = openSync(join(dir, `body-${n}`), 'wx')
  const digest = createHash('sha256')
  request.on('data', (chunk) => {
    digest.update(chunk)
    writeSync(fd, chunk)
  })
  request.on('end', async () => {
    await keep(n, fd, syncs)
    closeSync(fd)
    const body = `${JSON.stringify({ sha256: digest.digest('hex') })}\n`
    response.writeHead(201, {
      'Content-Type': 'application/json', 'Content-Length': String(body.length),
    })
    response.end(body)
  })
}

const listening = (server) => new Promise((resolve) => {
  server.listen(0, '127.0.0.1', () => resolve(server.address().port))
})
const port = await listening(createServer({ key, cert, ALPNProtocols: ['http/1.1'] }, answer))
const plain = await listening(createPlain(answer))
console.log(JSON.stringify({ port, plain }))
