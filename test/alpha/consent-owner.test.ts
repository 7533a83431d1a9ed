/** A consent is its giver's: others acknowledge it themselves, and it ends with whoever gave it. */
import { writeFileSync } from 'node:fs'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { World, type AlphaWorld } from '../world/world.js'

const acknowledge = ['alpha', 'acknowledge', '--json', '--acknowledge-plaintext-egress']

const asBob = async (rig: AlphaWorld): Promise<void> => {
  writeFileSync(rig.place.path('passphrase'), 'another person')
  const secret = ['--passphrase-file', rig.place.path('passphrase')]
  await rig.run(['principal', 'add', 'bob', ...secret])
  must(await rig.run(['login', '--owner', 'bob', ...secret]))
}

t.test('A-009 A-189 an owner who never acknowledged sends nothing on the consent of another',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    await asBob(rig)
    const refused = await rig.ask()
    t.equal(refused.status, 4, refused.stderr)
    t.equal(refused.error().reason, 'acknowledgment_missing')
    t.equal(rig.inferences().length, 0)
    const shown = await rig.json(['alpha', 'show'])
    t.equal(shown.alpha_text.acknowledged, false)
    t.hasStrict(shown.alpha_text, { status: 'blocked', reason_code: 'acknowledgment_missing' })
    t.match(shown.alpha_text.reason, /sallyport alpha acknowledge/)
    t.equal(shown.alpha_text.consent_giver.name, 'owner')

    const before = await rig.revision()
    const bare = await rig.run(['alpha', 'acknowledge', '--json'])
    t.equal(bare.error().code, 'acknowledgment_required', 'silence acknowledges nothing')
    t.equal((await rig.ask()).status, 4)
    const given = must(await rig.run(acknowledge)).json()
    t.equal(given.alpha_text.acknowledged, true)
    t.equal(await rig.revision(), before, 'no revision is published')
    must(await rig.ask())
    t.equal(rig.inferences().length, 1)
  })

t.test('A-070 A-154 a consent whose giver is disabled is current for nobody, and says whose it was',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    await asBob(rig)
    must(await rig.run(acknowledge))
    must(await rig.ask())
    must(await rig.run(['principal', 'disable', 'owner', '--yes']))
    const refused = await rig.ask()
    t.equal(refused.status, 4)
    t.equal(refused.error().reason, 'consent_giver_disabled')
    t.equal(rig.inferences().length, 1)
    const shown = await rig.json(['alpha', 'show'])
    t.hasStrict(shown.alpha_text, {
      consent_current: false, status: 'blocked', reason_code: 'consent_giver_disabled',
      consent_giver: { name: 'owner', disabled: true },
    })
    const anew = /given by owner, who.*`sallyport alpha setup --enable`/
    t.match(shown.alpha_text.reason, anew, 'the read names the giver and what consents anew')
    t.match((await rig.json(['status'])).alpha.reason, anew)
    must(await rig.run([
      'alpha', 'setup', '--enable', '--acknowledge-plaintext-egress',
      '--expected-policy-revision', String(await rig.revision()),
    ]))
    must(await rig.ask())
  })
