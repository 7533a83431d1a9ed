/** Who may read no more gets no more of a capture, however much of it is still to come. */
import { randomBytes } from 'node:crypto'
import { connect } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import { must } from '../support/must.js'
import { headOf, pairOver, sendOver } from '../support/service/devices.js'
import { serving, takesNothingIn, type Serving } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

/** Takes the first bytes of a reply, lets `meanwhile` happen, takes the rest; how many came. */
const readAround = (
  { started }: Serving, path: string, token: string, meanwhile: () => Promise<unknown>,
): Promise<number> => new Promise((resolve, reject) => {
  const { port, certificate } = started.identity
  let bytes = 0
  const socket = connect({ port, host: '127.0.0.1', ca: [certificate] }, () => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`
      + `Authorization: Bearer ${token}\r\nConnection: close\r\n\r\n`)
  })
  socket.once('data', (first: Buffer) => {
    bytes += first.length
    socket.pause()
    meanwhile().then(() => {
      socket.on('data', (more: Buffer) => { bytes += more.length })
      socket.resume()
    }, reject)
  })
  socket.on('error', () => undefined).on('close', () => resolve(bytes))
})

t.test('S-198 a pairing that was revoked, and a session that was ended, get no further piece of a capture', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world, { takesIn: takesNothingIn })
  const { credential, device_id: device } = await pairOver(world, at)
  const body = Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(19 * 1024 * 1024),
  ])
  const sent = await sendOver(at, credential, body, headOf(body, 1))
  const path = `/api/edge/artifacts/${sent.json().artifact_id}/bytes`
  const whole = await readAround(at, path, credential, () => sleep(1))
  t.ok(whole > body.length, `${whole}`)
  const revoked = await readAround(at, path, credential, async () =>
    must(await world.run(['edge', 'revoke', device])))
  t.ok(revoked < body.length, `${revoked} after a revocation`)
  const ended = await readAround(at, path, at.token(), async () =>
    must(await world.run(['logout'])))
  t.ok(ended < body.length, `${ended} after a logout`)
})
