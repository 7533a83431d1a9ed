/** A service that runs for longer than its certificate is good for. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import tls, { connect as tlsConnect } from 'node:tls'
import { once } from 'node:events'
import { serviceIdentity } from '../../src/governance/service/identity.js'
import { pinOf } from '../../src/net/pin.js'
import { movedClock } from '../support/clock.js'
import { serving } from '../support/service/serving.js'
import { until } from '../support/until.js'
import { World } from '../world/world.js'
import { t } from '../support/tests-in-slices.js'

const day = 24 * 60 * 60 * 1000

/** The certificate that a listener shows. */
const shown = async (port: number): Promise<X509Certificate> => {
  // Whatever it shows is looked at: that is the question.
  const socket = tlsConnect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const found = socket.getPeerX509Certificate()
  socket.destroy()
  if (found === undefined) throw new Error('it shows none')
  return found
}

const pinIn = ({ publicKey }: X509Certificate): string =>
  pinOf(publicKey.export({ type: 'spki', format: 'der' }))

t.test('a running service shows a new certificate under its old key before the one of before runs out', async (t) => {
  const clock = movedClock()
  const world = await World.in(t, { clock }).state().session()
  const at = await serving(t, world, { houseMs: 20 })
  const { port, pin } = at.started.identity
  const before = await shown(port)
  await until('a few looks', async () => (await at.ask('GET', '/healthz')).status === 200)
  t.equal((await shown(port)).serialNumber, before.serialNumber, 'it is good for long enough')
  clock.stepWall(340 * day)
  await until('another certificate', async () =>
    (await shown(port)).serialNumber !== before.serialNumber)
  const after = await shown(port)
  t.ok(Date.parse(after.validTo) > Date.parse(before.validTo))
  t.strictSame([pinIn(before), pinIn(after)], [pin, pin], 'devices go on knowing it')
  await until('the file of it', () =>
    new X509Certificate(readFileSync(at.started.certificateFile)).serialNumber
      === after.serialNumber)
  t.equal(new X509Certificate(serviceIdentity({ store: world.open('read') }).certificate)
    .serialNumber, after.serialNumber, 'and the next start shows it')
})

/** Whether a listener goes along with a client that asks for no encryption at all. */
const speaksOpenly = async (port: number): Promise<boolean> => {
  const socket = tlsConnect({
    host: '127.0.0.1', port, rejectUnauthorized: false, maxVersion: 'TLSv1.2',
    ciphers: 'ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0',
  })
  const spoken = await once(socket, 'secureConnect').then(() => true, () => false)
  socket.destroy()
  return spoken
}

t.test('no default of Node takes the encryption from the service, nor from a certificate that it makes later', async (t) => {
  const before = tls.DEFAULT_CIPHERS
  t.teardown(() => (tls.DEFAULT_CIPHERS = before))
  tls.DEFAULT_CIPHERS = 'ALL:eNULL:@SECLEVEL=0'
  const clock = movedClock()
  const world = await World.in(t, { clock }).state().session()
  const at = await serving(t, world, { houseMs: 20 })
  const { port } = at.started.identity
  t.equal(await speaksOpenly(port), false)
  const { serialNumber } = await shown(port)
  clock.stepWall(340 * day)
  await until('another certificate', async () => (await shown(port)).serialNumber !== serialNumber)
  t.equal(await speaksOpenly(port), false, 'the renewed one')
})
