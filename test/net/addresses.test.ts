import { isIP } from 'node:net'
import fc from 'fast-check'
import t from 'tap'
import { dialableAddresses, literalAddress, mayDial } from '../../src/net/addresses.js'
import { lookUp } from '../../src/net/look-up.js'
import { forAll } from '../support/for-all.js'

const never = ['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.254',
  '169.254.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1',
  '192.88.99.1', '192.168.0.1', '198.18.0.1', '198.51.100.7', '203.0.113.9', '224.0.0.1',
  '239.255.255.255', '240.0.0.1', '255.255.255.255', '::', '::2', 'fe80::1', 'fe80::1%lo',
    'fc00::1',
  'fd12:3456::1', 'ff02::1', 'fec0::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:10.0.0.1',
  '::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b:1::1', '100::1', '2001::1',
  '2001:db8::1', '2001:2::1', '2001:10::1', '2002:7f00:1::1', '3fff::1', '5f00::1', '4000::1',
  '127.1', '0177.0.0.1', '0x7f.0.0.1', '2130706433', '', 'localhost', '127.0.0.1 ', '1.2.3.4.5']

/** Of a local network: a device may find its service there, and nobody else is dialled there. */
const local = new Set(['10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.254', '172.16.0.1',
  '172.31.255.255', '192.168.0.1', 'fc00::1', 'fd12:3456::1'])

t.test('special addresses are dialled in no mode, local ones only by a device', async (t) => {
  for (const address of never) {
    t.notOk(mayDial(address, 'public'), `public ${address}`)
    t.notOk(mayDial(address, 'loopback'), `loopback ${address}`)
    t.equal(mayDial(address, 'near'), local.has(address), `near ${address}`)
  }
})

t.test('public addresses pass, and loopback ones only where every host is loopback', async (t) => {
  for (const address of ['8.8.8.8', '1.1.1.1', '93.184.216.34', '172.15.0.1', '172.32.0.1',
    '100.63.255.255', '100.128.0.1', '2606:4700::1111', '2a00:1450::1', '64:ff9b::8.8.8.8']) {
    t.ok(mayDial(address, 'public'), address)
    t.notOk(mayDial(address, 'loopback'), address)
  }
  for (const address of ['127.0.0.1', '127.255.255.254', '::1']) {
    t.ok(mayDial(address, 'loopback'), address)
    t.notOk(mayDial(address, 'public'), address)
  }
})

t.test('no address is both public and loopback, and nothing crashes the check', async (t) => {
  const text = fc.oneof(fc.ipV4(), fc.ipV6(), fc.ipV4Extended(), fc.string({ maxLength: 20 }))
  forAll(t, fc.property(text, (address) => {
    const [here, out] = [mayDial(address, 'loopback'), mayDial(address, 'public')]
    const near = mayDial(address, 'near')
    return !(here && out) && !(isIP(address) === 0 && near) && (near || !(here || out))
  }), { numRuns: 2_000 })
})

t.test('the addresses of an answer are dialled in its order, when all of them pass', async (t) => {
  const four = { address: '8.8.8.8', family: 4 } as const
  const six = { address: '2606:4700::1111', family: 6 } as const
  t.strictSame(dialableAddresses('h.test', [six, four], 'public'), [six, four])
  t.strictSame(dialableAddresses('h.test', [four, six], 'public'), [four, six])
  t.strictSame(
    dialableAddresses('h.test', [{ ...six, family: 4 }], 'public'), [six], 'family as it is')
  t.throws(() => dialableAddresses('h.test', [], 'public'), { code: 'dns_failed' })
  t.throws(() => dialableAddresses('h.test', [four, { address: '10.0.0.1', family: 4 }], 'public'),
    { code: 'address_refused', contact: 'none' })
})

t.test('literals are known from names', async (t) => {
  t.strictSame(literalAddress('127.0.0.1'), { address: '127.0.0.1', family: 4 })
  t.strictSame(literalAddress('[::1]'), { address: '::1', family: 6 })
  t.equal(literalAddress('localhost'), null)
  for (const host of ['1[27.0.0.1', '127.0.]0.1', '[127.0.0.1]x']) {
    t.equal(literalAddress(host), null, host)
  }
})

t.test('the machine’s own resolver gives localhost as loopback', async (t) => {
  const found = await lookUp('localhost')
  t.ok(found.length > 0)
  t.ok(found.every(({ address }) => mayDial(address, 'loopback')))
})
