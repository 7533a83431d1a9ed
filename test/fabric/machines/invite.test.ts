/** The file of an invitation: it outlives a power cut once it was answered, or is not there. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { inviteMachine } from '../../../src/fabric/machines/invite.js'
import { signedIn } from '../../support/place/signed-in.js'
import { onFailingDisk } from '../../support/soak/failing-disk.js'
import { temporaryFolder } from '../../world/place.js'

t.test('an invitation and its name are synced before they are answered, and a disk that fails leaves none', async (t) => {
  const { gov, session } = await signedIn(t)
  const folder = temporaryFolder(t)
  const to = join(folder, 'b.invite')
  const invite = async (at: number) => {
    const seen: string[] = []
    const plan = { at, fault: 'EIO', seen } as const
    await onFailingDisk([folder], plan, () =>
      inviteMachine(gov, session, { name: 'b', to, passphrase: 'goes by another way' }))
      .then(() => 'written', () => 'failed').then((ended) => seen.unshift(ended))
    return seen
  }
  const calls = ['open', 'writeSync', 'fsyncSync']
  const whole = [...calls.map((name) => `${name} ${to}`), `fsyncSync ${folder}`]
  for (const at of whole.keys()) {
    const [ended, ...seen] = await invite(at + 1)
    t.strictSame([ended, ...seen.slice(0, at + 1)], ['failed', ...whole.slice(0, at + 1)])
    t.notOk(readdirSync(folder).includes('b.invite'))
  }
  t.strictSame(await invite(0), ['written', ...whole])
})
