/** Digests and conclusions while they wait: what admitted them is asked up to the first byte. */
import t from 'tap'
import { checkLedger } from '../support/ledger.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { moment } from '../world/texts.js'
import { World, type TextWorld } from '../world/world.js'
import { must } from '../support/must.js'
import { set } from '../support/shots.js'

const regrant = async (world: TextWorld): Promise<void> => {
  await must(world.run(['policy', 'revoke', '--json']))
  const consents = ['--consent', 'gateway.report', '--consent', 'gateway.digest']
  await must(world.widen([
    '--slot', 'report', '--model', 'gateway/acme/report-1',
    '--upstream-allow', 'acme-host,other-host', ...consents,
  ]))
}

const closings: readonly (readonly [string, string, (world: TextWorld) => Promise<unknown>])[] = [
  ['claimed', 'analysis_off', (world) => set(world, '--analysis', 'off')],
  ['before_first_byte', 'cloud_upload_off', (world) => set(world, '--cloud-upload', 'off')],
  ['claimed', 'consent_not_current', regrant],
]

const verbs = {
  digest: ['shots', 'digest', '--json'],
  conclude: ['shots', 'report', '--conclude', '--json', '--since', moment(20)],
} as const

for (const [step, reason, close] of closings) {
  t.test(`S-017 S-021 ${reason} at ${step} keeps a digest and a conclusion here, and no hold stays`, async (t) => {
    const world = await World.in(t).sandbox().state().session()
      .gateway(forImages).images(allowed).proof('report').texts()
    await world.analysed({ name: 'a.png', at: moment(4, 1) })
    for (const [name, argv] of Object.entries(verbs)) {
      let done = false
      const ran = await world.run(argv, {
        at: async (at) => {
          if (done || at !== `${name}.${step}`) return
          done = true
          await close(world)
        },
      })
      t.ok(done, `${name} came that far`)
      t.not(ran.status, 0)
      t.match(`${ran.stdout}${ran.stderr}`, reason, name)
      t.equal(world.asked().length, 0, `${name}: zero bytes`)
      await set(world, '--analysis', 'on', '--cloud-upload', 'on')
    }
    world.say('Later it goes.')
    t.hasStrict((await world.digest()).json(), { written: 1 }, 'the window was not used up')
    checkLedger(t, world)
  })
}
