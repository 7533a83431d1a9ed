/** Who may read no more gets no more of a capture, however much of it is still to come. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { must } from '../support/must.js'
import { headOf, pairOver, sendOver } from '../support/service/devices.js'
import { readAround } from '../support/service/read-around.js'
import { serving, takesNothingIn } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

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
