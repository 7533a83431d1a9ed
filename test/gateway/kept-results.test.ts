/** A result that was paid for is used, unless the consent that it was sent under has ended. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { latestProof } from '../../src/gateway/proof.js'
import { latestConsent } from '../../src/governance/policy/consents.js'
import { collections } from '../../src/governance/rows.js'
import { dropLastWitness } from '../support/drop-witness.js'
import { must } from '../support/must.js'
import { slotFlags } from '../world/gateway.js'
import type { Ran } from '../world/place.js'
import { World, type RoutesWorld } from '../world/world.js'

const rigOf = (t: Parameters<typeof World.in>[0]): Promise<RoutesWorld> =>
  Promise.resolve(World.in(t).sandbox().state().session().alpha().gateway())

/** A proof during which something happens once, after its reply. */
const proveDuring = (rig: RoutesWorld, happens: () => Promise<unknown>): Promise<Ran> => {
  let done = false
  return rig.prove('chat', {
    at: async (name) => {
      if (name !== 'prove.replied' || done) return
      done = true
      await happens()
    },
  })
}

t.test('A-065 A-192 a save of bound, time or key keeps the consents and the result under way',
  async (t) => {
    const rig = await rigOf(t)
    const ids = () => ['gateway.cloud_egress', 'gateway.chat']
      .map((purpose) => latestConsent(rig.view(), purpose)?.consent_id)
    const before = ids()
    for (const flags of [
      ['--slot', 'chat', '--request-cost-bound-microusd', '90000'],
      ['--slot', 'chat', '--timeout-seconds', '50'],
      ['--api-key-file', rig.place.write('key-2', 'MARK-GATEWAY-KEY-another\n')],
    ]) {
      must(await proveDuring(rig, async () => must(await rig.widen(flags))))
      t.strictSame(ids(), before, `${flags.join(' ')} keeps the consents`)
    }
    must(await rig.widen(['--slot', 'chat', '--model', 'gateway/acme/chat-2', '--consent', 'chat']))
    const [egress, chat] = ids()
    t.not(egress, before[0], 'another model is another acknowledgment')
    t.not(chat, before[1], 'and another consent')
  })

t.test('A-065 A-192 a save after an interrupted one keeps the consents that were suspended',
  async (t) => {
    const rig = await rigOf(t)
    const ids = () => ['gateway.cloud_egress', 'gateway.chat', 'gateway.vision']
      .map((purpose) => latestConsent(rig.view(), purpose)?.consent_id)
    const before = ids()
    const interrupted = () => rig.widen(['--slot', 'chat', '--timeout-seconds', '40'], {
      at: async (step) => { if (step === 'save.credential') throw new Error('died') },
    })
    for (const flags of [
      ['--slot', 'chat', '--timeout-seconds', '50'], ['--enable', '--consent', 'chat', 'vision'],
    ]) {
      t.not((await interrupted()).status, 0)
      t.equal((await rig.show()).gateway.reason_code, 'save_interrupted')
      must(await rig.widen(flags))
      t.strictSame(ids(), before, flags.join(' '))
      t.equal((await rig.show()).gateway.status, 'configured')
      must(await rig.prove('chat'))
    }
  })

t.test('A-158 A-168 a save that died before its witness line takes no proof away', async (t) => {
  const rig = await rigOf(t)
  const proved = must(await proveDuring(rig, async () => {
    must(await rig.widen(['--slot', 'chat', '--timeout-seconds', '50']))
    dropLastWitness(rig.place)
  }))
  t.equal(proved.json().made, true)
})

t.test('A-168 A-192 a save under way takes no result away; a revoke does, also when given anew',
  async (t) => {
    const rig = await rigOf(t)
    let saved: Promise<Ran> | undefined
    let goOn = (): void => undefined
    const ended = new Promise<void>((resolve) => { goOn = resolve })
    const kept = await proveDuring(rig, () => new Promise<void>((begun, failed) => {
      saved = rig.run(['alpha', 'setup', '--disable'], {
        at: async (step) => {
          if (step !== 'save.revoked') return
          begun()
          await ended
        },
      })
      saved.catch(failed)
    }))
    must(kept)
    goOn()
    must(await saved as Ran)
    const lost = await proveDuring(rig, async () => {
      must(await rig.run(['policy', 'revoke']))
      must(await rig.widen([...slotFlags('chat', 'gateway.chat')]))
    })
    t.hasStrict(lost.error(), { code: 'proof_not_adopted', reason: 'consent_not_current' })
    t.equal(latestProof(rig.view(), 'chat')?.operation_id, kept.json().receipt.operation_id)
  })

t.test('A-168 A-192 a slot that was changed and changed back is another consent', async (t) => {
  const rig = await rigOf(t)
  const model = (name: string) =>
    ['--slot', 'chat', '--model', `gateway/acme/${name}`, '--consent', 'chat', '--void-answers']
  const before = await rig.json(['gateway', 'show'])
  const own = before.gateway.slots.chat.model.split('/').at(-1)
  const lost = await proveDuring(rig, async () => {
    must(await rig.widen(model('chat-2')))
    must(await rig.widen(model(own)))
  })
  t.hasStrict(lost.error(), { code: 'proof_not_adopted', reason: 'consent_not_current' })
  t.equal(latestProof(rig.view(), 'chat'), undefined)
})

t.test('A-185 A-192 a session that ends before the reply could be there proves nothing',
  async (t) => {
    const rig = await rigOf(t)
    must(await rig.run(['login', '--replace', '--ttl', '20s']))
    const refused = await rig.prove('chat')
    t.hasStrict(refused.error(), {
      code: 'gateway_slot_not_ready', reason: 'session_ends_too_soon',
    })
    t.equal(rig.calls().length, 0)
  })

t.test('A-059 a stored key that does not open is not configured, and is stored anew', async (t) => {
  const rig = await rigOf(t)
  for (const { doc } of rig.view().all(collections.credentials)) {
    const name = doc.artifact.stored_sha256
    for (const at of [name, join(name.slice(0, 2), name), join(name.slice(0, 2), name.slice(2))]) {
      rmSync(join(rig.place.stateDir, 'artifacts', at), { force: true })
    }
  }
  const alpha = (await rig.json(['alpha', 'show'])).alpha_text
  t.hasStrict(alpha, { status: 'blocked', reason_code: 'key_unreadable', key_present: true })
  t.equal((await rig.show()).gateway.reason_code, 'key_unreadable')
  t.not((await rig.prove('chat')).status, 0)
  must(await rig.run([
    'alpha', 'setup', '--api-key-file', rig.place.path('key'), '--acknowledge-plaintext-egress',
    '--expected-policy-revision', String(await rig.revision()),
  ]))
  t.equal((await rig.json(['alpha', 'show'])).alpha_text.status, 'configured')
  must(await rig.widen(['--api-key-file', rig.place.path('gateway-key')]))
  t.equal((await rig.show()).gateway.status, 'configured')
})

t.test('A-192 S-021 a change of the model is refused while a result is under way, unless given up',
  async (t) => {
    const rig = await rigOf(t)
    const model = ['--slot', 'chat', '--model', 'gateway/acme/chat-2', '--consent', 'chat']
    const kept = must(await proveDuring(rig, async () => {
      const refused = await rig.widen(model)
      t.equal(refused.status, 5)
      t.equal(refused.error().code, 'save_voids_answers')
      must(await rig.widen(['--slot', 'chat', '--timeout-seconds', '50']))
      must(await rig.widen(['--slot', 'report', '--model', 'gateway/acme/report-2']))
    }))
    const { operation_id: proved } = kept.json().receipt
    t.equal(latestProof(rig.view(), 'chat')?.operation_id, proved)
    const lost = await proveDuring(rig, async () => {
      const given = must(await rig.widen([...model, '--void-answers']))
      t.match(given.stderr, /^Operation \S+: its result, which is under way, would be dropped\.$/m)
      t.match(given.stderr, /^Consents that this save ends: .*gateway\.chat/m)
    })
    t.equal(lost.error().code, 'proof_not_adopted')
    t.equal(latestProof(rig.view(), 'chat')?.operation_id, proved)
    const stopped = await proveDuring(rig, async () =>
      must(await rig.run(['gateway', 'setup', '--disable'])))
    t.not(stopped.status, 0, 'stopping is never hard, and drops what is under way')
  })
