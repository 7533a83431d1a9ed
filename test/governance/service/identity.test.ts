/** The lasting identity of a service: made once, kept, renewed under the same key. */
import { createPrivateKey, createPublicKey, X509Certificate, type KeyObject } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  findService, keepService, openServiceKey, serviceIdentity,
} from '../../../src/governance/service/identity.js'
import { pinOf } from '../../../src/net/pin.js'
import { certificateUsable, makeCertificate, newServiceKey } from '../../../src/service/material.js'
import { onMachine } from '../../support/on-machine.js'
import { codeOf, codeOfWaited } from '../../support/refused.js'
import { World } from '../../world/world.js'

const pinOfKey = (key: KeyObject): string =>
  pinOf(createPublicKey(key).export({ type: 'spki', format: 'der' }))

const yearMs = 366 * 86_400_000

t.test('before a first start there is none; a start that another one overtook changes nothing', async (t) => {
  const world = await World.in(t).state()
  const gov = { ...world.gov, store: world.open('write') }
  t.equal(codeOf(() => serviceIdentity(gov)), 'service_not_set_up')
  const nowMs = gov.clock.wallMs()
  const key = await newServiceKey()
  const certificate = await makeCertificate(key, nowMs)
  const made = await keepService(gov, undefined, { port: 4_000, certificate, key })
  t.strictSame(made, serviceIdentity(gov))
  t.equal(made.pin, pinOfKey(createPrivateKey({ key, format: 'der', type: 'pkcs8' })))
  t.equal(made.pin, pinOfKey(openServiceKey(gov)))
  const sealed = () => readdirSync(join(world.place.stateDir, 'artifacts'), {
    recursive: true, encoding: 'utf8',
  }).filter((name) => name.includes('/'))
  const before = sealed()
  t.equal(await codeOfWaited(() =>
    keepService(gov, undefined, { port: 4_001, certificate, key })), 'service_changed')
  t.strictSame(sealed(), before, 'the key that nobody names does not stay')
  const renewed = await makeCertificate(key, nowMs + yearMs)
  const moved = await keepService(gov, findService(gov.store, gov.store.read()), {
    port: 4_002, certificate: renewed,
  })
  t.equal(moved.pin, made.pin, 'the key stays')
  t.equal(moved.origin, 'https://127.0.0.1:4002')
  const another = await newServiceKey()
  const replaced = await keepService(gov, findService(gov.store, gov.store.read()), {
    port: 4_002, certificate: renewed, key: another,
  })
  t.not(replaced.pin, made.pin)
  t.equal(sealed().length, before.length, 'nor does one that was replaced')
  t.equal((await world.run(['state', 'check'])).status, 0)
})

t.test('a certificate is for loopback names, of its key, and is made anew in time', async (t) => {
  const nowMs = Date.UTC(2026, 10, 20)
  const [der, other] = [await newServiceKey(), await newServiceKey()]
  const keyOf = (key: Buffer) => createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  const pem = await makeCertificate(der, nowMs)
  const found = new X509Certificate(pem)
  t.equal(found.subjectAltName, 'IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:localhost')
  t.equal(found.ca, false)
  t.equal(certificateUsable(pem, keyOf(der), nowMs), true)
  t.equal(certificateUsable(pem, keyOf(other), nowMs), false, 'of another key')
  t.equal(certificateUsable(pem, keyOf(der), nowMs + yearMs - 20 * 86_400_000), false, 'soon over')
  t.equal(certificateUsable(pem, keyOf(der), nowMs - 2 * 86_400_000), false, 'not yet')
  t.equal(certificateUsable('no certificate', keyOf(der), nowMs), false)
})

t.test('each machine that shares a state has a service of its own: its port, key and pin stay apart', async (t) => {
  const { gov } = await World.in(t).state()
  const of = async (machine: string, port: number) => {
    const own = { ...gov, store: onMachine(gov.store, machine) }
    const key = await newServiceKey()
    const certificate = await makeCertificate(key, gov.clock.wallMs())
    return { own, made: await keepService(own, undefined, { port, certificate, key }), key }
  }
  const [first, other] = [
    await of('first', 4_000), await of('0191a5d0-7c1e-7000-8000-000000000001', 4_001),
  ]
  for (const { own, made, key } of [first, other]) {
    t.strictSame(serviceIdentity(own), made)
    t.ok(openServiceKey(own).export({ type: 'pkcs8', format: 'der' }).equals(key))
  }
  t.strictSame(serviceIdentity(gov), first.made, 'the directory has what the first machine has')
  t.not(first.made.pin, other.made.pin)
})
